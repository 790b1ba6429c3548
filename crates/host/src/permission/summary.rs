//! The facts of a permission question as plain values, so that another process can ask it.

use mcparley_model::permission::DecisionReason;
use mcparley_model::tool::ToolHints;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::question::PermissionQuestion;

/// The facts of a permission question. Its texts come from the server and are untrusted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionSummary {
    /// The server; `None` for a tool of the host.
    pub server: Option<String>,
    /// The name of the tool at its server.
    pub tool: String,
    /// The description of the tool.
    pub description: String,
    /// The declared effects of the tool.
    pub hints: ToolHints,
    /// The arguments of the call, in full.
    pub arguments: Value,
    /// The reason of the question.
    pub reason: String,
    /// The change of the tool's definition since it was first seen or last reviewed.
    pub change: Option<String>,
    /// Whether an "always allow" rule would have an effect. A rule that asks goes before rules that allow.
    pub offers_always: bool,
}

impl From<&PermissionQuestion<'_>> for PermissionSummary {
    fn from(question: &PermissionQuestion<'_>) -> Self {
        let PermissionQuestion { entry, arguments, decision, change } = question;
        let is_asked_each_time =
            matches!(decision.why, DecisionReason::Rule { .. } | DecisionReason::Hook { .. });
        Self {
            server: entry.server().map(|server| server.as_str().to_owned()),
            tool: entry.tool.name.as_str().to_owned(),
            description: entry.tool.description.to_string(),
            hints: entry.tool.hints,
            arguments: (*arguments).clone(),
            reason: decision.why.to_string(),
            change: change.map(ToString::to_string),
            offers_always: !is_asked_each_time && entry.server().is_some() && entry.trust().is_some(),
        }
    }
}
