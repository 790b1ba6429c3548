//! Remembers calls that wait for a person's permission, with the command that gives it.
//!
//! What a model is told does not contain that command: a model that can run commands would allow itself what it was
//! denied. It stands here, for the person.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use mcparley_model::limits::PENDING_BYTES;
use mcparley_model::permission::{Decision, Mode, Why};
use mcparley_model::text::shell_word;
use mcparley_platform::file;
use serde::{Deserialize, Serialize};

use crate::paths::Paths;

/// A tool that a model wanted to use and was not allowed to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PendingCall {
    /// The tool's public name.
    pub tool: String,
    /// When it was denied, in seconds since 1970.
    pub at: u64,
    /// The project it was wanted in.
    pub project: String,
    /// Why it was denied.
    pub reason: String,
}

impl PendingCall {
    /// The command that allows it from now on.
    #[must_use]
    pub fn command(&self) -> String {
        format!("mcparley permissions allow {}", shell_word(&self.tool))
    }

    pub(super) fn new(tool: &str, decision: &Decision, paths: &Paths) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            tool: tool.to_owned(),
            at: since.map_or(0, |since| since.as_secs()),
            project: paths.project_key(),
            reason: decision.why.to_string(),
        }
    }

    /// Adds it to the file, if there is one. A line that cannot be written is only missing from a list.
    pub(super) fn keep(&self, file: Option<&Path>) {
        let Some((file, line)) = file.zip(serde_json::to_string(self).ok()) else { return };
        let _unwritten = file::append(file, &format!("{line}\n"), PENDING_BYTES);
    }
}

/// Whether a rule that allows the tool would have let the call happen.
pub(super) fn waits_for_permission(decision: &Decision) -> bool {
    match &decision.why {
        Why::Mode { mode } => *mode != Mode::Plan,
        Why::NobodyToAsk { rule } => rule.is_none(),
        Why::Classifier { .. } | Why::Changed { .. } | Why::ServerReplaced { .. } | Why::Unreviewed => true,
        Why::Rule { .. } | Why::Hook { .. } => false,
    }
}

/// The tools of this project that were denied for want of permission, the latest first.
#[must_use]
pub fn pending_calls(paths: &Paths) -> Vec<PendingCall> {
    let read = paths.pending.as_deref().map(|path| file::read(path, PENDING_BYTES * 2));
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
