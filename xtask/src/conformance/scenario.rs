//! Runs one scenario: the suite starts the client, and no process of either is left behind.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use super::plan::Scenario;
use super::suite::ConformanceSuite;
use super::table::ScenarioRow;
use super::verdict::{ScenarioExit, SuiteChecks, evaluate_scenario};
use crate::error::ChoreError;

/// The time that the suite may take in addition to the client's limit.
pub(super) const BESIDE: Duration = Duration::from_secs(15);
const MOMENT: Duration = Duration::from_millis(20);

/// The script that starts the client and stores its exit code: the suite counts a killed client as
/// successful. Of a client that times out the suite ends only the shell around it.
const CLIENT: &str = r#"kept=$1
shift
"$@" &
client=$!
trap 'kill -KILL $client; exit 124' TERM
wait $client
code=$?
echo $code >"$kept"
exit $code
"#;

/// The context shared by all scenarios.
#[derive(Debug)]
pub(super) struct ScenarioRunner<'a> {
    pub(super) suite: &'a ConformanceSuite,
    /// The command of the client.
    pub(super) client: &'a str,
    pub(super) limit: Duration,
}

impl ScenarioRunner<'_> {
    /// Runs one scenario and evaluates it.
    pub(super) fn run_scenario(&self, scenario: &Scenario) -> Result<ScenarioRow, ChoreError> {
        let folder = self.suite.results().join(scenario.selection).join(scenario.name.replace('/', "_"));
        prepare_folder(&folder)?;
        let begun = Instant::now();
        let mut child = self.start_suite(scenario, &folder)?;
        let suite =
            wait_until(&mut child, begun + self.limit + BESIDE).map_err(ChoreError::file_error(&folder))?;
        // A leftover client would disturb later scenarios; if there is none, the kill fails, which is fine.
        kill_process_group(Pid::from_child(&child), Signal::KILL).unwrap_or_default();
        let end = ScenarioExit { suite, client: read_exit_code(&folder.join("exit")) };
        let checks = SuiteChecks::from_items(&read_checks(&folder));
        let verdict = evaluate_scenario(&checks, end);
        Ok(ScenarioRow { scenario: scenario.clone(), checks, end, verdict, took: begun.elapsed() })
    }

    /// Starts the suite with an empty home and a minimal environment: a developer's configuration must not
    /// matter.
    fn start_suite(&self, scenario: &Scenario, folder: &Path) -> Result<Child, ChoreError> {
        let create = |name: &str| {
            let path = folder.join(name);
            File::create(&path).map_err(ChoreError::file_error(&path))
        };
        let script = folder.join("client.sh");
        std::fs::write(&script, CLIENT).map_err(ChoreError::file_error(&script))?;
        let client = format!("sh {} {} {}", script.display(), folder.join("exit").display(), self.client);
        let mut command = Command::new(self.suite.node());
        command
            .arg(self.suite.program())
            .args(["client", "--force", "--scenario", &scenario.name, "--command", &client])
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

pub(super) fn prepare_folder(folder: &Path) -> Result<(), ChoreError> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(ChoreError::file_error(folder))?;
    }
    let home = folder.join("home");
    std::fs::create_dir_all(&home).map_err(ChoreError::file_error(&home))
}

/// Waits for the exit code; none when the process had to be killed.
pub(super) fn wait_until(child: &mut Child, deadline: Instant) -> std::io::Result<Option<i32>> {
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        thread::sleep(MOMENT);
    }
    kill_process_group(Pid::from_child(child), Signal::KILL)?;
    child.wait().map(|_| None)
}

fn read_exit_code(path: &Path) -> Option<i32> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// The results that the suite wrote; it names its folder by the time.
pub(super) fn read_checks(folder: &Path) -> Value {
    let found = find_checks_file(&folder.join("suite"));
    let text = found.and_then(|path| std::fs::read_to_string(path).ok());
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

fn find_checks_file(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    entries.filter_map(Result::ok).map(|entry| entry.path()).find_map(|path| match path.is_dir() {
        true => find_checks_file(&path),
        false => path.ends_with("checks.json").then_some(path),
    })
}
