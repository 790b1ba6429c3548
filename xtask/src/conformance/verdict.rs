//! What counts as passed: strictly less than what the suite lets pass.

use serde_json::Value;

/// An exit code from here on means a panic or a signal, never an error that a program reports.
const CRASH: i32 = 101;

/// What the suite checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Checks {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) warned: usize,
    /// The names of those that failed or warned, each once.
    pub(super) bad: Vec<String>,
}

/// How a scenario ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    /// The suite's exit code; none when it had to be killed. Zero says that an error of the client, if there was
    /// one, was meant to be.
    pub(super) suite: Option<i32>,
    /// The client's exit code; none when it ran out of time.
    pub(super) client: Option<i32>,
}

/// What became of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    Failed(String),
}

impl Checks {
    /// Counts the items of a `checks.json`.
    pub(super) fn count(items: &Value) -> Self {
        let mut checks = Self::default();
        for item in items.as_array().into_iter().flatten() {
            let status = item["status"].as_str().unwrap_or_default();
            match status {
                "SUCCESS" => checks.passed += 1,
                "FAILURE" => checks.failed += 1,
                "WARNING" => checks.warned += 1,
                // INFO and SKIPPED say nothing about the client.
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

/// Judges one scenario; the first thing that is wrong is named.
pub(super) fn judge(checks: &Checks, end: End) -> Verdict {
    let reason = match (end.client, end.suite) {
        (None, _) => "the client ran out of time".to_owned(),
        (Some(code), _) if code >= CRASH => format!("the client crashed with exit code {code}"),
        _ if !checks.bad.is_empty() => checks.bad.join(" "),
        (_, None) => "the suite did not end".to_owned(),
        (Some(0), Some(0)) if checks.passed == 0 => "nothing was checked".to_owned(),
        (Some(_), Some(0)) if checks.passed > 0 => return Verdict::Passed,
        (Some(0), Some(code)) => format!("the suite ended with exit code {code}"),
        (Some(code), _) => format!("the client ended with exit code {code}"),
    };
    Verdict::Failed(reason)
}
