//! The servers of a soak test: their configuration, and the processes of those behind a URL.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Map, Value, json};

use super::chance::SeededRandom;

/// The port range, below that of outgoing connections, so that no port is taken while its server is down.
const PORTS: std::ops::Range<u16> = 12_000..32_000;

const PORTS_TRIED: usize = 100;

/// All servers; a local one is only configured here, because the library starts it.
#[derive(Debug)]
pub(crate) struct SoakTargets {
    program: PathBuf,
    locals: Vec<SoakTarget>,
    remotes: Vec<RemoteTarget>,
}

#[derive(Debug)]
struct SoakTarget {
    name: String,
    era: &'static str,
}

#[derive(Debug)]
struct RemoteTarget {
    target: SoakTarget,
    port: u16,
    child: Option<Child>,
}

impl SoakTargets {
    /// Starts the servers behind a URL, which the library does not start.
    pub(crate) fn start(
        program: &Path,
        (local, remote): (usize, usize),
        chance: &mut SeededRandom,
    ) -> io::Result<Self> {
        let target = |kind: &str, number: usize| SoakTarget {
            name: format!("{kind}{number:03}"),
            era: if number.is_multiple_of(2) { "old" } else { "new" },
        };
        let locals = (0..local).map(|number| target("local", number)).collect();
        let mut targets = Self { program: program.to_owned(), locals, remotes: Vec::new() };
        for number in 0..remote {
            let remote = RemoteTarget { target: target("remote", number), port: 0, child: None };
            targets.remotes.push(remote);
            targets.start_on_free_port(local + number, chance)?;
        }
        Ok(targets)
    }

    /// Finds a port for a server and starts it there. Another process may take a free port first.
    fn start_on_free_port(&mut self, place: usize, chance: &mut SeededRandom) -> io::Result<()> {
        for _ in 0..PORTS_TRIED {
            let span = u64::from(PORTS.end - PORTS.start);
            if let Some(remote) = self.remote_mut(place) {
                // Below the end of the range, so it is a valid port.
                remote.port = PORTS.start + chance.number_below(span) as u16;
            }
            if self.restart_remote(place)? {
                return Ok(());
            }
        }
        Err(io::Error::other("there is no free port"))
    }

    /// The names of all servers; first those of the local ones.
    pub(crate) fn names(&self) -> Vec<String> {
        let remotes = self.remotes.iter().map(|remote| &remote.target);
        self.locals.iter().chain(remotes).map(|target| target.name.clone()).collect()
    }

    pub(crate) fn local_count(&self) -> usize {
        self.locals.len()
    }

    /// The configuration file of the servers.
    pub(crate) fn configuration(&self) -> Value {
        let locals = self.locals.iter().map(|SoakTarget { name, era }| {
            let entry = json!({ "command": self.program, "args": ["--name", name, "--era", era] });
            (name.clone(), entry)
        });
        let remotes = self.remotes.iter().map(|RemoteTarget { target, port, .. }| {
            let url = format!("http://127.0.0.1:{port}/mcp");
            (target.name.clone(), json!({ "type": "http", "url": url }))
        });
        json!({ "mcpServers": locals.chain(remotes).collect::<Map<_, _>>() })
    }

    /// Kills a server behind a URL; returns whether it was running.
    pub(crate) fn kill_remote(&mut self, place: usize) -> io::Result<bool> {
        let Some(mut child) = self.remote_mut(place).and_then(|remote| remote.child.take()) else {
            return Ok(false);
        };
        child.kill()?;
        child.wait()?;
        Ok(true)
    }

    /// Restarts a server behind a URL; returns whether it listens.
    pub(crate) fn restart_remote(&mut self, place: usize) -> io::Result<bool> {
        let program = self.program.clone();
        let Some(remote) = self.remote_mut(place) else { return Ok(false) };
        let mut command = Command::new(program);
        command.args(["--name", &remote.target.name, "--era", remote.target.era]);
        command.args(["--port", &remote.port.to_string()]).env_clear();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let mut said = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut said)?;
        }
        if said.is_empty() {
            child.wait()?;
            return Ok(false);
        }
        remote.child = Some(child);
        Ok(true)
    }

    /// The indexes of the servers behind a URL that are down.
    pub(crate) fn down_remotes(&self) -> Vec<usize> {
        let dead = self.remotes.iter().enumerate().filter(|(_, remote)| remote.child.is_none());
        dead.map(|(number, _)| self.locals.len() + number).collect()
    }

    fn remote_mut(&mut self, place: usize) -> Option<&mut RemoteTarget> {
        self.remotes.get_mut(place.checked_sub(self.locals.len())?)
    }
}

impl Drop for SoakTargets {
    fn drop(&mut self) {
        for place in self.locals.len()..self.locals.len() + self.remotes.len() {
            // A process that cannot be killed exits at the end of its input, which is closed with this value.
            let _killed = self.kill_remote(place);
        }
    }
}
