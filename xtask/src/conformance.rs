//! `cargo xtask conformance`: the official suite against a client, one process of the suite for each scenario.
//!
//! The suite's own way to run many scenarios looks neither at the client's exit code nor at time-outs, and runs
//! them all at once. Which scenarios there are is decided in [`plan`], what counts as passed in [`verdict`].
//! There is no list of what may fail.

mod plan;
mod scenario;
mod suite;
mod table;
mod verdict;

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::error::ChoreError;
use crate::step::Step;
use plan::Scenario;
use scenario::Runner;
use suite::Suite;
use table::Row;

/// What is to be run, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Wishes {
    /// The client, a program with arguments separated by spaces; the server's URL is put behind them
    ///
    /// Unless given, the example `conformance_client` is built and run.
    #[arg(long, value_name = "COMMAND")]
    client: Option<String>,
    /// How many scenarios run at a time
    #[arg(long, default_value = "2", value_name = "COUNT")]
    jobs: NonZeroUsize,
    /// How many seconds a client has
    #[arg(long, default_value = "20", value_name = "SECONDS")]
    limit: u64,
    /// Only scenarios in whose selection and name, such as `2026-07-28 auth/dpop`, one of these occurs
    #[arg(value_name = "TEXT")]
    only: Vec<String>,
}

/// Runs them and prints one table.
pub(crate) fn run(wishes: &Wishes) -> Result<(), ChoreError> {
    let suite = Suite::ready()?;
    let client = match &wishes.client {
        Some(command) => command.clone(),
        None => example()?,
    };
    let mut scenarios = plan::all(&suite)?;
    let is_wanted = |scenario: &Scenario| {
        wishes.only.is_empty() || wishes.only.iter().any(|text| scenario.to_string().contains(text))
    };
    scenarios.retain(is_wanted);
    let results = suite.results();
    let runner = Runner { suite: &suite, client: &client, limit: Duration::from_secs(wishes.limit) };
    let rows = run_all(&runner, &scenarios, wishes.jobs.get())?;
    print!("{}", table::render(&rows));
    judge(&rows, &results)
}

fn judge(rows: &[Row], results: &Path) -> Result<(), ChoreError> {
    let failed = rows.iter().filter(|row| !row.is_passed()).count();
    match failed {
        0 if !rows.is_empty() => Ok(()),
        _ => Err(ChoreError::Conformance { failed, all: rows.len(), results: results.to_owned() }),
    }
}

fn example() -> Result<String, ChoreError> {
    let build = ["build", "--release", "--package", "mcparley", "--example", "conformance_client"];
    Ok(Step::cargo(&build).built()?.to_string_lossy().into_owned())
}

/// The rows in the order of the scenarios.
fn run_all(runner: &Runner<'_>, scenarios: &[Scenario], jobs: usize) -> Result<Vec<Row>, ChoreError> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = || {
        while let Some(scenario) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
            let row = runner.run(scenario);
            done.lock().unwrap_or_else(PoisonError::into_inner).push(row);
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(work);
        }
    });
    let rows = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut rows = rows.into_iter().collect::<Result<Vec<Row>, ChoreError>>()?;
    rows.sort_by_key(|row| scenarios.iter().position(|scenario| *scenario == row.scenario));
    Ok(rows)
}

#[cfg(test)]
mod tests;
