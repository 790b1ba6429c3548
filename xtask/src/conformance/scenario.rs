//! Runs one scenario: the suite starts the client, and nothing of either is left behind.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use super::plan::Scenario;
use super::suite::Suite;
use super::table::Row;
use super::verdict::{Checks, End, judge};
use crate::error::ChoreError;

/// What the suite may take beside the client.
const BESIDE: Duration = Duration::from_secs(15);
const MOMENT: Duration = Duration::from_millis(20);

/// Starts the client and keeps its exit code: the suite takes one that was killed for one that ended well. Of a
/// client that runs out of time the suite ends only the shell around it.
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

/// What all scenarios share.
#[derive(Debug)]
pub(super) struct Runner<'a> {
    pub(super) suite: &'a Suite,
    /// The command of the client.
    pub(super) client: &'a str,
    pub(super) limit: Duration,
}

impl Runner<'_> {
    /// Runs one scenario and judges it.
    pub(super) fn run(&self, scenario: &Scenario) -> Result<Row, ChoreError> {
        let folder = self.suite.results().join(scenario.selection).join(scenario.name.replace('/', "_"));
        prepare(&folder)?;
        let begun = Instant::now();
        let mut child = self.start(scenario, &folder)?;
        let suite = wait(&mut child, begun + self.limit + BESIDE).map_err(ChoreError::file(&folder))?;
        // A client that still runs would disturb the scenarios after it; without one there is nobody to end.
        kill_process_group(Pid::from_child(&child), Signal::KILL).unwrap_or_default();
        let end = End { suite, client: number(&folder.join("exit")) };
        let checks = Checks::count(&checks(&folder));
        let verdict = judge(&checks, end);
        Ok(Row { scenario: scenario.clone(), checks, end, verdict, took: begun.elapsed() })
    }

    /// With an empty home and hardly an environment: what a developer has configured must not matter.
    fn start(&self, scenario: &Scenario, folder: &Path) -> Result<Child, ChoreError> {
        let create = |name: &str| {
            let path = folder.join(name);
            File::create(&path).map_err(ChoreError::file(&path))
        };
        let script = folder.join("client.sh");
        std::fs::write(&script, CLIENT).map_err(ChoreError::file(&script))?;
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

fn prepare(folder: &Path) -> Result<(), ChoreError> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(ChoreError::file(folder))?;
    }
    let home = folder.join("home");
    std::fs::create_dir_all(&home).map_err(ChoreError::file(&home))
}

/// The exit code; none when it had to be killed.
fn wait(child: &mut Child, deadline: Instant) -> std::io::Result<Option<i32>> {
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        thread::sleep(MOMENT);
    }
    kill_process_group(Pid::from_child(child), Signal::KILL)?;
    child.wait().map(|_| None)
}

fn number(path: &Path) -> Option<i32> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// What the suite wrote; it names its folder by the time.
fn checks(folder: &Path) -> Value {
    let found = find(&folder.join("suite"));
    let text = found.and_then(|path| std::fs::read_to_string(path).ok());
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

fn find(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    entries.filter_map(Result::ok).map(|entry| entry.path()).find_map(|path| match path.is_dir() {
        true => find(&path),
        false => path.ends_with("checks.json").then_some(path),
    })
}
