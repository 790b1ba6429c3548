//! Measures runs of the command line, from start to exit, against the least possible cost of the same work.

use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::figure::{BenchFigure, FigureBound, FigureUnit};
use crate::rounds::{self, median};
use crate::stage::BenchStage;

/// The number of runs per round, of which the median counts.
const RUNS: usize = 3;

/// The promised limit where one server is started.
const ONE_SERVER: FigureBound = FigureBound::AtMost(4.0);

/// The numbers of configured servers, each with the promised limit for a list of all.
const SIZES: [(usize, FigureBound); 2] = [(1, ONE_SERVER), (20, FigureBound::AtMost(2.0))];

/// The name of the figure for servers with a cached catalog.
const WARM: &str = "`mcparley tools`, 20 servers seen before";

/// The promise for the start of the program, and for servers with a cached catalog.
const START: FigureBound = FigureBound::Within(1.2e-3);
const START_NAME: &str = "`mcparley --version`";

pub(crate) fn measure_programs(
    stage: &BenchStage,
    rounds: usize,
    wanted: &dyn Fn(&str) -> bool,
) -> io::Result<Vec<BenchFigure>> {
    let mut figures = Vec::new();
    for (count, bound) in SIZES {
        let configuration = stage.write_configuration(count)?;
        // A call starts only the server that it is for.
        let commands = [
            ("list", count, list_command(stage, &configuration), bound),
            ("call", 1, call_command(stage, &configuration), ONE_SERVER),
        ];
        for (word, started, mut ours, bound) in commands {
            let name = format!("`mcparley {word}`, {count} server{}", if count == 1 { "" } else { "s" });
            if !wanted(&name) {
                continue;
            }
            if !stage.command(&stage.mcparley).args([word, "--help"]).status()?.success() {
                figures.push(BenchFigure::Missing { name, why: "not there yet".to_owned() });
                continue;
            }
            let mut limit = stage.command(&stage.limit);
            limit.args(["start", &started.to_string()]).arg(&stage.server);
            let samples = compare_programs(rounds, &mut [&mut limit, &mut ours])?;
            let [limit, ours] = <[_; 2]>::try_from(samples).unwrap_or_default();
            figures.push(BenchFigure::Compared { name, unit: FigureUnit::Time, limit, ours, bound });
        }
    }
    if wanted(WARM) {
        figures.push(measure_warm(stage, rounds)?);
    }
    if wanted(START_NAME) {
        let mut version = stage.command(&stage.mcparley);
        let samples = compare_programs(rounds, &mut [version.arg("--version")])?;
        let ours = samples.into_iter().next().unwrap_or_default();
        let (name, unit) = (START_NAME.to_owned(), FigureUnit::Time);
        figures.push(BenchFigure::Alone { name, unit, ours, bound: START });
    }
    Ok(figures)
}

/// Measures `mcparley tools` with a cached catalog, against reading and parsing the configuration and all that
/// earlier runs have left in the home.
fn measure_warm(stage: &BenchStage, rounds: usize) -> io::Result<BenchFigure> {
    let configuration = stage.write_configuration(20)?;
    let mut ours = stage.command(&stage.mcparley);
    ours.arg("--mcp-config").arg(&configuration).args(["--strict-mcp-config", "tools"]);
    let mut limit = stage.command(&stage.limit);
    limit.arg("read").arg(&configuration).arg(stage.home());
    // The warm-up round also fills the cache.
    let samples = compare_programs(rounds, &mut [&mut limit, &mut ours])?;
    let [limit, ours] = <[_; 2]>::try_from(samples).unwrap_or_default();
    Ok(BenchFigure::Compared {
        name: WARM.to_owned(),
        unit: FigureUnit::Time,
        limit,
        ours,
        bound: FigureBound::AtMost(4.0),
    })
}

/// The command `mcparley list` with exactly these servers.
pub(crate) fn list_command(stage: &BenchStage, configuration: &Path) -> Command {
    let mut command = stage.command(&stage.mcparley);
    command.arg("--mcp-config").arg(configuration).args(["--strict-mcp-config", "list"]);
    command
}

/// The command `mcparley call` of the first of these servers.
pub(crate) fn call_command(stage: &BenchStage, configuration: &Path) -> Command {
    let mut command = stage.command(&stage.mcparley);
    command.arg("--mcp-config").arg(configuration).arg("--strict-mcp-config");
    command.args(["call", "s00", "echo", "size=100"]);
    command
}

/// Runs all programs in every round.
pub(crate) fn compare_programs(
    rounds: usize,
    programs: &mut [&mut Command],
) -> io::Result<Vec<rounds::RoundSamples>> {
    rounds::run_rounds(rounds, programs.len(), |contender| {
        let program = programs.get_mut(contender).ok_or(io::ErrorKind::NotFound)?;
        let times = (0..RUNS).map(|_| time_program(program)).collect::<io::Result<_>>()?;
        Ok(median(times))
    })
}

/// Runs a program; returns the seconds from before its start to after its exit.
fn time_program(program: &mut Command) -> io::Result<f64> {
    let start = Instant::now();
    let status = program.status()?;
    let took = start.elapsed().as_secs_f64();
    if status.success() { Ok(took) } else { Err(io::Error::other(format!("{program:?} failed: {status}"))) }
}
