//! The command line, from its start to its end, against the least that the same work can cost.

use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::figure::{Bound, Figure, Unit};
use crate::rounds::{self, median};
use crate::stage::Stage;

/// How many runs one sample of a round is the middle of.
const RUNS: usize = 3;

/// A number of servers, and what is promised for it.
const SIZES: [(usize, Bound); 2] = [(1, Bound::AtMost(4.0)), (20, Bound::AtMost(2.0))];

/// The name of the figure for servers that were seen before.
const WARM: &str = "`mcparley tools`, 20 servers seen before, limit is `mcparley plan`";

pub(crate) fn measure(
    stage: &Stage,
    rounds: usize,
    wanted: &dyn Fn(&str) -> bool,
) -> io::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (count, bound) in SIZES {
        let configuration = stage.configuration(count)?;
        let commands = [("list", list(stage, &configuration)), ("call", call(stage, &configuration))];
        for (word, mut ours) in commands {
            let name = format!("`mcparley {word}`, {count} server{}", if count == 1 { "" } else { "s" });
            if !wanted(&name) {
                continue;
            }
            if !stage.command(&stage.mcparley).args([word, "--help"]).status()?.success() {
                figures.push(Figure::Missing { name, why: "not there yet".to_owned() });
                continue;
            }
            let mut limit = stage.command(&stage.limit);
            limit.arg(count.to_string()).arg(&stage.server);
            let samples = compare(rounds, &mut [&mut limit, &mut ours])?;
            let [limit, ours] = <[_; 2]>::try_from(samples).unwrap_or_default();
            figures.push(Figure::Compared { name, unit: Unit::Time, limit, ours, bound });
        }
    }
    if wanted(WARM) {
        figures.push(warm(stage, rounds)?);
    }
    Ok(figures)
}

/// `mcparley tools` of servers that it has seen before, against reading their configuration alone.
fn warm(stage: &Stage, rounds: usize) -> io::Result<Figure> {
    let configuration = stage.configuration(20)?;
    let command = |word| {
        let mut command = stage.command(&stage.mcparley);
        command.arg("--mcp-config").arg(&configuration).args(["--strict-mcp-config", word]);
        command
    };
    // The round that does not count is also the one that makes the servers known.
    let samples = compare(rounds, &mut [&mut command("plan"), &mut command("tools")])?;
    let [limit, ours] = <[_; 2]>::try_from(samples).unwrap_or_default();
    Ok(Figure::Compared { name: WARM.to_owned(), unit: Unit::Time, limit, ours, bound: Bound::AtMost(1.5) })
}

/// `mcparley list` with just these servers.
pub(crate) fn list(stage: &Stage, configuration: &Path) -> Command {
    let mut command = stage.command(&stage.mcparley);
    command.arg("--mcp-config").arg(configuration).args(["--strict-mcp-config", "list"]);
    command
}

/// `mcparley call` of the first of these servers.
pub(crate) fn call(stage: &Stage, configuration: &Path) -> Command {
    let mut command = stage.command(&stage.mcparley);
    command.arg("--mcp-config").arg(configuration).arg("--strict-mcp-config");
    command.args(["call", "s00", "echo", "size=100"]);
    command
}

/// Runs all programs in every round.
pub(crate) fn compare(rounds: usize, programs: &mut [&mut Command]) -> io::Result<Vec<rounds::Samples>> {
    rounds::run(rounds, programs.len(), |contender| {
        let program = programs.get_mut(contender).ok_or(io::ErrorKind::NotFound)?;
        let times = (0..RUNS).map(|_| time(program)).collect::<io::Result<_>>()?;
        Ok(median(times))
    })
}

/// From before its start to after its end, in seconds.
fn time(program: &mut Command) -> io::Result<f64> {
    let start = Instant::now();
    let status = program.status()?;
    let took = start.elapsed().as_secs_f64();
    if status.success() { Ok(took) } else { Err(io::Error::other(format!("{program:?} failed: {status}"))) }
}
