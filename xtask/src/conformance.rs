//! `cargo xtask conformance`: runs the official suite against a client or the gateway, with one suite process
//! per scenario.
//!
//! A whole run is compared with `docs/conformance.md`, which [`page`] renders from such a run.
//!
//! The suite's own runner ignores the client's exit code and timeouts, and runs all scenarios at once. The
//! scenarios are listed in [`plan`] and [`server`], the pass criteria are in [`verdict`]. There is no list of expected
//! failures.

mod page;
mod plan;
mod scenario;
mod server;
mod suite;
mod table;
mod verdict;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
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

/// The side of the protocol that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum MeasuredSide {
    /// The client
    Client,
    /// The gateway before an upstream server
    Server,
    /// First the client, then the gateway
    Both,
}

/// The options of a conformance run.
#[derive(Debug, clap::Args)]
pub(crate) struct ConformanceOptions {
    /// The client, a program with arguments separated by spaces; the server's URL is put behind them
    ///
    /// Unless given, the example `conformance_client` is built and run.
    #[arg(long, value_name = "COMMAND")]
    client: Option<String>,
    /// The side to measure
    #[arg(long, value_enum, default_value = "both", value_name = "SIDE")]
    side: MeasuredSide,
    /// The gateway, a program with arguments separated by spaces; `serve` and its options are put behind them
    ///
    /// Unless given, `mcparley` is built and run.
    #[arg(long, value_name = "COMMAND")]
    server: Option<String>,
    /// Measure the upstream server itself, without a gateway
    #[arg(long)]
    direct: bool,
    /// The program with the upstream server; unless given, `mcparley-testkit` is built
    #[arg(long, value_name = "PATH")]
    testkit: Option<PathBuf>,
    /// Number of scenarios to run at a time
    #[arg(long, default_value = "2", value_name = "COUNT")]
    jobs: NonZeroUsize,
    /// Seconds until a client times out
    #[arg(long, default_value = "20", value_name = "SECONDS")]
    limit: u64,
    /// Write `docs/conformance.md` from this run; otherwise a whole run is compared with that page
    #[arg(long, conflicts_with_all = ["client", "server", "direct", "testkit", "side", "only"])]
    write: bool,
    /// Only scenarios with one of these texts in their selection and name, such as `2026-07-28 auth/dpop`
    #[arg(value_name = "TEXT")]
    only: Vec<String>,
}

impl ConformanceOptions {
    fn wants(&self, scenario: &Scenario) -> bool {
        self.only.is_empty() || self.only.iter().any(|text| scenario.to_string().contains(text))
    }

    /// Whether all scenarios run against the programs of this workspace, as the page describes it.
    fn is_whole_run(&self) -> bool {
        let has_own_programs = self.client.is_none() && self.server.is_none() && self.testkit.is_none();
        has_own_programs && !self.direct && self.side == MeasuredSide::Both && self.only.is_empty()
    }
}

/// Runs the selected scenarios and prints one table.
pub(crate) fn run_conformance(wishes: &ConformanceOptions) -> Result<(), ChoreError> {
    let suite = ConformanceSuite::install()?;
    let mut rows = Vec::new();
    // The options of the server side ask for that side.
    let side = if wishes.direct || wishes.server.is_some() { MeasuredSide::Server } else { wishes.side };
    if side != MeasuredSide::Server {
        rows.extend(run_client_side(&suite, wishes)?);
    }
    if side != MeasuredSide::Client {
        rows.extend(server::run_legs(&suite, wishes)?);
    }
    print!("{}", table::render_table(&rows));
    if wishes.write {
        page::write_page(&rows)?;
    }
    check_rows(&rows, &suite.results())?;
    if wishes.is_whole_run() { page::check_page(&rows) } else { Ok(()) }
}

fn run_client_side(
    suite: &ConformanceSuite,
    wishes: &ConformanceOptions,
) -> Result<Vec<ScenarioRow>, ChoreError> {
    let mut scenarios = plan::all_scenarios(suite)?;
    scenarios.retain(|scenario| wishes.wants(scenario));
    if scenarios.is_empty() {
        return Ok(Vec::new());
    }
    let client = match &wishes.client {
        Some(command) => command.clone(),
        None => build_example_client()?,
    };
    let runner = ScenarioRunner { suite, client: &client, limit: Duration::from_secs(wishes.limit) };
    run_all(&runner, &scenarios, wishes.jobs.get())
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
