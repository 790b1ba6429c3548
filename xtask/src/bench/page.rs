//! `docs/benchmarks.md`: all figures of a run, beside the peers that are installed on this machine.
//!
//! The numbers come from `mcparley-bench --json`; this file only lays them out. It names the machine, the versions and
//! the command, and the peers that could not be installed.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{bench_program_step, peer_programs};
use crate::error::ChoreError;
use crate::step::ChoreStep;
use crate::workspace;

const PAGE: &str = "docs/benchmarks.md";
/// The load of a machine that does something else, in processes that run or wait.
const BUSY: f64 = 0.5;
/// The words in the name of a figure before the name of its peer.
const PEER: &str = ", limit is ";

const TOP: &str = "\
<!-- Written by `cargo xtask bench page`; do not edit. -->

# Benchmarks

Every figure compares mcparley with a bound that was measured in the same rounds on the same machine: a program without a library that does
the least possible work, or another program that does the same. Only the ratios carry over to other machines. What each figure does, and
how the bounds are built, is in the [README of the benchmark](../bench/README.md).
";

/// The options of the page.
#[derive(Debug, clap::Args)]
pub(crate) struct PageOptions {
    /// The file to write
    #[arg(long, default_value = PAGE, value_name = "PATH")]
    write: PathBuf,
    /// The number of rounds
    #[arg(long, default_value_t = 15, value_name = "NUMBER")]
    rounds: usize,
    /// Only figures whose name contains this text; for a trial, since the page should have all
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// The folder of installed peers, instead of installing them
    #[arg(long, value_name = "FOLDER")]
    peers: Option<PathBuf>,
    /// The program to measure, instead of building it
    #[arg(long, value_name = "PROGRAM")]
    mcparley: Option<PathBuf>,
}

/// Measures all figures and writes the page.
pub(crate) fn write_page(options: &PageOptions) -> Result<(), ChoreError> {
    let (folder, missing) = match &options.peers {
        Some(folder) => (folder.clone(), Vec::new()),
        None => peer_programs::install_peers()?,
    };
    warn_if_busy();
    let mut arguments = vec!["--json".to_owned(), "--rounds".to_owned(), options.rounds.to_string()];
    arguments.extend(["--peers".to_owned(), folder.to_string_lossy().into_owned()]);
    let only = options.only.iter().flat_map(|only| ["--only".to_owned(), only.clone()]);
    let program = options.mcparley.iter();
    let program = program.flat_map(|path| ["--mcparley".to_owned(), path.to_string_lossy().into_owned()]);
    arguments.extend(only.chain(program));
    let step = bench_program_step(&[]).with_args(&arguments);
    let line = step.line().to_owned();
    let output = step.run_for_output()?;
    let figures: Value = serde_json::from_str(&output).unwrap_or_default();
    let silent = || ChoreError::Silent { line: line.clone(), wanted: "the figures".to_owned() };
    let figures = figures.as_array().filter(|figures| !figures.is_empty()).ok_or_else(silent)?;
    let text = render_page(figures, &describe_machine(), options, &missing);
    let path = workspace::workspace_root().join(&options.write);
    std::fs::write(&path, text).map_err(ChoreError::file_error(&path))?;
    println!("wrote {} with {} figures", path.display(), figures.len());
    Ok(())
}

fn warn_if_busy() {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    if load.split(' ').next().and_then(|load| load.parse::<f64>().ok()).is_some_and(|load| load > BUSY) {
        eprintln!("warning: this machine is busy (load {}): the figures will be worse", load.trim_end());
    }
}

/// Processor, cores, memory, kernel and compiler.
fn describe_machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let (cpu, memory) = (read("/proc/cpuinfo"), read("/proc/meminfo"));
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).and_then(|line| line.split_once(':'));
        line.map(|(_, value)| value.trim().to_owned())
    };
    let cores = cpu.lines().filter(|line| line.starts_with("processor")).count();
    let kibibytes = field(&memory, "MemTotal").and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
    let compiler = ChoreStep::program(Path::new("rustc"), &["--version"]).run_silently().unwrap_or_default();
    format!(
        "{}, {cores} cores, {} GiB of memory, Linux {}, {}",
        field(&cpu, "model name").unwrap_or_else(|| "unknown processor".to_owned()),
        kibibytes.unwrap_or_default().div_ceil(1024 * 1024),
        read("/proc/sys/kernel/osrelease").trim_end(),
        compiler.trim_end(),
    )
}

