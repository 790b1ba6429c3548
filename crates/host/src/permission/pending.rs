//! Remembers denied calls that wait for the user's permission, with the command that gives it.
//!
//! The error that a model gets does not contain that command: a model that can run commands would allow
//! itself the denied call. The command is stored here, for the user.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use mcparley_model::limits::PENDING_BYTES;
use mcparley_model::permission::{Decision, DecisionReason, PermissionMode};
use mcparley_model::text::shell_word;
use mcparley_platform::file;
use serde::{Deserialize, Serialize};

use mcparley_config::Paths;

/// A tool that a model wanted to use and was not permitted to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PendingCall {
    /// The tool's public name.
    pub tool: String,
    /// The time of the denial, in seconds since 1970.
    pub at: u64,
    /// The project of the call.
    pub project: String,
    /// The reason of the denial.
    pub reason: String,
}

impl PendingCall {
    /// The command that allows the tool from now on.
    #[must_use]
    pub fn allow_command(&self) -> String {
        format!("mcparley permissions allow {}", shell_word(&self.tool))
    }

    pub(crate) fn new(tool: &str, decision: &Decision, paths: &Paths) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            tool: tool.to_owned(),
            at: since.map_or(0, |since| since.as_secs()),
            project: paths.project_key(),
            reason: decision.why.to_string(),
        }
    }

    /// Appends the call to the file, if there is one. A line that cannot be written is only missing from a
    /// list.
    pub(crate) fn append_to_file(&self, file: Option<&Path>) {
        let Some((file, line)) = file.zip(serde_json::to_string(self).ok()) else { return };
        let _unwritten = file::append_log_lines(file, &format!("{line}\n"), PENDING_BYTES);
    }
}

/// Whether an allow rule for the tool would have permitted the call.
pub(crate) fn waits_for_permission(decision: &Decision) -> bool {
    match &decision.why {
        DecisionReason::Mode { mode } => *mode != PermissionMode::Plan,
        DecisionReason::NobodyToAsk { rule } => rule.is_none(),
        DecisionReason::Classifier { .. }
        | DecisionReason::Changed { .. }
        | DecisionReason::ServerReplaced { .. }
        | DecisionReason::Unreviewed => true,
        DecisionReason::Rule { .. } | DecisionReason::Hook { .. } => false,
    }
}

/// The tools of this project that were denied for lack of permission, the latest first.
#[must_use]
pub fn pending_calls(paths: &Paths) -> Vec<PendingCall> {
    let read = paths.pending.as_deref().map(|path| file::read_text(path, PENDING_BYTES * 2));
    let Some(Ok(Some(text))) = read else { return Vec::new() };
    let calls = text.text.lines().rev().filter_map(|line| serde_json::from_str::<PendingCall>(line).ok());
    let mut found: Vec<PendingCall> = Vec::new();
    for call in calls.filter(|call| call.project == paths.project_key()) {
        if !found.iter().any(|known| known.tool == call.tool) {
            found.push(call);
        }
    }
    found
}
