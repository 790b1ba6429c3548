//! mcparley in transparent mode before one server, with a home of its own.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::server::{ServerEndpoint, ServerProgram};

/// The name of the server in the configuration of the gateway.
const NAME: &str = "up";
/// The time in which the gateway must listen.
const START: Duration = Duration::from_secs(30);

/// The transport between the client and the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GatewayDoor {
    /// Standard input and output.
    Stdio,
    /// Streamable HTTP.
    Http,
}

/// A gateway; over HTTP it runs until this value is dropped.
#[derive(Debug)]
pub struct GatewayProcess {
    /// How clients reach the gateway.
    pub endpoint: ServerEndpoint,
    running: Option<Child>,
}

impl GatewayProcess {
    /// Prepares or starts the program `mcparley` before the server of a configuration entry. The folder gets its
    /// home and its files.
    ///
    /// # Errors
    ///
    /// If a file cannot be written, or the gateway does not start.
    pub fn start(program: &Path, entry: &Value, door: GatewayDoor, folder: &Path) -> io::Result<Self> {
        let home = folder.join("home");
        std::fs::create_dir_all(&home)?;
        let config = folder.join("servers.json");
        std::fs::write(&config, json!({ "mcpServers": { NAME: entry } }).to_string())?;
        let words = ["--strict-mcp-config", "--mcp-config"].map(OsString::from);
        let serve = ["serve", "--one", NAME].map(OsString::from);
        let mut arguments: Vec<OsString> = words.into_iter().chain([config.into()]).chain(serve).collect();
        if door == GatewayDoor::Http {
            arguments.extend(["--http", "127.0.0.1:0", "--no-token"].map(OsString::from));
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let environment = vec![("HOME".into(), home.clone().into()), ("PATH".into(), path)];
        let gateway =
            ServerProgram { program: PathBuf::from(program), arguments, environment, folder: Some(home) };
        match door {
            GatewayDoor::Stdio => Ok(Self { endpoint: ServerEndpoint::Program(gateway), running: None }),
            GatewayDoor::Http => Self::listen(gateway.to_command()),
        }
    }

    /// Starts the gateway and reads its address from its output.
    fn listen(mut command: Command) -> io::Result<Self> {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let (lines, said) = channel();
        forward_lines(child.stdout.take(), lines.clone());
        forward_lines(child.stderr.take(), lines);
        let mut gateway = Self { endpoint: ServerEndpoint::Url(String::new()), running: Some(child) };
        let mut words = String::new();
        while let Ok(line) = said.recv_timeout(START) {
            if let Some(at) = line.find("http://") {
                let url = line.get(at..).unwrap_or_default().split_whitespace().next();
                gateway.endpoint = ServerEndpoint::Url(url.unwrap_or_default().to_owned());
                return Ok(gateway);
            }
            words.push_str(&line);
        }
        Err(io::Error::other(format!("the gateway does not listen: {words}")))
    }
}

impl Drop for GatewayProcess {
    fn drop(&mut self) {
        if let Some(child) = &mut self.running {
            // A process that has already ended cannot be killed, which is fine.
            child.kill().unwrap_or_default();
            child.wait().map(drop).unwrap_or_default();
        }
    }
}

/// Forwards each line of an output until it is closed.
fn forward_lines(output: Option<impl Read + Send + 'static>, lines: Sender<String>) {
    let Some(output) = output else { return };
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // The receiver is gone once the address is known; the output is read on, so that no pipe fills up.
            lines.send(line).unwrap_or_default();
        }
    });
}