/// Renders the page.
fn render_page(figures: &[Value], machine: &str, options: &PageOptions, missing: &[String]) -> String {
    let mut text = TOP.to_owned();
    let is_peer = |figure: &&Value| peer_of(figure).is_some();
    let (peers, bounds): (Vec<&Value>, Vec<&Value>) = figures.iter().partition(is_peer);
    let rounds = options.rounds;
    // Writing to a `String` cannot fail.
    write!(text, "\nMeasured on: {machine}. Repeat it on a machine that does nothing else:\n\n```sh\ncargo xtask bench page --rounds {rounds}\n```\n").unwrap_or_default();
    text.push_str("\n## Against the least possible cost\n\n");
    text.push_str("| figure | bound | mcparley | ratio | promised |\n|---|---|---|---|---|\n");
    bounds.iter().for_each(|figure| text.push_str(&figure_row(figure, &name_of(figure))));
    text.push_str("\n## Beside other programs\n\n");
    text.push_str(
        "| figure | other program | its figure | mcparley | ratio | promised |\n|---|---|---|---|---|---|\n",
    );
    for figure in peers {
        let name = name_of(figure);
        let (work, peer) = name.split_once(PEER).unwrap_or((&name, ""));
        text.push_str(&figure_row(figure, &format!("{work} | {peer}")));
    }
    text.push_str("\nThe programs and their versions are pinned in [`fleet/`](../fleet/README.md#peers-of-the-benchmark).\n");
    for reason in missing {
        let reason = reason.lines().next().unwrap_or_default();
        writeln!(text, "\nNot measured, because it could not be installed on this machine: {reason}.")
            .unwrap_or_default();
    }
    text
}

fn name_of(figure: &Value) -> String {
    figure["figure"].as_str().unwrap_or_default().to_owned()
}

/// The name of the other program, if the figure has one.
fn peer_of(figure: &Value) -> Option<String> {
    let name = name_of(figure);
    name.split_once(PEER).map(|(_, peer)| peer.to_owned())
}

fn figure_row(figure: &Value, name: &str) -> String {
    if let Some(why) = figure["missing"].as_str() {
        return format!("| {name} | | not measured: {why} | | |\n");
    }
    let unit = figure["unit"].as_str().unwrap_or_default();
    let amount =
        |member: &str| figure[member].as_f64().map(|amount| format_amount(unit, amount)).unwrap_or_default();
    let ratio = match figure["ratio"].as_f64() {
        Some(ratio) if ratio < 0.1 => format!("{ratio:.3}"),
        Some(ratio) => format!("{ratio:.2}"),
        None => String::new(),
    };
    let promised = figure["promised"].as_str().unwrap_or_default();
    let verdict = if figure["over"] == Value::Bool(true) { ", **missed**" } else { "" };
    format!("| {name} | {} | {} | {ratio} | {promised}{verdict} |\n", amount("limit"), amount("mcparley"))
}

/// The amount formatted for people.
fn format_amount(unit: &str, amount: f64) -> String {
    match unit {
        "seconds" if amount < 1e-3 => format!("{:.1} µs", amount * 1e6),
        "seconds" if amount < 10.0 => format!("{:.2} ms", amount * 1e3),
        "seconds" => format!("{amount:.1} s"),
        "calls per second" if amount < 1e4 => format!("{amount:.0} calls/s"),
        "calls per second" => format!("{:.0} k calls/s", amount / 1e3),
        "bytes" if amount < 1e5 => format!("{:.1} kB", amount / 1e3),
        "bytes" => format!("{:.1} MB", amount / 1e6),
        other => format!("{amount} {other}"),
    }
}

#[cfg(test)]
mod tests;
