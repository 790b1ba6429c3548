//! Kills a server every now and then, and plays the supervisor of those behind a URL.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::census;
use super::chance::Chance;
use super::targets::Targets;

/// The longest that a supervisor takes.
const DOWN_MS: u64 = 3000;
/// When a server that could not be started is tried again.
const AGAIN: Duration = Duration::from_millis(100);

/// Since when each server has been wounded: killed, and not seen to answer again.
#[derive(Debug)]
pub(crate) struct Wounds(Vec<Mutex<Option<Instant>>>);

impl Wounds {
    pub(crate) fn new(servers: usize) -> Self {
        Self((0..servers).map(|_| Mutex::default()).collect())
    }

    /// One that is wounded already stays so since then.
    fn hit(&self, server: usize, at: Instant) {
        self.with(server, |wound| *wound = wound.or(Some(at)));
    }

    /// A call that began after the wound succeeded: how long ago the wound was.
    pub(crate) fn heal(&self, server: usize, began: Instant) -> Option<Duration> {
        let mut since = None;
        self.with(server, |wound| {
            if wound.is_some_and(|at| at < began) {
                since = wound.take().map(|at| at.elapsed());
            }
        });
        since
    }

    fn with(&self, server: usize, change: impl FnOnce(&mut Option<Instant>)) {
        if let Some(wound) = self.0.get(server) {
            change(&mut wound.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// How many servers were killed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kills {
    pub(crate) locals: u64,
    pub(crate) remotes: u64,
}

/// Kills and revives.
pub(crate) struct Shooter<'s> {
    pub(crate) targets: &'s mut Targets,
    pub(crate) wounds: &'s Wounds,
    pub(crate) chance: Chance,
    pub(crate) every: Duration,
}

impl Shooter<'_> {
    /// Goes on until it is told to stop; leaves no server behind a URL dead.
    pub(crate) fn run(mut self, stop: &Receiver<()>) -> io::Result<Kills> {
        let names = self.targets.names();
        let mut kills = Kills::default();
        let mut next = Instant::now() + self.every;
        let mut due: Vec<(Instant, usize)> = Vec::new();
        loop {
            let soonest = due.iter().map(|(at, _)| *at).fold(next, Instant::min);
            match stop.recv_timeout(soonest.saturating_duration_since(Instant::now())) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return self.revive_all().map(|()| kills),
            }
            let now = Instant::now();
            if now >= next {
                next += self.every;
                due.extend(self.shoot(&names, &mut kills)?);
            }
            let (ready, later): (Vec<_>, Vec<_>) = due.into_iter().partition(|(at, _)| *at <= now);
            due = later;
            for (_, server) in ready {
                if !self.targets.revive(server)? {
                    due.push((now + AGAIN, server));
                }
            }
        }
    }

    /// Kills one that is alive; when it is to be revived, if that is ours to do.
    fn shoot(&mut self, names: &[String], kills: &mut Kills) -> io::Result<Option<(Instant, usize)>> {
        for _ in 0..names.len() {
            let server = self.chance.place(names.len());
            let is_local = server < self.targets.local();
            let is_hit = match names.get(server) {
                Some(name) if is_local => kill_local(name)?,
                Some(_) | None => self.targets.kill(server)?,
            };
            if !is_hit {
                continue;
            }
            let now = Instant::now();
            self.wounds.hit(server, now);
            if is_local {
                kills.locals += 1;
                return Ok(None);
            }
            kills.remotes += 1;
            return Ok(Some((now + Duration::from_millis(self.chance.below(DOWN_MS + 1)), server)));
        }
        Ok(None)
    }

    fn revive_all(&mut self) -> io::Result<()> {
        let begun = Instant::now();
        while let Some(server) = self.targets.dead().first().copied() {
            if !self.targets.revive(server)? {
                std::thread::sleep(AGAIN);
            }
            if begun.elapsed() > Duration::from_secs(60) {
                return Err(io::Error::other("a server does not start again"));
            }
        }
        Ok(())
    }
}

/// Whether there was such a process; one that ends by itself in this moment was not killed by us.
fn kill_local(name: &str) -> io::Result<bool> {
    let Some(pid) = census::local(name)?.and_then(Pid::from_raw) else { return Ok(false) };
    Ok(kill_process(pid, Signal::KILL).is_ok())
}
