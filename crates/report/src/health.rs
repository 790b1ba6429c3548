//! The health report of one server after a check.

use mcparley::config::plan::PlannedServer;
use mcparley::model::text::{display_line, truncate_text};
use mcparley::pool::health::{CheckedServer, ServerHealth};
use mcparley_wire::Failure;
use serde::Serialize;

use super::sign_in_hint_after_check;
use super::stderr::reason_lines;

/// The maximum number of stderr characters in the report.
const STDERR_CHARS: usize = 2000;

/// The maximum number of stderr lines in the text output.
const STDERR_LINES: usize = 3;

/// The health of one server, for `--json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HealthReport {
    is: &'static str,
    milliseconds: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompts: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resources: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    stderr: String,
}

impl HealthReport {
    /// Reports the health of one server.
    #[must_use]
    pub fn from_check(server: &PlannedServer, checked: &CheckedServer) -> Self {
        let milliseconds = u64::try_from(checked.took.as_millis()).unwrap_or(u64::MAX);
        let empty = Self {
            is: "failed",
            milliseconds,
            protocol: None,
            tools: None,
            prompts: None,
            resources: None,
            notes: Vec::new(),
            error: None,
            hint: None,
            stderr: String::new(),
        };
        match &checked.health {
            ServerHealth::Connected { protocol, surface } => {
                let withheld = surface.withheld.iter().map(|withheld| format!("withheld: {withheld}"));
                let gaps = surface.gaps.iter().map(ToString::to_string);
                Self {
                    is: if checked.is_usable() { "connected" } else { "failed" },
                    error: surface.total_failure().map(ToString::to_string),
                    protocol: Some(protocol.version().as_str()),
                    tools: Some(surface.tools.len()),
                    prompts: Some(surface.prompts.len()),
                    resources: Some(surface.resources.len()),
                    notes: withheld.chain(gaps).collect(),
                    ..empty
                }
            }
            ServerHealth::Failed { failure, stderr } => Self {
                is: if checked.wants_sign_in { "needs-auth" } else { "failed" },
                error: Some(failure.to_string()),
                hint: if checked.wants_sign_in {
                    Some(sign_in_hint_after_check(checked, server))
                } else {
                    hint(failure)
                },
                stderr: truncate_text(stderr.clean_text().trim(), STDERR_CHARS).into_owned(),
                ..empty
            },
        }
    }

    /// The lines printed below the line of the server: notes, stderr, hint.
    pub fn detail_lines(&self) -> Vec<String> {
        let said = reason_lines(&self.stderr, STDERR_LINES);
        let said = said.into_iter().map(|line| format!("stderr: {}", display_line(line)));
        let hint = self.hint.iter().map(|hint| format!("hint: {hint}"));
        self.notes.iter().cloned().chain(said).chain(hint).collect()
    }
}

/// The health of a server in a few words, for its line in `list`.
pub fn health_summary(checked: &CheckedServer) -> String {
    let took = checked.took.as_millis();
    match &checked.health {
        ServerHealth::Connected { surface, .. } if !checked.is_usable() => {
            let why = surface.total_failure().map(ToString::to_string).unwrap_or_default();
            format!("failed: the server answers, but all lists failed: {why}")
        }
        ServerHealth::Connected { protocol, surface } => {
            format!("connected ({} tools, {}, {took} ms)", surface.tools.len(), protocol.version().as_str())
        }
        ServerHealth::Failed { failure: Failure::Unauthorized { .. }, .. } if checked.wants_sign_in => {
            "needs sign-in".to_owned()
        }
        ServerHealth::Failed { failure, .. } if checked.wants_sign_in => format!("needs sign-in: {failure}"),
        ServerHealth::Failed { failure, .. } => format!("failed: {failure}"),
    }
}

fn hint(failure: &Failure) -> Option<String> {
    match failure {
        Failure::Refused { hint, .. } => hint.as_deref().map(str::to_owned),
        Failure::TimedOut { .. } => Some("set `MCP_TIMEOUT=60000` to wait longer".to_owned()),
        _ => None,
    }
}
