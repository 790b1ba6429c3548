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
    Ok(figures)
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
