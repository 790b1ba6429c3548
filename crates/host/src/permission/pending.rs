//! Remembers denied calls that wait for the user's permission, with the command that gives it.
//!
//! The error that a model gets does not contain that command: a model that can run commands would allow
//! itself the denied call. The command is stored here, for the user.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use mcparley_model::limits::PENDING_BYTES;
use mcparley_model::permission::{
    Decision, DecisionReason, PermissionMode, PermissionRule, PermissionVerdict, RuleKind,
};
use mcparley_model::text::shell_word;
use mcparley_model::time::unix_seconds;
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
    /// The rule that asks, if one does: rules that allow would have no effect beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask_rule: Option<String>,
}

impl PendingCall {
    /// The command that allows the tool from now on.
    #[must_use]
    pub fn allow_command(&self) -> String {
        match &self.ask_rule {
            Some(rule) => format!("mcparley permissions remove {}", shell_word(rule)),
            None => format!("mcparley permissions allow {}", shell_word(&self.tool)),
        }
    }

    /// Whether these rules no longer stop the call: one allows the tool, or the one that asks is gone.
    #[must_use]
    pub fn is_settled_by(&self, rules: &[Arc<PermissionRule>]) -> bool {
        let has_rule =
            |kind: RuleKind, text: &str| rules.iter().any(|rule| rule.kind() == kind && rule.text() == text);
        match &self.ask_rule {
            Some(rule) => !has_rule(RuleKind::Ask, rule),
            None => has_rule(RuleKind::Allow, &self.tool),
        }
    }

    pub(crate) fn new(tool: &str, decision: &Decision, paths: &Paths) -> Self {
        Self {
            tool: tool.to_owned(),
            at: unix_seconds(SystemTime::now()),
            project: paths.project_key(),
            reason: decision.why.to_string(),
            ask_rule: asking_rule(decision).map(|rule| rule.text().to_owned()),
        }
    }

    /// Appends the call to the file, if there is one. A line that cannot be written is only missing from a
    /// list.
    pub(crate) fn append_to_file(&self, file: Option<&Path>) {
        let Some((file, line)) = file.zip(serde_json::to_string(self).ok()) else { return };
        let _unwritten = file::append_log_lines(file, &format!("{line}\n"), PENDING_BYTES);
    }
}

/// The rule that asks for permission, if one did.
fn asking_rule(decision: &Decision) -> Option<&PermissionRule> {
    match &decision.why {
        DecisionReason::Rule { rule } if decision.verdict == PermissionVerdict::Ask => Some(rule),
        DecisionReason::Rule { .. }
        | DecisionReason::NobodyToAsk { .. }
        | DecisionReason::Mode { .. }
        | DecisionReason::Classifier { .. }
        | DecisionReason::Changed { .. }
        | DecisionReason::ServerReplaced { .. }
        | DecisionReason::Unreviewed
        | DecisionReason::Hook { .. } => None,
    }
}

/// Whether the user could permit the call by a command: with an allow rule for the tool, or by removing the
/// rule that asks, where no person could be asked.
pub(crate) fn waits_for_permission(decision: &Decision, has_person: bool) -> bool {
    match &decision.why {
        DecisionReason::Mode { mode } => *mode != PermissionMode::Plan,
        DecisionReason::Rule { .. } => asking_rule(decision).is_some() && !has_person,
        DecisionReason::NobodyToAsk { rule } => rule.is_none(),
        DecisionReason::Classifier { .. }
        | DecisionReason::Changed { .. }
        | DecisionReason::ServerReplaced { .. }
        | DecisionReason::Unreviewed => true,
        DecisionReason::Hook { .. } => false,
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
