//! The pass criteria, which are stricter than those of the suite.

use serde_json::Value;

/// The lowest exit code of a crash: from here on it means a panic or a signal, never a reported error.
const CRASH: i32 = 101;

/// The scenario that the pinned suite skips whatever the server does: its checks are not written yet.
const UNCHECKED: &str = "tasks-status-notifications";

/// The counted checks of the suite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SuiteChecks {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) warned: usize,
    pub(super) skipped: usize,
    /// The names of checks that failed or warned, each once.
    pub(super) bad: Vec<String>,
}

/// The exit codes of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScenarioExit {
    /// The suite's exit code; none when the suite had to be killed. Zero means that an error of the client,
    /// if there was one, was expected.
    pub(super) suite: Option<i32>,
    /// The client's exit code; none when the client timed out.
    pub(super) client: Option<i32>,
}

/// The verdict on a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ScenarioVerdict {
    Passed,
    Failed(String),
}

impl SuiteChecks {
    /// Counts the items of a `checks.json`.
    pub(super) fn from_items(items: &Value) -> Self {
        let mut checks = Self::default();
        for item in items.as_array().into_iter().flatten() {
            let status = item["status"].as_str().unwrap_or_default();
            match status {
                "SUCCESS" => checks.passed += 1,
                "FAILURE" => checks.failed += 1,
                "WARNING" => checks.warned += 1,
                "SKIPPED" => checks.skipped += 1,
                // INFO has no bearing on the verdict.
                _ => {}
            }
            let id = item["id"].as_str().unwrap_or("unnamed").to_owned();
            if matches!(status, "FAILURE" | "WARNING") && !checks.bad.contains(&id) {
                checks.bad.push(id);
            }
        }
        checks
    }
}

/// Evaluates one scenario; the verdict names the first failure.
pub(super) fn evaluate_scenario(checks: &SuiteChecks, end: ScenarioExit) -> ScenarioVerdict {
    let reason = match (end.client, end.suite) {
        (None, _) => "the client timed out".to_owned(),
        (Some(code), _) if code >= CRASH => format!("the client crashed with exit code {code}"),
        _ if !checks.bad.is_empty() => checks.bad.join(" "),
        (_, None) => "the suite did not exit".to_owned(),
        (Some(0), Some(0)) if checks.passed == 0 => "nothing was checked".to_owned(),
        (Some(_), Some(0)) if checks.passed > 0 => return ScenarioVerdict::Passed,
        (Some(0), Some(code)) => format!("the suite exited with code {code}"),
        (Some(code), _) => format!("the client exited with code {code}"),
    };
    ScenarioVerdict::Failed(reason)
}

/// Evaluates one scenario of the server side, where the suite's exit code is the only one.
pub(super) fn evaluate_server_scenario(
    name: &str,
    checks: &SuiteChecks,
    suite: Option<i32>,
) -> ScenarioVerdict {
    let is_checked = checks.passed > 0 || name == UNCHECKED && checks.skipped > 0;
    let reason = match suite {
        _ if !checks.bad.is_empty() => checks.bad.join(" "),
        None => "the suite did not exit".to_owned(),
        Some(0) if is_checked => return ScenarioVerdict::Passed,
        Some(0) => "nothing was checked".to_owned(),
        Some(code) => format!("the suite exited with code {code}"),
    };
    ScenarioVerdict::Failed(reason)
}
