//! Measures mcparley against the least possible cost of the same work, and prints one table.
//!
//! | measurement | module |
//! |---|---|
//! | calls: the library against a client without one | [`calls`] on chosen [`cores`], its contenders in [`caller`] |
//! | the command line against its limit, and its memory | [`programs`], [`memory`] |
//! | starting many servers against the least possible time | [`startup`] |
//! | the gateway against a relay, and its growth | [`gateway`] |
//! | thousands of tools: assembly, search and heap | [`catalogue`], [`held`] |
//! | load on all servers while they are killed | [`soak`] |
//! | many clients with colliding ids through the gateway | [`misrouting`] |
//! | the right tool found by search | [`retrieval`] |
//! | the daemon with real servers and many clients | [`mod@daemon`] |
//! | other command lines, where they are installed | [`peers`] |
//! | rounds, medians, ratios | [`rounds`] |
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
mod catalogue;
mod cores;
mod daemon;
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
mod soak;
mod stage;
mod startup;
mod table;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use figure::BenchFigure;
use stage::BenchStage;

/// Measure calls and the command line side by side with their limits
#[derive(Debug, Parser)]
#[command(name = "mcparley-bench", args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
struct Options {
    /// The number of rounds
    #[arg(long, default_value_t = 15, value_name = "NUMBER")]
    rounds: usize,
    /// Measure only figures whose name contains this text
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Fail if a figure is over its limit
    #[arg(long)]
    check: bool,
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

#[derive(Debug, Subcommand)]
enum BenchCommand {
    Soak(soak::Options),
    Misrouting(misrouting::Options),
    Retrieval(retrieval::Options),
    Daemon(daemon::Options),
}

fn main() -> ExitCode {
    let options = Options::parse();
    let done = match &options.instead {
        Some(BenchCommand::Soak(options)) => {
            soak::run_soak(options).map(|report| finish_soak(options, &report))
        }
        Some(BenchCommand::Misrouting(options)) => {
            misrouting::run_misrouting(options).map(|report| finish_misrouting(options, &report))
        }
        Some(BenchCommand::Retrieval(options)) => {
            retrieval::run_retrieval(options).map(|report| finish_retrieval(options, &report))
        }
        Some(BenchCommand::Daemon(options)) => {
            daemon::run_daemon_bench(options).map(|report| finish_daemon(options, &report))
        }
        None => measure_figures(&options).map(|figures| finish_bench(&options, &figures)),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

fn measure_figures(options: &Options) -> io::Result<Vec<BenchFigure>> {
    let stage = BenchStage::new(options.mcparley.clone())?;
    let wanted = |name: &str| options.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let mut figures = calls::measure_calls(&stage, options.rounds, &wanted)?;
    figures.extend(programs::measure_programs(&stage, options.rounds, &wanted)?);
    figures.extend(startup::measure_startup(&stage, options.rounds, &wanted)?);
    figures.extend(catalogue::measure_catalog(&stage, options.rounds, &wanted)?);
    figures.extend(gateway::measure_gateway(&stage, options.rounds, &wanted)?);
    figures.extend(gateway::measure_growth(&stage, options.rounds, &wanted)?);
    if wanted(&held::figure_name()) {
        figures.push(held::measure_heap(&stage, options.rounds)?);
    }
    if wanted(memory::NAME) {
        figures.push(memory::measure_memory(&stage, options.rounds)?);
    }
    if let Some(folder) = &options.peers {
        figures.extend(peers::measure_peers(&stage, folder, options.rounds, &wanted)?);
    }
    Ok(figures)
}

fn finish_bench(options: &Options, figures: &[BenchFigure]) -> ExitCode {
    if options.json {
        println!("{}", table::render_json(figures));
    } else {
        print!("{}", table::render_text(figures));
    }
    let over: Vec<&str> =
        figures.iter().filter(|figure| figure.is_over(options.slack)).map(|figure| figure.name()).collect();
    if options.check && !over.is_empty() {
        eprintln!("error: over the limit: {}", over.join(", "));
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn finish_soak(options: &soak::Options, report: &soak::SoakReport) -> ExitCode {
    if options.json {
        println!("{}", report.to_json());
    } else {
        print!("{}", report.to_text());
    }
    let broken = report.broken_promises();
    if options.check && !broken.is_empty() {
        eprintln!("error: broken: {}", broken.join(", "));
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn finish_misrouting(options: &misrouting::Options, report: &misrouting::MisroutingReport) -> ExitCode {
    if options.json {
        println!("{}", report.to_json());
    } else {
        print!("{}", report.to_text());
    }
    let broken = report.broken_promises();
    if options.check && !broken.is_empty() {
        eprintln!("error: broken: {}", broken.join(", "));
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn finish_retrieval(options: &retrieval::Options, report: &retrieval::RetrievalReport) -> ExitCode {
    if options.json {
        println!("{}", report.to_json());
    } else {
        print!("{}", report.to_text());
    }
    let missed = report.missed_goals();
    if options.check && !missed.is_empty() {
        eprintln!("error: {}", missed.join("; "));
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn finish_daemon(options: &daemon::Options, report: &daemon::DaemonReport) -> ExitCode {
    if options.json {
        println!("{}", report.to_json());
    } else {
        print!("{}", report.to_text());
    }
    let broken = report.broken_promises();
    if options.check && !broken.is_empty() {
        eprintln!("error: broken: {}", broken.join(", "));
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
