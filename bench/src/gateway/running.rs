//! A gateway or a relay that runs before one server, with a client that calls through it.

use std::io;
use std::net::TcpListener;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use mcparley_bench::raw::RawClient;

use super::http_client::HttpCaller;
use crate::caller::{BenchCaller, RawCaller};
use crate::processes;
use crate::stage::BenchStage;

/// The time in which a gateway has to listen.
const LISTEN_TIME: Duration = Duration::from_secs(20);

/// The door that clients use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GatewayDoor {
    Stdio,
    Http,
}

/// A gateway that runs, with a client.
pub(super) struct RunningGateway {
    caller: Box<dyn BenchCaller>,
    pid: u32,
    _ended: Option<EndOnDrop>,
}

/// A process that is ended when it is no longer needed.
pub(crate) struct EndOnDrop(pub(crate) Child);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

impl RunningGateway {
    /// Starts the relay, which has no code of mcparley.
    pub(super) fn start_relay(stage: &BenchStage, door: GatewayDoor) -> io::Result<Self> {
        let mut command = stage.command(&stage.relay);
        match door {
            GatewayDoor::Stdio => {
                command.arg("stdio").arg(&stage.server);
                Self::on_stdio(command)
            }
            GatewayDoor::Http => {
                let address = free_address()?;
                command.arg("http").arg(&address).arg(&stage.server);
                Self::over_http(command, &address)
            }
        }
    }

    /// Starts `mcparley serve`.
    pub(super) fn start_mcparley(stage: &BenchStage, door: GatewayDoor) -> io::Result<Self> {
        Self::start_with(stage, door, &[])
    }

    /// Starts `mcparley serve` with further arguments.
    pub(super) fn start_with(stage: &BenchStage, door: GatewayDoor, arguments: &[&str]) -> io::Result<Self> {
        let configuration = stage.write_configuration(1)?;
        let mut command = serve_command(stage, &configuration);
        command.arg("--no-prefix").args(arguments);
        match door {
            GatewayDoor::Stdio => Self::on_stdio(command),
            GatewayDoor::Http => {
                let address = free_address()?;
                command.args(["--http", &address, "--no-token"]);
                Self::over_http(command, &address)
            }
        }
    }

    fn on_stdio(command: Command) -> io::Result<Self> {
        let client = RawClient::from_command(command)?;
        let pid = client.pid();
        Ok(Self { caller: Box::new(RawCaller::with_client(client)?), pid, _ended: None })
    }

    fn over_http(mut command: Command, address: &str) -> io::Result<Self> {
        let ended = EndOnDrop(command.spawn()?);
        let pid = ended.0.id();
        let caller = retry_until_listening(|| HttpCaller::open(address))?;
        Ok(Self { caller: Box::new(caller), pid, _ended: Some(ended) })
    }

    pub(super) fn caller(&mut self) -> &mut dyn BenchCaller {
        self.caller.as_mut()
    }

    /// The processor time of the gateway so far, in seconds.
    pub(super) fn processor_seconds(&self) -> io::Result<f64> {
        processes::processor_seconds(self.pid).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// The command `mcparley serve` that lists all tools and asks for no permission.
pub(crate) fn serve_command(stage: &BenchStage, configuration: &std::path::Path) -> Command {
    let mut command = stage.command(&stage.mcparley);
    command.arg("--mcp-config").arg(configuration).arg("--strict-mcp-config");
    command.args(["--permission-mode", "bypassPermissions", "serve", "--defer", "never"]);
    command
}

/// An address that was free a moment ago.
pub(crate) fn free_address() -> io::Result<String> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string())
}

/// Repeats a connection attempt until the gateway listens.
pub(crate) fn retry_until_listening<T>(mut open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let begun = Instant::now();
    loop {
        match open() {
            Err(error)
                if error.kind() == io::ErrorKind::ConnectionRefused && begun.elapsed() < LISTEN_TIME =>
            {
                std::thread::sleep(Duration::from_millis(1));
            }
            other => return other,
        }
    }
}
