//! Measures mcparley against the least possible cost of the same work, and prints one table.
//!
//! | measurement | module |
//! |---|---|
//! | calls: the library against a client without one | [`calls`], its contenders in [`caller`] |
//! | the command line against its limit, and its memory | [`programs`], [`memory`] |
//! | the console until its prompt | [`console`] |
//! | starting many servers against the least possible time | [`startup`] |
//! | the gateway against a relay, and its growth | [`gateway`] |
//! | thousands of tools: assembly, search and heap | [`catalog`], [`held`] |
//! | load on all servers while they are killed | [`soak`] |
//! | many clients with colliding ids through the gateway | [`misrouting`] |
//! | the right tool found by search | [`retrieval`] |
//! | the daemon with real servers and many clients | [`mod@daemon`] |
//! | servers and clients of the gateway that fail | [`faults`] |
//! | other command lines, where they are installed | [`peers`] |
//! | rounds, medians, ratios | [`rounds`] |
//! | the figures that `--only` selects | [`selection`] |
//! | promised limits, and the table | [`figure`], [`table`] |
//!
//! All contenders of a figure run in every round, in rotating order, so a busy moment of the machine affects
//! each of them; only ratios within a round count.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a measurement starts programs as a shell does, writes their configuration and talks to a developer"
)]

mod caller;
mod calls;
mod catalog;
mod console;
mod daemon;
mod faults;
mod figure;
mod gateway;
mod held;
mod memory;
mod misrouting;
mod peers;
mod processes;
mod programs;
mod retrieval;
mod rounds;
mod selection;
mod soak;
mod stage;
mod startup;
mod table;

use std::fmt::Display;
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use serde_json::Value;

use figure::BenchFigure;
use selection::FigureSelection;
use stage::BenchStage;

/// Measure calls and the command line side by side with their limits
#[derive(Debug, Parser)]
#[command(name = "mcparley-bench", args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
struct Options {
    /// The number of rounds
    #[arg(long, default_value = "15", value_name = "NUMBER")]
    rounds: NonZeroUsize,
    /// Measure only figures whose name contains this text
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    #[command(flatten)]
    output: ReportOutput,
    /// With `--check`, how much worse than its limit a figure may be, for machines that are shared
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR")]
    slack: f64,
    /// The program to measure, instead of building it
    #[arg(long, value_name = "PROGRAM")]
    mcparley: Option<PathBuf>,
    /// The folder where other command lines are installed; see the README beside this program's source
    #[arg(long, value_name = "FOLDER")]
    peers: Option<PathBuf>,
    #[command(subcommand)]
    instead: Option<BenchCommand>,
}

/// The form of a report, and whether it is judged.
#[derive(Clone, Copy, Debug, clap::Args)]
struct ReportOutput {
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Fail if a promise is broken, a limit is exceeded or a figure cannot be measured
    #[arg(long)]
    check: bool,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    Soak(soak::Options),
    Misrouting(misrouting::Options),
    Retrieval(retrieval::Options),
    Daemon(daemon::Options),
    Faults(faults::Options),
}

fn main() -> ExitCode {
    let options = Options::parse();
    let done = match &options.instead {
        Some(BenchCommand::Soak(options)) => soak::run_soak(options).map(|report| {
            finish_report(&report.to_text(), &report.to_json(), &report.broken_promises(), options.output)
        }),
        Some(BenchCommand::Misrouting(options)) => misrouting::run_misrouting(options).map(|report| {
            finish_report(&report.to_text(), &report.to_json(), &report.broken_promises(), options.output)
        }),
        Some(BenchCommand::Retrieval(options)) => retrieval::run_retrieval(options).map(|report| {
            finish_report(&report.to_text(), &report.to_json(), &report.missed_goals(), options.output)
        }),
        Some(BenchCommand::Daemon(options)) => daemon::run_daemon_bench(options).map(|report| {
            finish_report(&report.to_text(), &report.to_json(), &report.broken_promises(), options.output)
        }),
        Some(BenchCommand::Faults(options)) => faults::run_faults(options).map(|report| {
            finish_report(&report.to_text(), &report.to_json(), &report.broken_promises(), options.output)
        }),
        None => measure_figures(&options).map(|figures| {
            let failures = figure::check_figures(&figures, options.slack);
            finish_report(
                &table::render_text(&figures, options.slack),
                &table::render_json(&figures, options.slack),
                &failures,
                options.output,
            )
        }),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

fn measure_figures(options: &Options) -> io::Result<Vec<BenchFigure>> {
    let stage = BenchStage::new(options.mcparley.clone())?;
    let rounds = options.rounds.get();
    let selection = FigureSelection::new(options.only.clone());
    let wanted = |name: &str| selection.contains(name);
    let mut figures = calls::measure_calls(&stage, rounds, &wanted)?;
    figures.extend(programs::measure_programs(&stage, rounds, &wanted)?);
    figures.extend(startup::measure_startup(&stage, rounds, &wanted)?);
    figures.extend(catalog::measure_catalog(&stage, rounds, &wanted)?);
    figures.extend(gateway::measure_gateway(&stage, rounds, &wanted)?);
    figures.extend(gateway::measure_audit(&stage, rounds, &wanted)?);
    figures.extend(gateway::measure_growth(&stage, rounds, &wanted)?);
    if wanted(&held::figure_name()) {
        figures.push(held::measure_heap(&stage, rounds)?);
    }
    if wanted(&console::figure_name()) {
        figures.push(console::measure_console(&stage, rounds)?);
    }
    if wanted(memory::NAME) {
        figures.push(memory::measure_memory(&stage, rounds)?);
    }
    if let Some(folder) = &options.peers {
        figures.extend(peers::measure_peers(&stage, folder, rounds, &wanted)?);
    }
    if figures.is_empty() { Err(selection.into_error()) } else { Ok(figures) }
}

/// Prints a report in the chosen form; fails if a promise is broken and promises are checked.
fn finish_report(text: &str, json: &Value, broken: &[impl Display], output: ReportOutput) -> ExitCode {
    if output.json {
        println!("{json}");
    } else {
        print!("{text}");
    }
    for promise in broken {
        eprintln!("{}: {promise}", if output.check { "error" } else { "warning" });
    }
    if output.check && !broken.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
