//! The server side of the suite: an upstream server, the gateway before it, and the scenarios of a leg.
//!
//! With `--direct` the suite talks to the upstream itself, which shows that a failure is the gateway's. The legs
//! run side by side; the scenarios of a leg one after the other, because they share an upstream.

mod leg;
mod process;
mod scenario;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::ConformanceOptions;
use super::suite::ConformanceSuite;
use super::table::ScenarioRow;
use crate::error::ChoreError;
use crate::step::ChoreStep;
use leg::LegScenarios;
use process::LegServers;
use scenario::ServerScenario;

pub(super) use leg::{LEGS, LegNaming};

/// The programs that a leg starts.
#[derive(Debug)]
struct LegPrograms {
    testkit: PathBuf,
    /// The command of the gateway; none to measure the upstream itself.
    gateway: Option<String>,
}

/// Runs the selected legs; the rows are in the order of the legs.
pub(super) fn run_legs(
    suite: &ConformanceSuite,
    wishes: &ConformanceOptions,
) -> Result<Vec<ScenarioRow>, ChoreError> {
    let legs = select_legs(suite, wishes)?;
    let programs = build_programs(wishes)?;
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let limit = Duration::from_secs(wishes.limit);
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(leg) = legs.get(index) else { break };
            let rows = run_leg(suite, &programs, leg, limit);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((index, rows));
        }
    };
    thread::scope(|scope| {
        for _ in 0..wishes.jobs.get() {
            scope.spawn(work);
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    let mut rows = Vec::new();
    for (_, leg) in done {
        rows.extend(leg?);
    }
    Ok(rows)
}

/// The legs with the scenarios that are wanted.
fn select_legs(
    suite: &ConformanceSuite,
    wishes: &ConformanceOptions,
) -> Result<Vec<LegScenarios>, ChoreError> {
    let mut legs = Vec::new();
    for leg in LEGS.iter().filter(|leg| !wishes.direct || leg.runs_directly()) {
        let mut scenarios = LegScenarios::list(leg, suite)?;
        scenarios.scenarios.retain(|scenario| wishes.wants(scenario));
        if !scenarios.scenarios.is_empty() {
            legs.push(scenarios);
        }
    }
    Ok(legs)
}

fn build_programs(wishes: &ConformanceOptions) -> Result<LegPrograms, ChoreError> {
    let build =
        |name: &str| ChoreStep::cargo(&["build", "--workspace", "--bins", "--examples"]).run_build(name);
    let testkit = match &wishes.testkit {
        Some(path) => path.clone(),
        None => build("mcparley-testkit")?,
    };
    let gateway = match (&wishes.server, wishes.direct) {
        (_, true) => None,
        (Some(command), false) => Some(command.clone()),
        (None, false) => Some(build("mcparley")?.to_string_lossy().into_owned()),
    };
    Ok(LegPrograms { testkit, gateway })
}

fn run_leg(
    suite: &ConformanceSuite,
    programs: &LegPrograms,
    leg: &LegScenarios,
    limit: Duration,
) -> Result<Vec<ScenarioRow>, ChoreError> {
    let folder = suite.results().join(leg.name());
    let servers = LegServers::start(suite, programs, leg, &folder)?;
    let run = |scenario| {
        let run = ServerScenario { suite, url: servers.url(), limit };
        run.run_scenario(scenario)
    };
    leg.scenarios.iter().map(run).collect()
}
