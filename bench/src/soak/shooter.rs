//! Kills a random server at a fixed interval, and acts as the supervisor of those behind a URL.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::census;
use super::chance::SeededRandom;
use super::targets::SoakTargets;

/// The longest downtime before the supervisor restarts a server.
const DOWN_MS: u64 = 3000;
/// The interval before a failed start is retried.
const AGAIN: Duration = Duration::from_millis(100);

/// The time since which each server is down: killed, and not seen to answer again.
#[derive(Debug)]
pub(crate) struct DownTimes(Vec<Mutex<Option<Instant>>>);

impl DownTimes {
    pub(crate) fn new(servers: usize) -> Self {
        Self((0..servers).map(|_| Mutex::default()).collect())
    }

    /// Records a kill; a server that is already down keeps its earlier time.
    fn record_kill(&self, server: usize, at: Instant) {
        self.with_server(server, |wound| *wound = wound.or(Some(at)));
    }

    /// Marks a server as recovered by a successful call that began after the kill; returns the time since the
    /// kill.
    pub(crate) fn record_recovery(&self, server: usize, began: Instant) -> Option<Duration> {
        let mut since = None;
        self.with_server(server, |wound| {
            if wound.is_some_and(|at| at < began) {
                since = wound.take().map(|at| at.elapsed());
            }
        });
        since
    }

    fn with_server(&self, server: usize, change: impl FnOnce(&mut Option<Instant>)) {
        if let Some(wound) = self.0.get(server) {
            change(&mut wound.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// The number of killed servers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KillCounts {
    pub(crate) locals: u64,
    pub(crate) remotes: u64,
}

/// Kills servers and restarts those behind a URL.
pub(crate) struct ServerKiller<'s> {
    pub(crate) targets: &'s mut SoakTargets,
    pub(crate) wounds: &'s DownTimes,
    pub(crate) chance: SeededRandom,
    pub(crate) every: Duration,
}

impl ServerKiller<'_> {
    /// Runs until told to stop; restarts all servers behind a URL at the end.
    pub(crate) fn run_until(mut self, stop: &Receiver<()>) -> io::Result<KillCounts> {
        let names = self.targets.names();
        let mut kills = KillCounts::default();
        let mut next = Instant::now() + self.every;
        let mut due: Vec<(Instant, usize)> = Vec::new();
        loop {
            let soonest = due.iter().map(|(at, _)| *at).fold(next, Instant::min);
            match stop.recv_timeout(soonest.saturating_duration_since(Instant::now())) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return self.restart_all().map(|()| kills),
            }
            let now = Instant::now();
            if now >= next {
                next += self.every;
                due.extend(self.kill_random(&names, &mut kills)?);
            }
            let (ready, later): (Vec<_>, Vec<_>) = due.into_iter().partition(|(at, _)| *at <= now);
            due = later;
            for (_, server) in ready {
                if !self.targets.restart_remote(server)? {
                    due.push((now + AGAIN, server));
                }
            }
        }
    }

    /// Kills a running server; returns when it is to be restarted, if it is behind a URL.
    fn kill_random(
        &mut self,
        names: &[String],
        kills: &mut KillCounts,
    ) -> io::Result<Option<(Instant, usize)>> {
        for _ in 0..names.len() {
            let server = self.chance.random_index(names.len());
            let is_local = server < self.targets.local_count();
            let is_hit = match names.get(server) {
                Some(name) if is_local => kill_local(name)?,
                Some(_) | None => self.targets.kill_remote(server)?,
            };
            if !is_hit {
                continue;
            }
            let now = Instant::now();
            self.wounds.record_kill(server, now);
            if is_local {
                kills.locals += 1;
                return Ok(None);
            }
            kills.remotes += 1;
            return Ok(Some((now + Duration::from_millis(self.chance.number_below(DOWN_MS + 1)), server)));
        }
        Ok(None)
    }

    fn restart_all(&mut self) -> io::Result<()> {
        let begun = Instant::now();
        while let Some(server) = self.targets.down_remotes().first().copied() {
            if !self.targets.restart_remote(server)? {
                std::thread::sleep(AGAIN);
            }
            if begun.elapsed() > Duration::from_secs(60) {
                return Err(io::Error::other("a server does not start again"));
            }
        }
        Ok(())
    }
}

/// Returns whether the process was killed; one that exits by itself at this moment does not count.
fn kill_local(name: &str) -> io::Result<bool> {
    let Some(pid) = census::local_pid(name)?.and_then(Pid::from_raw) else { return Ok(false) };
    Ok(kill_process(pid, Signal::KILL).is_ok())
}
