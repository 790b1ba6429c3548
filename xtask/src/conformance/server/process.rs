//! The processes of a leg: the upstream, and the gateway before it. They end with the leg.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;

use super::super::suite::ConformanceSuite;
use super::LegPrograms;
use super::leg::{LegNaming, LegScenarios};
use crate::error::ChoreError;

/// The time in which the gateway must listen.
const START: Duration = Duration::from_secs(20);
const MOMENT: Duration = Duration::from_millis(20);
/// The name of the upstream in the gateway's configuration.
const NAME: &str = "up";

/// The running servers of a leg.
#[derive(Debug)]
pub(super) struct LegServers {
    url: String,
    /// The gateway and the upstream; each ends when this is dropped.
    _running: Vec<ServerProcess>,
}

impl LegServers {
    /// Starts the upstream, and the gateway unless the upstream itself is measured.
    pub(super) fn start(
        suite: &ConformanceSuite,
        programs: &LegPrograms,
        leg: &LegScenarios,
        folder: &Path,
    ) -> Result<Self, ChoreError> {
        std::fs::create_dir_all(folder).map_err(ChoreError::file_error(folder))?;
        let mut command = Command::new(&programs.testkit);
        command.args(["upstream", "--era", leg.upstream_era()]);
        let mut upstream = ServerProcess::start(command, "upstream", folder)?;
        let url = upstream.read_address()?;
        let Some(gateway) = &programs.gateway else {
            return Ok(Self { url, _running: vec![upstream] });
        };
        let address = free_address().map_err(ChoreError::file_error(folder))?;
        let command = gateway_command(gateway, &url, (address, leg.naming()), folder)?;
        let mut gateway = ServerProcess::start(command, "gateway", folder)?;
        gateway.wait_until_listening(address)?;
        let url = format!("http://{address}/mcp");
        if leg.naming() == LegNaming::Own {
            return Ok(Self { url, _running: vec![gateway, upstream] });
        }
        let mut command = Command::new(suite.node());
        command.arg(suite.renaming_client()).args([&url, NAME]);
        let mut client = ServerProcess::start(command, "client", folder)?;
        Ok(Self { url: client.read_address()?, _running: vec![client, gateway, upstream] })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

/// The gateway, with a home of its own: a developer's configuration must not matter.
fn gateway_command(
    gateway: &str,
    upstream: &str,
    (address, naming): (SocketAddr, LegNaming),
    folder: &Path,
) -> Result<Command, ChoreError> {
    let home = folder.join("home");
    std::fs::create_dir_all(&home).map_err(ChoreError::file_error(&home))?;
    let config = folder.join("servers.json");
    let servers = json!({ "mcpServers": { NAME: { "type": "http", "url": upstream } } });
    std::fs::write(&config, servers.to_string()).map_err(ChoreError::file_error(&config))?;
    let mut words = gateway.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("mcparley"));
    command
        .args(words)
        .arg("--strict-mcp-config")
        .arg("--mcp-config")
        .arg(&config)
        .args(["serve", "--http", &address.to_string(), "--no-token"])
        .args(if naming == LegNaming::Own { &["--one", NAME][..] } else { &[] })
        .args(["--allowed-tools", &format!("mcp__{NAME}")])
        .current_dir(&home)
        .env_clear()
        .env("HOME", &home)
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    Ok(command)
}

/// An address that is free now; no other process of a run asks for a given port.
fn free_address() -> std::io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
}

/// One server process in a process group of its own.
#[derive(Debug)]
struct ServerProcess {
    child: Child,
    line: String,
    /// The upstream ends when its standard input does.
    _stdin: Option<ChildStdin>,
}

impl ServerProcess {
    fn start(mut command: Command, name: &str, folder: &Path) -> Result<Self, ChoreError> {
        let path = folder.join(format!("{name}.stderr"));
        let stderr = File::create(&path).map_err(ChoreError::file_error(&path))?;
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        let line = command.get_program().to_string_lossy().into_owned();
        let started = command.spawn();
        let mut child = started.map_err(|source| ChoreError::Start { line: line.clone(), source })?;
        let stdin = child.stdin.take();
        Ok(Self { child, line, _stdin: stdin })
    }

    /// Reads the address that the upstream prints.
    fn read_address(&mut self) -> Result<String, ChoreError> {
        let mut text = String::new();
        if let Some(stdout) = self.child.stdout.take() {
            let read = BufReader::new(stdout).read_line(&mut text);
            read.map_err(|source| ChoreError::Start { line: self.line.clone(), source })?;
        }
        let url = text.trim().strip_prefix("listening ").map(str::to_owned);
        url.ok_or_else(|| ChoreError::Silent { line: self.line.clone(), wanted: "its address".to_owned() })
    }

    fn wait_until_listening(&mut self, address: SocketAddr) -> Result<(), ChoreError> {
        let end = Instant::now() + START;
        while Instant::now() < end {
            if TcpStream::connect(address).is_ok() {
                return Ok(());
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
                return Err(ChoreError::Step { line: self.line.clone(), code });
            }
            thread::sleep(MOMENT);
        }
        Err(ChoreError::Silent { line: self.line.clone(), wanted: format!("an open port at {address}") })
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // A process that has already ended cannot be killed, which is fine.
        kill_process_group(Pid::from_child(&self.child), Signal::KILL).unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}
