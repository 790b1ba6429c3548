//! The servers of a soak: how they are configured, and the processes of those behind a URL.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Map, Value, json};

use super::chance::Chance;

/// Below the ports that systems give to outgoing connections, so that nobody takes one while its server is down.
const PORTS: std::ops::Range<u16> = 12_000..32_000;

const PORTS_TRIED: usize = 100;

/// All servers; a local one is only configured here, because the library starts it.
#[derive(Debug)]
pub(crate) struct Targets {
    program: PathBuf,
    locals: Vec<Target>,
    remotes: Vec<Remote>,
}

#[derive(Debug)]
struct Target {
    name: String,
    era: &'static str,
}

#[derive(Debug)]
struct Remote {
    target: Target,
    port: u16,
    child: Option<Child>,
}

impl Targets {
    /// Starts those that are not for the library to start.
    pub(crate) fn start(
        program: &Path,
        (local, remote): (usize, usize),
        chance: &mut Chance,
    ) -> io::Result<Self> {
        let target = |kind: &str, number: usize| Target {
            name: format!("{kind}{number:03}"),
            era: if number.is_multiple_of(2) { "old" } else { "new" },
        };
        let locals = (0..local).map(|number| target("local", number)).collect();
        let mut targets = Self { program: program.to_owned(), locals, remotes: Vec::new() };
        for number in 0..remote {
            let remote = Remote { target: target("remote", number), port: 0, child: None };
            targets.remotes.push(remote);
            targets.settle(local + number, chance)?;
        }
        Ok(targets)
    }

    /// Finds a port for a server and starts it there. Somebody else may take a free one before the server does.
    fn settle(&mut self, place: usize, chance: &mut Chance) -> io::Result<()> {
        for _ in 0..PORTS_TRIED {
            let span = u64::from(PORTS.end - PORTS.start);
            if let Some(remote) = self.remote(place) {
                // Below the end of the range, so it is a port.
                remote.port = PORTS.start + chance.below(span) as u16;
            }
            if self.revive(place)? {
                return Ok(());
            }
        }
        Err(io::Error::other("there is no free port"))
    }

    /// The names of all; first those of the local servers.
    pub(crate) fn names(&self) -> Vec<String> {
        let remotes = self.remotes.iter().map(|remote| &remote.target);
        self.locals.iter().chain(remotes).map(|target| target.name.clone()).collect()
    }

    pub(crate) fn local(&self) -> usize {
        self.locals.len()
    }

    /// The servers as a file configures them.
    pub(crate) fn configuration(&self) -> Value {
        let locals = self.locals.iter().map(|Target { name, era }| {
            let entry = json!({ "command": self.program, "args": ["--name", name, "--era", era] });
            (name.clone(), entry)
        });
        let remotes = self.remotes.iter().map(|Remote { target, port, .. }| {
            let url = format!("http://127.0.0.1:{port}/mcp");
            (target.name.clone(), json!({ "type": "http", "url": url }))
        });
        json!({ "mcpServers": locals.chain(remotes).collect::<Map<_, _>>() })
    }

    /// Kills a server behind a URL; whether it was alive.
    pub(crate) fn kill(&mut self, place: usize) -> io::Result<bool> {
        let Some(mut child) = self.remote(place).and_then(|remote| remote.child.take()) else {
            return Ok(false);
        };
        child.kill()?;
        child.wait()?;
        Ok(true)
    }

    /// Starts a server behind a URL again; whether it listens.
    pub(crate) fn revive(&mut self, place: usize) -> io::Result<bool> {
        let program = self.program.clone();
        let Some(remote) = self.remote(place) else { return Ok(false) };
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

    /// The places of the servers behind a URL that are not alive.
    pub(crate) fn dead(&self) -> Vec<usize> {
        let dead = self.remotes.iter().enumerate().filter(|(_, remote)| remote.child.is_none());
        dead.map(|(number, _)| self.locals.len() + number).collect()
    }

    fn remote(&mut self, place: usize) -> Option<&mut Remote> {
        self.remotes.get_mut(place.checked_sub(self.locals.len())?)
    }
}

impl Drop for Targets {
    fn drop(&mut self) {
        for place in self.locals.len()..self.locals.len() + self.remotes.len() {
            // One that cannot be killed ends with its input, which is closed with this value.
            let _killed = self.kill(place);
        }
    }
}
