//! Fails when a call through the gateway or a run of the command line costs more than 25 % more processor time than was
//! accepted, relative to a client without a library.
//!
//! | part | module |
//! |---|---|
//! | the figures, and how each is measured | [`figure`] |
//! | the accepted ratios, in `bench/baseline.json` | [`baseline`] |
//! | processor time of a process | [`processor`] |
//! | the client without a library | [`mcparley_smoke::raw`], the file of the benchmark |
//!
//! Wall time depends on the load of the machine, processor time hardly does; the ratio to the client without a library
//! takes the speed of the machine out. Of all rounds the best of each side counts.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a measurement starts programs as a shell does, writes their configuration and talks to a developer"
)]

mod baseline;
mod figure;
mod processor;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use baseline::AcceptedRatios;
use figure::{FIGURES, SmokeStage};

/// Compare the processor time of mcparley with the accepted ratios
#[derive(Debug, Parser)]
#[command(name = "mcparley-smoke", disable_help_subcommand = true)]
struct Options {
    /// The program to measure
    #[arg(long, value_name = "PROGRAM")]
    mcparley: PathBuf,
    /// The file with the accepted ratios
    #[arg(long, value_name = "FILE")]
    baseline: PathBuf,
    /// The number of rounds, of which the best counts
    #[arg(long, default_value_t = 5, value_name = "NUMBER")]
    rounds: usize,
    /// Write the measured ratios as the accepted ones
    #[arg(long)]
    write: bool,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures all figures; whether each is as accepted.
fn run(options: &Options) -> io::Result<bool> {
    if options.rounds == 0 {
        return Err(io::Error::other("at least one round is needed"));
    }
    let accepted = if options.write {
        AcceptedRatios::default()
    } else {
        let names = FIGURES.iter().map(|figure| figure.name);
        AcceptedRatios::read(&options.baseline, names).map_err(io::Error::other)?
    };
    let stage = SmokeStage::new(&options.mcparley)?;
    let mut measured = AcceptedRatios::default();
    let mut is_accepted = true;
    for figure in &FIGURES {
        let cost = figure.measure_best(&stage, options.rounds)?;
        measured.insert(figure.name, cost.ratio());
        if options.write {
            println!("{}: {cost}", figure.name);
            continue;
        }
        let verdict = accepted.judge(figure.name, cost.ratio());
        println!("{}: {cost}, {verdict}", figure.name);
        is_accepted &= verdict.is_accepted();
    }
    if options.write {
        measured.write(&options.baseline)?;
        println!("wrote {}", options.baseline.display());
        return Ok(true);
    }
    if !is_accepted {
        eprintln!("error: more processor time than accepted");
        eprintln!(
            "hint: if that is intended, accept it by `cargo xtask bench smoke --write`, and say why in the commit"
        );
    }
    Ok(is_accepted)
}
