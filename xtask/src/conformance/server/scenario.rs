//! Runs one scenario of the suite against a server that is already running.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::super::plan::Scenario;
use super::super::scenario::{BESIDE, prepare_folder, read_checks, wait_until};
use super::super::suite::ConformanceSuite;
use super::super::table::ScenarioRow;
use super::super::verdict::{ScenarioExit, SuiteChecks, evaluate_server_scenario};
use crate::error::ChoreError;

/// The context of a scenario.
#[derive(Debug)]
pub(super) struct ServerScenario<'a> {
    pub(super) suite: &'a ConformanceSuite,
    /// The address of the server.
    pub(super) url: &'a str,
    pub(super) limit: Duration,
}

impl ServerScenario<'_> {
    /// Runs one scenario and evaluates it.
    pub(super) fn run_scenario(&self, scenario: &Scenario) -> Result<ScenarioRow, ChoreError> {
        let folder = self.suite.results().join(scenario.selection).join(&scenario.name);
        prepare_folder(&folder)?;
        let begun = Instant::now();
        let mut child = self.start_suite(scenario, &folder)?;
        let suite =
            wait_until(&mut child, begun + self.limit + BESIDE).map_err(ChoreError::file_error(&folder))?;
        let checks = SuiteChecks::from_items(&read_checks(&folder));
        let verdict = evaluate_server_scenario(&scenario.name, &checks, suite);
        let end = ScenarioExit { suite, client: None };
        Ok(ScenarioRow { scenario: scenario.clone(), checks, end, verdict, took: begun.elapsed() })
    }

    fn start_suite(&self, scenario: &Scenario, folder: &Path) -> Result<Child, ChoreError> {
        let create = |name: &str| {
            let path = folder.join(name);
            File::create(&path).map_err(ChoreError::file_error(&path))
        };
        let mut command = Command::new(self.suite.node());
        command
            .arg(self.suite.program())
            .args(["server", "--force", "--scenario", &scenario.name, "--url", self.url])
            .args(["--spec-version", scenario.revision, "--timeout", &self.limit.as_millis().to_string()])
            .arg("-o")
            .arg(folder.join("suite"))
            .current_dir(folder)
            .env_clear()
            .env("HOME", folder.join("home"))
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(create("stdout")?)
            .stderr(create("stderr")?);
        let line = scenario.to_string();
        command.spawn().map_err(|source| ChoreError::Start { line, source })
    }
}
