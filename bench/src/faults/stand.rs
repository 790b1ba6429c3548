//! The gateway over HTTP with its four servers, each a process of its own.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::client::FaultClient;
use crate::gateway::{EndOnDrop, free_address, retry_until_listening, serve_command};
use crate::processes::list_descendants;
use crate::stage::{BenchStage, sibling_program};

const NAMES: [&str; 4] = ["quick", "slow", "dead", "crashing"];
/// The time in which all servers have to answer.
const READY: Duration = Duration::from_secs(30);

/// A gateway that runs.
pub(super) struct FaultStand {
    pub(super) address: String,
    canceled: PathBuf,
    _gateway: EndOnDrop,
}

/// A process that is stopped, and goes on when this is dropped.
pub(super) struct StoppedProcess(Pid);

impl Drop for StoppedProcess {
    fn drop(&mut self) {
        // It may have been ended meanwhile.
        let _continued = kill_process(self.0, Signal::CONT);
    }
}

impl FaultStand {
    /// Starts the gateway, with a limit for the calls in a second if one is given, and waits for its servers.
    pub(super) fn start_gateway(stage: &BenchStage, rate: Option<u32>) -> io::Result<Self> {
        let target = sibling_program("mcparley-bench-target")?;
        let canceled = stage.home().join("canceled");
        std::fs::write(&canceled, "")?;
        let entry = |name: &&str| {
            let args = json!(["--name", name, "--era", "new", "--canceled", canceled]);
            ((*name).to_owned(), json!({ "command": target, "args": args }))
        };
        let servers: serde_json::Map<_, _> = NAMES.iter().map(entry).collect();
        let file = stage.home().join("faults.json");
        std::fs::write(&file, json!({ "mcpServers": servers }).to_string())?;
        let address = free_address()?;
        let mut command = serve_command(stage, &file);
        command.args(["--http", &address, "--no-token"]);
        command.args(rate.iter().flat_map(|rate| ["--rate".to_owned(), rate.to_string()]));
        let gateway = EndOnDrop(command.spawn()?);
        let stand = Self { address, canceled, _gateway: gateway };
        let mut client = retry_until_listening(|| FaultClient::open_connection(&stand.address))?;
        let begun = Instant::now();
        for name in NAMES {
            while !client.make_call(&format!("{name}__echo"), 0)?.is_result() {
                if begun.elapsed() > READY {
                    return Err(io::Error::other(format!("the server `{name}` does not answer")));
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        Ok(stand)
    }

    /// The number of calls that were canceled at the servers.
    pub(super) fn count_canceled(&self) -> io::Result<usize> {
        Ok(std::fs::read_to_string(&self.canceled)?.lines().count())
    }

    /// Stops the process of a server, which is then silent but not gone.
    pub(super) fn stop_process(&self, name: &str) -> io::Result<StoppedProcess> {
        let pid =
            Self::find_process(name)?.ok_or_else(|| io::Error::other(format!("`{name}` does not run")))?;
        kill_process(pid, Signal::STOP)?;
        Ok(StoppedProcess(pid))
    }

    /// Kills the process of a server; whether it ran.
    pub(super) fn kill_process(&self, name: &str) -> io::Result<bool> {
        match Self::find_process(name)? {
            Some(pid) => Ok(kill_process(pid, Signal::KILL).is_ok()),
            None => Ok(false),
        }
    }

    fn find_process(name: &str) -> io::Result<Option<Pid>> {
        let processes = list_descendants()?;
        let is_server = |word: &String| word.ends_with("mcparley-bench-target");
        let found = processes.iter().filter(|process| process.words.first().is_some_and(is_server));
        let found = found.filter(|process| process.option_value("--name") == Some(name));
        Ok(found.map(|process| process.pid).max().and_then(Pid::from_raw))
    }
}
