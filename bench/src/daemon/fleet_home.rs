//! A temporary home with the servers, folders for the clients, and a daemon that ends with it.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::marked::MarkedProcesses;

/// The time for the processes of a run to end.
const END_TIME: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);

/// The home of one measurement.
#[derive(Debug)]
pub(super) struct FleetHome {
    mcparley: PathBuf,
    home: tempfile::TempDir,
    mark: String,
}

impl FleetHome {
    /// An empty home in which nothing is known of any server yet.
    pub(super) fn new(mcparley: &Path) -> io::Result<Self> {
        let home = tempfile::tempdir()?;
        let mark =
            home.path().file_name().unwrap_or_default().to_string_lossy().trim_start_matches('.').to_owned();
        for folder in ["files", "run"] {
            std::fs::create_dir(home.path().join(folder))?;
        }
        std::fs::set_permissions(home.path().join("run"), std::fs::Permissions::from_mode(0o700))?;
        let home = Self { mcparley: mcparley.to_owned(), home, mark };
        let mut git = home.command_of(Path::new("git"));
        git.args(["init", "--quiet"]).arg(home.files().join("repo"));
        match git.status()?.success() {
            true => Ok(home),
            false => Err(io::Error::other("`git init` failed")),
        }
    }

    /// The mark of the processes of this home's servers.
    pub(super) fn mark(&self) -> &str {
        &self.mark
    }

    /// The folder with the files of the servers.
    pub(super) fn files(&self) -> PathBuf {
        self.home.path().join("files")
    }

    /// The folder of a client.
    pub(super) fn project(&self, number: usize) -> io::Result<PathBuf> {
        let folder = self.home.path().join(format!("projects/{number:02}"));
        std::fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// Configures these servers for the user.
    pub(super) fn configure(&self, servers: &Map<String, Value>) -> io::Result<()> {
        std::fs::write(self.home.path().join(".claude.json"), json!({ "mcpServers": servers }).to_string())
    }

    /// Writes a file into the home, and returns its path.
    pub(super) fn write(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        let path = self.home.path().join(name);
        std::fs::write(&path, text)?;
        Ok(path)
    }

    /// `mcparley` with these words.
    pub(super) fn mcparley(&self, words: &[&str]) -> Command {
        let mut command = self.command_of(&self.mcparley);
        command.args(words);
        command
    }

    /// A program with this home, without input and output.
    pub(super) fn command_of(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.home.path()).env_clear().env("HOME", self.home.path());
        command
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("XDG_RUNTIME_DIR", self.home.path().join("run"));
        // Dozens of servers that start at once on few cores need longer than a server on its own.
        command.env("MCP_TIMEOUT", "300000");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// The gateway for a client that gets all tools.
    pub(super) fn serve(&self) -> Command {
        self.mcparley(&["--permission-mode", "bypassPermissions", "serve", "--defer", "never"])
    }

    /// Lets all clients use the daemon, and starts it.
    pub(super) fn enable_daemon(&self) -> io::Result<()> {
        for word in ["enable", "start"] {
            if !self.mcparley(&["daemon", word]).status()?.success() {
                return Err(io::Error::other(format!("`mcparley daemon {word}` failed")));
            }
        }
        Ok(())
    }

    /// The state of the running daemon.
    pub(super) fn daemon_status(&self) -> io::Result<Value> {
        let output = self.mcparley(&["daemon", "status", "--json"]).stdout(Stdio::piped()).output()?;
        let mut status: Value = serde_json::from_slice(&output.stdout)?;
        Ok(status["daemon"].take())
    }

    /// The process id of the running daemon.
    pub(super) fn daemon_pid(&self) -> io::Result<u32> {
        let status = self.daemon_status()?;
        let pid = status["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
        pid.ok_or_else(|| io::Error::other("no daemon is running"))
    }

    /// Ends the daemon, and waits until all servers are gone.
    pub(super) fn end_servers(&self) -> io::Result<()> {
        self.mcparley(&["daemon", "stop"]).status()?;
        let begun = Instant::now();
        while MarkedProcesses::of_run(&self.mark)?.servers > 0 {
            if begun.elapsed() > END_TIME {
                return Err(io::Error::other("servers are left running"));
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }
}

impl Drop for FleetHome {
    fn drop(&mut self) {
        // Without a running daemon there is nothing to end.
        let _ended = self.mcparley(&["daemon", "stop"]).status();
    }
}
