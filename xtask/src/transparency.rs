//! `cargo xtask transparency`: compares any server with the same server behind `mcparley serve --one`.

use std::ffi::OsString;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use mcparley_transparency::{
    Comparison, GatewayDoor, GatewayProcess, ProtocolEra, Recording, RecordingOptions, ServerEndpoint,
    ServerProgram,
};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

use crate::error::ChoreError;
use crate::step::ChoreStep;

/// The placeholder for a free port in the command of a server over HTTP.
const PORT: &str = "{port}";
/// The time in which a server must listen.
const START: Duration = Duration::from_secs(30);
const MOMENT: Duration = Duration::from_millis(20);

/// The eras that the compared server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ServerEras {
    /// Both eras
    Both,
    /// 2024-11-05 to 2025-11-25
    Old,
    /// 2026-07-28
    New,
}

/// The options of a comparison.
#[derive(Debug, clap::Args)]
pub(crate) struct TransparencyOptions {
    /// The eras that the server speaks
    #[arg(long, value_enum, default_value = "both", value_name = "ERAS")]
    eras: ServerEras,
    /// The gateway; unless given, `mcparley` is built
    #[arg(long, value_name = "PATH")]
    gateway: Option<PathBuf>,
    /// A tool that is compared but not called; may be repeated
    #[arg(long, value_name = "TOOL")]
    uncalled: Vec<String>,
    /// A text in log messages that belong to no request and are left out; may be repeated
    #[arg(long, value_name = "TEXT")]
    unrelated_log: Vec<String>,
    /// The arguments of a tool, such as `echo={"message":"x"}`; may be repeated
    ///
    /// Unless given, samples are made from the schema of the tool.
    #[arg(long, value_name = "TOOL=JSON", value_parser = parse_arguments)]
    arguments: Vec<(String, Value)>,
    /// Print every item, not only those that differ
    #[arg(long)]
    all: bool,
    /// The command of the server: on standard input and output, or over HTTP on the port `{port}` at `/mcp`
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl ServerEras {
    fn list(self) -> &'static [ProtocolEra] {
        match self {
            Self::Both => &[ProtocolEra::Old, ProtocolEra::New],
            Self::Old => &[ProtocolEra::Old],
            Self::New => &[ProtocolEra::New],
        }
    }
}

/// Compares the server over both transports of the gateway and in both eras of the client.
pub(crate) fn run_comparison(wishes: &TransparencyOptions) -> Result<(), ChoreError> {
    let gateway = match &wishes.gateway {
        Some(path) => path.clone(),
        None => ChoreStep::cargo(&["build", "--workspace", "--bins", "--examples"]).run_build("mcparley")?,
    };
    let server = ComparedServer::start(&wishes.command)?;
    let arguments = wishes.arguments.iter().cloned().collect();
    let options = RecordingOptions {
        uncalled: wishes.uncalled.clone(),
        unrelated_logs: wishes.unrelated_log.clone(),
        arguments,
    };
    let (mut different, mut all) = (0, 0);
    for &era in wishes.eras.list() {
        let record = || Recording::record(&server.endpoint, era, &options).map_err(failed_record);
        let direct = [record()?, record()?];
        for client in [ProtocolEra::Old, ProtocolEra::New] {
            for door in [GatewayDoor::Stdio, GatewayDoor::Http] {
                let compared = compare_gateway(&gateway, &server, (client, era), (door, &direct, &options))?;
                println!(
                    "client {client:?}, server {era:?}, {door:?}: {} of {} the same",
                    compared.same(),
                    compared.items.len()
                );
                print!("{}", if wishes.all { compared.to_string() } else { compared.differences() });
                different += compared.items.len() - compared.same();
                all += compared.items.len();
            }
        }
    }
    if different == 0 { Ok(()) } else { Err(ChoreError::NotTransparent { different, all }) }
}

fn parse_arguments(word: &str) -> Result<(String, Value), String> {
    let (tool, json) = word.split_once('=').ok_or("`=` is missing")?;
    Ok((tool.to_owned(), serde_json::from_str(json).map_err(|error| error.to_string())?))
}

/// Records the server behind a gateway and compares it with its recordings without one.
fn compare_gateway(
    gateway: &Path,
    server: &ComparedServer,
    (client, era): (ProtocolEra, ProtocolEra),
    (door, direct, options): (GatewayDoor, &[Recording; 2], &RecordingOptions),
) -> Result<Comparison, ChoreError> {
    let folder = tempfile::tempdir().map_err(failed_record)?;
    let mut entry = server.entry.clone();
    entry["era"] = json!(if era == ProtocolEra::Old { "old" } else { "new" });
    let started = GatewayProcess::start(gateway, &entry, door, folder.path()).map_err(failed_record)?;
    let [first, second] = direct;
    let recorded = Recording::record(&started.endpoint, client, options).map_err(failed_record)?;
    Ok(Comparison::new([first, second], &recorded))
}

fn failed_record(source: std::io::Error) -> ChoreError {
    ChoreError::Start { line: "the server or its gateway".to_owned(), source }
}

/// The server, which runs until the end of the comparison if it serves HTTP.
struct ComparedServer {
    endpoint: ServerEndpoint,
    /// The entry for the configuration of the gateway.
    entry: Value,
    running: Option<Child>,
}

impl ComparedServer {
    fn start(command: &[String]) -> Result<Self, ChoreError> {
        let environment: Vec<(OsString, OsString)> =
            std::env::vars_os().filter(|(name, _)| name == "PATH" || name == "HOME").collect();
        let [program, arguments @ ..] = command else {
            return Err(failed_record(std::io::Error::other("no command is given")));
        };
        if !command.iter().any(|word| word.contains(PORT)) {
            let program = ServerProgram {
                program: program.into(),
                arguments: arguments.iter().map(Into::into).collect(),
                environment,
                folder: None,
            };
            let entry = json!({ "command": command.first(), "args": arguments });
            return Ok(Self { endpoint: ServerEndpoint::Program(program), entry, running: None });
        }
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|it| it.local_addr());
        let address = address.map_err(failed_record)?;
        let port = address.port().to_string();
        let child = Command::new(program)
            .args(arguments.iter().map(|word| word.replace(PORT, &port)))
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed_record)?;
        let url = format!("http://{address}/mcp");
        let entry = json!({ "type": "http", "url": url });
        let server = Self { endpoint: ServerEndpoint::Url(url), entry, running: Some(child) };
        let end = Instant::now() + START;
        while TcpStream::connect(address).is_err() {
            if Instant::now() > end {
                return Err(failed_record(std::io::Error::other("the server does not listen")));
            }
            thread::sleep(MOMENT);
        }
        Ok(server)
    }
}

impl Drop for ComparedServer {
    fn drop(&mut self) {
        if let Some(child) = &mut self.running {
            // A process that has already ended cannot be killed, which is fine.
            kill_process_group(Pid::from_child(child), Signal::KILL).unwrap_or_default();
            child.wait().map(drop).unwrap_or_default();
        }
    }
}
