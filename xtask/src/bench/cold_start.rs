//! How long `mcparley plan` takes from nothing to its end, and how much memory it ever holds.
//!
//! The release program runs as a process of its own in a folder made for it, with an environment of one
//! variable. Time and memory are measured in different runs, because watching the memory costs time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::divan::Timing;
use crate::error::ChoreError;
use crate::step::Step;

/// How many servers are configured: half by the user, half by the project.
pub(super) const SERVERS: usize = 20;
const WARM_UPS: usize = 3;
const RUNS: usize = 30;
const LINE: &str = "mcparley plan";

/// What was measured.
#[derive(Debug)]
pub(super) struct ColdStart {
    pub(super) timing: Timing,
    /// In bytes; absent where the system does not tell.
    pub(super) peak_memory: Option<u64>,
}

/// Builds the program and measures it.
pub(super) fn measure() -> Result<ColdStart, ChoreError> {
    let build = ["build", "--release", "--package", "mcparley-cli", "--bin", "mcparley"];
    let stage = Stage::new(Step::cargo(&build).built()?)?;
    for _ in 0..WARM_UPS {
        stage.time()?;
    }
    let mut times = (0..RUNS).map(|_| stage.time()).collect::<Result<Vec<_>, _>>()?;
    times.sort();
    let at = |index: usize| times.get(index).copied().unwrap_or_default();
    let timing = Timing { fastest: at(0), median: at(times.len() / 2) };
    let peaks = (0..RUNS).map(|_| stage.peak_memory()).collect::<Result<Vec<_>, _>>()?;
    Ok(ColdStart { timing, peak_memory: peaks.into_iter().flatten().max() })
}

/// A home and a project that exist for the measurement only.
struct Stage {
    program: PathBuf,
    home: tempfile::TempDir,
    project: PathBuf,
}

impl Stage {
    fn new(program: PathBuf) -> Result<Self, ChoreError> {
        let temporary = std::env::temp_dir();
        let home = tempfile::tempdir().map_err(ChoreError::file(&temporary))?;
        let project = home.path().join("project");
        let git = project.join(".git");
        fs::create_dir_all(&git).map_err(ChoreError::file(&git))?;
        write(&home.path().join(".claude.json"), &servers("user", 0..SERVERS / 2))?;
        write(&project.join(".mcp.json"), &servers("project", SERVERS / 2..SERVERS))?;
        Ok(Self { program, home, project })
    }

    /// The time from before its start to after its end.
    fn time(&self) -> Result<Duration, ChoreError> {
        let started = Instant::now();
        let child = self.start()?;
        wait(child)?;
        Ok(started.elapsed())
    }

    /// The most memory that was seen to be resident at once.
    ///
    /// The kernel keeps the mark itself and only ever raises it, so the last look before the end counts, and
    /// a run that ends between two looks is made good by the others.
    fn peak_memory(&self) -> Result<Option<u64>, ChoreError> {
        let mut child = self.start()?;
        let status = PathBuf::from(format!("/proc/{}/status", child.id()));
        let mut peak = None;
        while child.try_wait().map_err(start_error)?.is_none() {
            peak = peak.max(high_water_mark(&status));
        }
        Ok(peak)
    }

    fn start(&self) -> Result<Child, ChoreError> {
        let mut command = Command::new(&self.program);
        command.arg("plan").current_dir(&self.project).env_clear().env("HOME", self.home.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map_err(start_error)
    }
}

fn wait(mut child: Child) -> Result<(), ChoreError> {
    let status = child.wait().map_err(start_error)?;
    match status.code() {
        Some(0) => Ok(()),
        Some(code) => Err(ChoreError::Step { line: LINE.to_owned(), code: u8::try_from(code).unwrap_or(1) }),
        None => Err(ChoreError::Signal { line: LINE.to_owned() }),
    }
}

fn start_error(source: std::io::Error) -> ChoreError {
    ChoreError::Start { line: LINE.to_owned(), source }
}

/// `VmHWM` of a process, in bytes; absent once it has ended.
fn high_water_mark(status: &Path) -> Option<u64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Local and remote servers in turn.
fn servers(scope: &str, numbers: std::ops::Range<usize>) -> Value {
    let server = |number: usize| {
        let entry = if number.is_multiple_of(2) {
            json!({
                "command": "npx",
                "args": ["-y", format!("@example/server-{number}")],
                "env": { "TOKEN": "${TOKEN:-none}" }
            })
        } else {
            json!({
                "type": "http",
                "url": format!("https://server-{number}.example.com/mcp"),
                "headers": { "Authorization": "Bearer ${TOKEN:-none}" }
            })
        };
        (format!("{scope}-{number}"), entry)
    };
    json!({ "mcpServers": numbers.map(server).collect::<Map<_, _>>() })
}

fn write(path: &Path, content: &Value) -> Result<(), ChoreError> {
    fs::write(path, format!("{content:#}\n")).map_err(ChoreError::file(path))
}
