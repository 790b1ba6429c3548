//! The figures: what mcparley does, and what a client without a library needs for the same calls.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use mcparley_smoke::raw::{CallText, RawClient};
use serde::de::IgnoredAny;
use serde_json::json;
use tempfile::TempDir;

use crate::processor;

/// The name of the program with the light server, built with this one.
const SERVER: &str = "mcparley-smoke-server";

/// One figure.
pub(crate) struct SmokeFigure {
    pub(crate) name: &'static str,
    work: SmokeWork,
}

/// The work of a round.
enum SmokeWork {
    /// Calls of a server, by a client without a library: directly, and through `mcparley serve`, whose own processor
    /// time counts.
    Calls { size: usize, count: usize, width: usize },
    /// Runs of a command from start to end, against as many starts of the server with handshake, list and call by a
    /// client without a library. The processor time of the server counts on both sides.
    Runs { words: &'static [&'static str], count: usize },
}

/// All figures.
pub(crate) const FIGURES: [SmokeFigure; 5] = [
    SmokeFigure {
        name: "gateway on stdio, 100 B, one by one",
        work: SmokeWork::Calls { size: 100, count: 8_000, width: 1 },
    },
    SmokeFigure {
        name: "gateway on stdio, 100 B, 64 at once",
        work: SmokeWork::Calls { size: 100, count: 32_000, width: 64 },
    },
    SmokeFigure {
        name: "gateway on stdio, 100 kB, 16 at once",
        work: SmokeWork::Calls { size: 100_000, count: 1_600, width: 16 },
    },
    SmokeFigure {
        name: "`mcparley call`",
        work: SmokeWork::Runs { words: &["call", "light", "echo", "size=100"], count: 40 },
    },
    // The list is cached by the first run, which warms up.
    SmokeFigure {
        name: "`mcparley tools`, cached",
        work: SmokeWork::Runs { words: &["tools", "light"], count: 60 },
    },
];

/// The processor time of a call or a run, in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RelativeCost {
    mcparley: f64,
    raw: f64,
}

impl RelativeCost {
    /// What every measurement is better than.
    const WORST: Self = Self { mcparley: f64::INFINITY, raw: f64::INFINITY };

    pub(crate) fn ratio(self) -> f64 {
        self.mcparley / self.raw
    }
}

impl fmt::Display for RelativeCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mcparley, raw) = (self.mcparley * 1e6, self.raw * 1e6);
        write!(
            f,
            "{mcparley:.1} µs of processor time, without a library {raw:.1} µs, ratio {:.2}",
            self.ratio()
        )
    }
}

/// The programs, and an empty home for them.
pub(crate) struct SmokeStage {
    mcparley: PathBuf,
    server: PathBuf,
    configuration: PathBuf,
    home: TempDir,
}

impl SmokeStage {
    pub(crate) fn new(mcparley: &Path) -> io::Result<Self> {
        let mcparley = mcparley.canonicalize()?;
        let server = std::env::current_exe()?.with_file_name(SERVER);
        if !server.is_file() {
            let message =
                format!("`{}` is not there: build it with `--package mcparley-smoke`", server.display());
            return Err(io::Error::other(message));
        }
        let home = TempDir::new()?;
        let configuration = home.path().join("servers.json");
        let servers = json!({ "mcpServers": { "light": { "command": server } } });
        std::fs::write(&configuration, servers.to_string())?;
        Ok(Self { mcparley, server, configuration, home })
    }

    /// `mcparley` with the light server as its only one, an empty home, and no permission to ask for.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.mcparley);
        command.current_dir(self.home.path()).env_clear().env("HOME", self.home.path());
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.arg("--mcp-config").arg(&self.configuration).arg("--strict-mcp-config");
        command.args(["--permission-mode", "bypassPermissions"]).args(words);
        command
    }

    fn start_server(&self) -> io::Result<RawClient> {
        RawClient::start(&self.server, &[])
    }
}

impl SmokeFigure {
    /// The best round of each side.
    pub(crate) fn measure_best(&self, stage: &SmokeStage, rounds: usize) -> io::Result<RelativeCost> {
        match self.work {
            SmokeWork::Calls { size, count, width } => measure_calls(stage, rounds, (size, count, width)),
            SmokeWork::Runs { words, count } => measure_runs(stage, rounds, words, count),
        }
    }
}

