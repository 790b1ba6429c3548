//! Measures the cold start of `mcparley plan`: its run time and its peak memory.
//!
//! The release program runs as a separate process in a temporary folder, with an environment of one variable.
//! Time and memory are measured in different runs, because sampling the memory costs time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::divan::BenchTiming;
use crate::error::ChoreError;

/// The number of configured servers: half by the user, half by the project.
pub(super) const SERVERS: usize = 20;
const WARM_UPS: usize = 3;
const RUNS: usize = 30;
const LINE: &str = "mcparley plan";

/// The measured cold start.
#[derive(Debug)]
pub(super) struct ColdStart {
    pub(super) timing: BenchTiming,
    /// The peak memory in bytes; absent where the system does not report it.
    pub(super) peak_memory: Option<u64>,
}

/// Builds the program and measures its cold start.
pub(super) fn measure_cold_start() -> Result<ColdStart, ChoreError> {
    let stage = ColdStartStage::new(crate::dist::build_program()?)?;
    for _ in 0..WARM_UPS {
        stage.time_run()?;
    }
    let mut times = (0..RUNS).map(|_| stage.time_run()).collect::<Result<Vec<_>, _>>()?;
    times.sort();
    let at = |index: usize| times.get(index).copied().unwrap_or_default();
    let timing = BenchTiming { fastest: at(0), median: at(times.len() / 2) };
    let peaks = (0..RUNS).map(|_| stage.measure_peak_memory()).collect::<Result<Vec<_>, _>>()?;
    Ok(ColdStart { timing, peak_memory: peaks.into_iter().flatten().max() })
}

/// A temporary home and project for the measurement.
struct ColdStartStage {
    program: PathBuf,
    home: tempfile::TempDir,
    project: PathBuf,
}

impl ColdStartStage {
    fn new(program: PathBuf) -> Result<Self, ChoreError> {
        let temporary = std::env::temp_dir();
        let home = tempfile::tempdir().map_err(ChoreError::file_error(&temporary))?;
        let project = home.path().join("project");
        let git = project.join(".git");
        fs::create_dir_all(&git).map_err(ChoreError::file_error(&git))?;
        write_json(&home.path().join(".claude.json"), &server_entries("user", 0..SERVERS / 2))?;
        write_json(&project.join(".mcp.json"), &server_entries("project", SERVERS / 2..SERVERS))?;
        Ok(Self { program, home, project })
    }

    /// Runs the program once; returns the time from before its start to after its exit.
    fn time_run(&self) -> Result<Duration, ChoreError> {
        let started = Instant::now();
        let child = self.start_program()?;
        wait_for_exit(child)?;
        Ok(started.elapsed())
    }

    /// The peak of the resident memory.
    ///
    /// The kernel records the peak itself and only ever raises it, so the last sample before the exit counts;
    /// a run that exits between two samples is made up for by the others.
    fn measure_peak_memory(&self) -> Result<Option<u64>, ChoreError> {
        let mut child = self.start_program()?;
        let status = PathBuf::from(format!("/proc/{}/status", child.id()));
        let mut peak = None;
        while child.try_wait().map_err(start_error)?.is_none() {
            peak = peak.max(high_water_mark(&status));
        }
        Ok(peak)
    }

    fn start_program(&self) -> Result<Child, ChoreError> {
        let mut command = Command::new(&self.program);
        command.arg("plan").current_dir(&self.project).env_clear().env("HOME", self.home.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map_err(start_error)
    }
}

fn wait_for_exit(mut child: Child) -> Result<(), ChoreError> {
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

/// `VmHWM` of a process, in bytes; absent once the process has exited.
fn high_water_mark(status: &Path) -> Option<u64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Alternating local and remote servers.
fn server_entries(scope: &str, numbers: std::ops::Range<usize>) -> Value {
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

fn write_json(path: &Path, content: &Value) -> Result<(), ChoreError> {
    fs::write(path, format!("{content:#}\n")).map_err(ChoreError::file_error(path))
}
