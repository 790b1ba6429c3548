//! The three shared servers: an old one on pipes, an old one and a new one behind URLs.

use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::soak::census::local_pid;

/// The names of the servers.
pub(crate) const NAMES: [&str; 3] = ["piped", "oldhttp", "newhttp"];
/// The time between two kills.
const KILL_INTERVAL: Duration = Duration::from_secs(1);
/// The time before a server behind a URL is started again.
const DOWN_TIME: Duration = Duration::from_millis(200);

/// The servers; the one on pipes is started by the library.
#[derive(Debug)]
pub(crate) struct EchoServers {
    program: PathBuf,
    remotes: [RemoteEcho; 2],
}

#[derive(Debug)]
struct RemoteEcho {
    name: &'static str,
    era: &'static str,
    port: u16,
    child: Option<Child>,
}

impl EchoServers {
    /// Starts the servers behind URLs.
    pub(crate) fn start(program: &Path) -> io::Result<Self> {
        let [_, old, new] = NAMES;
        let remote = |name, era| RemoteEcho { name, era, port: 0, child: None };
        let mut servers =
            Self { program: program.to_owned(), remotes: [remote(old, "old"), remote(new, "new")] };
        for remote in &mut servers.remotes {
            // Another process may take the port before the server listens.
            for _ in 0..100 {
                remote.port = free_port()?;
                if remote.start(program)? {
                    break;
                }
            }
        }
        Ok(servers)
    }

    /// The configuration file of the servers.
    pub(crate) fn configuration(&self) -> Value {
        let [piped, ..] = NAMES;
        let args = ["--name", piped, "--era", "old"];
        let mut servers = json!({ piped: { "command": self.program, "args": args } });
        for remote in &self.remotes {
            let url = format!("http://127.0.0.1:{}/mcp", remote.port);
            servers[remote.name] = json!({ "type": "http", "url": url });
        }
        json!({ "mcpServers": servers })
    }

    /// Kills one server after the other while `work` runs; returns its outcome and the number of kills.
    pub(crate) async fn kill_during<T>(
        &mut self,
        work: impl Future<Output = io::Result<T>>,
    ) -> io::Result<(T, u64)> {
        let mut kills = 0;
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done.map(|done| (done, kills)),
                () = tokio::time::sleep(KILL_INTERVAL) => {}
            }
            let killed = self.kill_next(kills)?;
            kills += u64::from(killed);
            tokio::select! {
                done = &mut work => return done.map(|done| (done, kills)),
                () = tokio::time::sleep(DOWN_TIME) => {}
            }
            for remote in self.remotes.iter_mut().filter(|remote| remote.child.is_none()) {
                let _is_listening = remote.start(&self.program)?;
            }
        }
    }

    fn kill_next(&mut self, kills: u64) -> io::Result<bool> {
        let [piped, ..] = NAMES;
        let place = match kills % 3 {
            0 => {
                let Some(pid) = local_pid(piped)?.and_then(Pid::from_raw) else { return Ok(false) };
                return Ok(kill_process(pid, Signal::KILL).is_ok());
            }
            1 => 0,
            _ => 1,
        };
        let Some(mut child) = self.remotes.get_mut(place).and_then(|remote| remote.child.take()) else {
            return Ok(false);
        };
        child.kill()?;
        child.wait()?;
        Ok(true)
    }
}

impl RemoteEcho {
    /// Starts the server; returns whether it listens.
    fn start(&mut self, program: &Path) -> io::Result<bool> {
        let mut command = Command::new(program);
        command.args(["--name", self.name, "--era", self.era, "--port", &self.port.to_string()]).env_clear();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        if line.is_empty() {
            child.wait()?;
            return Ok(false);
        }
        self.child = Some(child);
        Ok(true)
    }
}

impl Drop for RemoteEcho {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // A process that cannot be killed exits at the end of its input, which is closed with this value.
            let _killed = child.kill();
            let _reaped = child.wait();
        }
    }
}

fn free_port() -> io::Result<u16> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