fn measure_calls(
    stage: &SmokeStage,
    rounds: usize,
    (size, count, width): (usize, usize, usize),
) -> io::Result<RelativeCost> {
    let mut raw = SmokeCaller::greet(stage.start_server()?)?;
    let serve = ["serve", "--defer", "never", "--no-prefix"];
    let mut gateway = SmokeCaller::greet(RawClient::from_command(stage.command(&serve))?)?;
    let (own, pid) = (std::process::id(), gateway.client.pid());
    // The first calls connect, and fill buffers and caches.
    raw.make_calls(size, width.max(count / 10), width)?;
    gateway.make_calls(size, width.max(count / 10), width)?;
    let mut best = RelativeCost::WORST;
    for _ in 0..rounds {
        let used = measure(|| processor::process_seconds(own), || raw.make_calls(size, count, width))?;
        best.raw = best.raw.min(used / to_float(count));
        let used = measure(|| processor::process_seconds(pid), || gateway.make_calls(size, count, width))?;
        best.mcparley = best.mcparley.min(used / to_float(count));
    }
    raw.client.wait_for_exit()?;
    gateway.client.wait_for_exit()?;
    Ok(best)
}

fn measure_runs(stage: &SmokeStage, rounds: usize, words: &[&str], count: usize) -> io::Result<RelativeCost> {
    run_command(stage, words, 1)?;
    let mut best = RelativeCost::WORST;
    for _ in 0..rounds {
        let used = measure(all_seconds, || run_raw(stage, count))?;
        best.raw = best.raw.min(used / to_float(count));
        let used = measure(processor::ended_children_seconds, || run_command(stage, words, count))?;
        best.mcparley = best.mcparley.min(used / to_float(count));
    }
    Ok(best)
}

/// The processor time of this process and of those it has started and that have ended.
fn all_seconds() -> io::Result<f64> {
    Ok(processor::process_seconds(std::process::id())? + processor::ended_children_seconds()?)
}

/// The growth of a clock during some work.
fn measure(clock: impl Fn() -> io::Result<f64>, work: impl FnOnce() -> io::Result<()>) -> io::Result<f64> {
    let before = clock()?;
    work()?;
    Ok(clock()? - before)
}

fn to_float(count: usize) -> f64 {
    // A count of calls is far below the precision limit of a float.
    count as f64
}

/// Runs a command of mcparley to its end, one run after the other.
fn run_command(stage: &SmokeStage, words: &[&str], count: usize) -> io::Result<()> {
    for _ in 0..count {
        let errors = stage.home.path().join("stderr");
        let mut command = stage.command(words);
        let status =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&errors)?).status()?;
        if !status.success() {
            let text = std::fs::read_to_string(&errors)?;
            return Err(io::Error::other(format!("`mcparley {}`: {status}: {text}", words.join(" "))));
        }
    }
    Ok(())
}

/// Starts the server, lists its tools and calls one, without a library.
fn run_raw(stage: &SmokeStage, count: usize) -> io::Result<()> {
    for _ in 0..count {
        let mut caller = SmokeCaller::greet(stage.start_server()?)?;
        caller.client.send_request::<IgnoredAny>("tools/list", "")?;
        caller.make_calls(100, 1, 1)?;
        caller.client.wait_for_exit()?;
    }
    Ok(())
}

/// A client without a library, of the server or of the gateway before it.
struct SmokeCaller {
    client: RawClient,
}

impl SmokeCaller {
    fn greet(mut client: RawClient) -> io::Result<Self> {
        client.send_request::<IgnoredAny>("server/discover", "")?;
        Ok(Self { client })
    }

    /// Makes `count` calls, `width` at a time, and checks the length of each result.
    fn make_calls(&mut self, size: usize, count: usize, width: usize) -> io::Result<()> {
        let members = format!(r#""name":"echo","arguments":{{"size":{size}}},"#);
        let (mut sent, mut done) = (0, 0);
        while done < count {
            while sent < count && self.client.pending_count() < width {
                self.client.queue_request("tools/call", &members);
                sent += 1;
            }
            self.client.send_queued()?;
            // Answers that arrived together are read together, and make room for as many new calls.
            loop {
                let (_, called) = self.client.read_answer::<CallText>()?;
                if called.text_length() != size {
                    let message = format!("{} bytes instead of {size}", called.text_length());
                    return Err(io::Error::other(message));
                }
                done += 1;
                if done == sent || !self.client.has_answer() {
                    break;
                }
            }
        }
        Ok(())
    }
}
