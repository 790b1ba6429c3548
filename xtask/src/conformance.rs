//! `cargo xtask conformance`: runs the official suite against a client, with one suite process per scenario.
//!
//! The suite's own runner ignores the client's exit code and timeouts, and runs all scenarios at once. The
//! scenarios are listed in [`plan`], the pass criteria are in [`verdict`]. There is no list of expected
//! failures.

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
use crate::step::ChoreStep;
use plan::Scenario;
use scenario::ScenarioRunner;
use suite::ConformanceSuite;
use table::ScenarioRow;

/// The options of a conformance run.
#[derive(Debug, clap::Args)]
pub(crate) struct ConformanceOptions {
    /// The client, a program with arguments separated by spaces; the server's URL is put behind them
    ///
    /// Unless given, the example `conformance_client` is built and run.
    #[arg(long, value_name = "COMMAND")]
    client: Option<String>,
    /// Number of scenarios to run at a time
    #[arg(long, default_value = "2", value_name = "COUNT")]
    jobs: NonZeroUsize,
    /// Seconds until a client times out
    #[arg(long, default_value = "20", value_name = "SECONDS")]
    limit: u64,
    /// Only scenarios with one of these texts in their selection and name, such as `2026-07-28 auth/dpop`
    #[arg(value_name = "TEXT")]
    only: Vec<String>,
}

/// Runs the selected scenarios and prints one table.
pub(crate) fn run_conformance(wishes: &ConformanceOptions) -> Result<(), ChoreError> {
    let suite = ConformanceSuite::install()?;
    let client = match &wishes.client {
        Some(command) => command.clone(),
        None => build_example_client()?,
    };
    let mut scenarios = plan::all_scenarios(&suite)?;
    let is_wanted = |scenario: &Scenario| {
        wishes.only.is_empty() || wishes.only.iter().any(|text| scenario.to_string().contains(text))
    };
    scenarios.retain(is_wanted);
    let results = suite.results();
    let runner = ScenarioRunner { suite: &suite, client: &client, limit: Duration::from_secs(wishes.limit) };
    let rows = run_all(&runner, &scenarios, wishes.jobs.get())?;
    print!("{}", table::render_table(&rows));
    check_rows(&rows, &results)
}

fn check_rows(rows: &[ScenarioRow], results: &Path) -> Result<(), ChoreError> {
    let failed = rows.iter().filter(|row| !row.is_passed()).count();
    match failed {
        0 if !rows.is_empty() => Ok(()),
        _ => Err(ChoreError::Conformance { failed, all: rows.len(), results: results.to_owned() }),
    }
}

/// Builds the example with the command of `cargo xtask test`, so that cargo builds nothing twice for the two.
fn build_example_client() -> Result<String, ChoreError> {
    let build = ["build", "--workspace", "--bins", "--examples"];
    Ok(ChoreStep::cargo(&build).run_build("conformance_client")?.to_string_lossy().into_owned())
}

/// Runs all scenarios; the rows are in the order of the scenarios.
fn run_all(
    runner: &ScenarioRunner<'_>,
    scenarios: &[Scenario],
    jobs: usize,
) -> Result<Vec<ScenarioRow>, ChoreError> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = || {
        while let Some(scenario) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
            let row = runner.run_scenario(scenario);
            done.lock().unwrap_or_else(PoisonError::into_inner).push(row);
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(work);
        }
    });
    let rows = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut rows = rows.into_iter().collect::<Result<Vec<ScenarioRow>, ChoreError>>()?;
    rows.sort_by_key(|row| scenarios.iter().position(|scenario| *scenario == row.scenario));
    Ok(rows)
}

#[cfg(test)]
mod tests;
