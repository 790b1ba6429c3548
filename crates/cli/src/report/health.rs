//! What was found when a server was looked at.

use mcparley::model::plan::Planned;
use mcparley::model::text::{cut, display};
use mcparley::{Checked, Health};
use mcparley_wire::Failure;
use serde::Serialize;

use super::stderr::telling_lines;
use crate::sign_in::sign_in_hint_after_check;

/// How much of a server's last words stands in a list.
const STDERR_CHARS: usize = 2000;

/// How many lines of it people see.
const STDERR_LINES: usize = 3;

/// One server's health, for `--json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HealthReport {
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
    pub(crate) fn of(server: &Planned, checked: &Checked) -> Self {
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
            Health::Connected { spoken, surface } => {
                let withheld = surface.withheld.iter().map(|withheld| format!("withheld: {withheld}"));
                let gaps = surface.gaps.iter().map(ToString::to_string);
                Self {
                    is: if checked.works() { "connected" } else { "failed" },
                    error: surface.total_failure().map(ToString::to_string),
                    protocol: Some(spoken.version().as_str()),
                    tools: Some(surface.tools.len()),
                    prompts: Some(surface.prompts.len()),
                    resources: Some(surface.resources.len()),
                    notes: withheld.chain(gaps).collect(),
                    ..empty
                }
            }
            Health::Failed { failure, stderr } => Self {
                is: if checked.wants_sign_in { "needs-auth" } else { "failed" },
                error: Some(failure.to_string()),
                hint: match checked.wants_sign_in {
                    true => Some(sign_in_hint_after_check(checked, server)),
                    false => hint(failure),
                },
                stderr: cut(stderr.clean().trim(), STDERR_CHARS).into_owned(),
                ..empty
            },
            _ => empty,
        }
    }

    /// What people see below the line.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let said = telling_lines(&self.stderr, STDERR_LINES);
        let said = said.into_iter().map(|line| format!("it said: {}", display(line)));
        let hint = self.hint.iter().map(|hint| format!("hint: {hint}"));
        self.notes.iter().cloned().chain(said).chain(hint).collect()
    }
}

/// The rest of a server's line.
pub(crate) fn summary(checked: &Checked) -> String {
    let took = checked.took.as_millis();
    match &checked.health {
        Health::Connected { surface, .. } if !checked.works() => {
            let why = surface.total_failure().map(ToString::to_string).unwrap_or_default();
            format!("failed: it answers, and offers nothing: {why}")
        }
        Health::Connected { spoken, surface } => {
            format!("connected ({} tools, {}, {took} ms)", surface.tools.len(), spoken.version().as_str())
        }
        Health::Failed { failure: Failure::Unauthorized { .. }, .. } if checked.wants_sign_in => {
            "needs sign-in".to_owned()
        }
        Health::Failed { failure, .. } if checked.wants_sign_in => format!("needs sign-in: {failure}"),
        Health::Failed { failure, .. } => format!("failed: {failure}"),
        _ => "not known".to_owned(),
    }
}

fn hint(failure: &Failure) -> Option<String> {
    match failure {
        Failure::Refused { hint, .. } => hint.as_deref().map(str::to_owned),
        Failure::TimedOut { .. } => Some("`MCP_TIMEOUT` gives it more milliseconds".to_owned()),
        _ => None,
    }
}
