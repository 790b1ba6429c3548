//! What is told of one server: what was tried, how it ended, why, and what to do. Masked: it may be pasted anywhere.

use std::time::Duration;

use mcparley_model::config::Kind;
use mcparley_model::limits::LOG_LINE_CHARS;
use mcparley_model::name::ServerName;
use mcparley_model::plan::{Caution, Planned, ServerStanding};
use mcparley_model::scope::{Origin, Scope};
use mcparley_model::text::{Untrusted, cut};
use mcparley_wire::{Exit, Failure};
use serde::Serialize;

use super::cause::Diagnosis;
use super::facts;
use crate::connect::{Passed, Stage, milliseconds};
use crate::health::{Checked, Health, Stray};

/// How many of the last lines of standard error are told: a stack has a dozen, and the reason stands above it.
const STDERR_LINES: usize = 20;

/// One server that was looked into.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Examined {
    /// Its name.
    pub name: ServerName,
    /// How it is, in one word.
    pub is: Verdict,
    /// Where it comes from.
    pub scope: Scope,
    /// Where its entry stands.
    pub origin: Origin,
    /// How it is reached.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// What the plan says of it.
    pub standing: ServerStanding,
    /// Why it does not work, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<Diagnosis>,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<Trouble>,
    /// What it offers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offers: Option<Offers>,
    /// What is not as it should be, though it works.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What deserves a second look before it runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cautions: Vec<Caution>,
    /// What it wrote to its standard output that was no message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stray: Option<Stray>,
    /// How long it took until it had told what it offers, or failed.
    #[serde(rename = "milliseconds", serialize_with = "milliseconds")]
    pub took: Duration,
    /// What was tried, part by part.
    pub phases: Vec<Passed>,
}

/// How a server is, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It works.
    Works,
    /// It works, and not all of it is as it should be.
    Flawed,
    /// It should work and does not.
    Broken,
    /// It is not meant to run now.
    Resting,
}

/// How a server that does not work ended.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Trouble {
    /// The error.
    pub error: String,
    /// Its kind, in one word.
    pub failure: &'static str,
    /// What stood in the way, in one word, of a server that could not be started or reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<&'static str>,
    /// The code the process exited with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// The HTTP status it answered with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// The end of what it wrote to its standard error.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stderr: Vec<String>,
}

/// What a server that works offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Offers {
    /// The revision of the protocol that was agreed on.
    pub protocol: &'static str,
    /// How many tools.
    pub tools: usize,
    /// How many prompts.
    pub prompts: usize,
    /// How many resources.
    pub resources: usize,
}

impl Examined {
    pub(super) fn resting(server: &Planned, diagnosis: Option<Diagnosis>) -> Self {
        let is = match server.standing {
            ServerStanding::Invalid(_) => Verdict::Broken,
            ServerStanding::Ready
            | ServerStanding::NeedsApproval(_)
            | ServerStanding::Rejected { .. }
            | ServerStanding::Blocked(_)
            | ServerStanding::Disabled { .. }
            | ServerStanding::Shadowed { .. }
            | ServerStanding::Duplicate { .. }
            | ServerStanding::Skipped(_) => Verdict::Resting,
        };
        Self { diagnosis, ..Self::of(server, is) }
    }

    pub(super) fn tried(server: &Planned, checked: &Checked, diagnosis: Option<Diagnosis>) -> Self {
        let notes = notes(checked);
        let (is, trouble, offers) = match &checked.health {
            Health::Failed { failure, stderr } => (Verdict::Broken, Some(Trouble::of(failure, stderr)), None),
            Health::Connected { spoken, surface } => {
                let is = match (surface.total_failure(), notes.is_empty()) {
                    (Some(_), _) => Verdict::Broken,
                    (None, true) => Verdict::Works,
                    (None, false) => Verdict::Flawed,
                };
                let offers = Offers {
                    protocol: spoken.version().as_str(),
                    tools: surface.tools.len(),
                    prompts: surface.prompts.len(),
                    resources: surface.resources.len(),
                };
                (is, None, Some(offers))
            }
        };
        let phases = checked.passed.iter().filter(|passed| is_telling(passed.stage, server.kind)).cloned();
        Self {
            diagnosis,
            trouble,
            offers,
            notes,
            stray: checked.stray.clone(),
            took: checked.took,
            phases: phases.collect(),
            ..Self::of(server, is)
        }
    }

    fn of(server: &Planned, is: Verdict) -> Self {
        Self {
            name: server.name.clone(),
            is,
            scope: server.scope,
            origin: server.origin.clone(),
            kind: server.kind,
            standing: server.standing.clone(),
            diagnosis: None,
            trouble: None,
            offers: None,
            notes: Vec::new(),
            cautions: server.cautions.clone(),
            stray: None,
            took: Duration::ZERO,
            phases: Vec::new(),
        }
    }
}

impl Trouble {
    fn of(failure: &Failure, stderr: &Untrusted) -> Self {
        let mut exit = Exit::default();
        if let Failure::Closed { exit: Some(told), .. } = failure {
            exit = *told;
        }
        let mut stood = None;
        if let Failure::Refused { obstacle, .. } = failure {
            stood = Some(obstacle.as_str());
        }
        Self {
            error: failure.to_string(),
            failure: facts::word(failure),
            obstacle: stood,
            exit_code: exit.code,
            signal: exit.signal,
            http_status: facts::status(failure),
            stderr: last_lines(stderr),
        }
    }
}

fn last_lines(text: &Untrusted) -> Vec<String> {
    let clean = text.clean();
    let lines: Vec<&str> = clean.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let last = lines.iter().skip(lines.len().saturating_sub(STDERR_LINES));
    last.map(|line| cut(line, LOG_LINE_CHARS).into_owned()).collect()
}

/// What is not as it should be with a server that works.
fn notes(checked: &Checked) -> Vec<String> {
    let Health::Connected { surface, .. } = &checked.health else { return Vec::new() };
    let mut notes = surface.notes();
    if let Some(stray) = &checked.stray {
        notes.push(format!(
            "{} line(s) on its standard output are not MCP; logs belong on standard error",
            stray.lines
        ));
    }
    if checked.passed.iter().any(|passed| passed.stage == Stage::Legacy) {
        notes.push(
            "it speaks only the transport of 2024-11-05; `\"type\": \"sse\"` in its entry saves a detour"
                .to_owned(),
        );
    }
    if notes.is_empty()
        && surface.tools.is_empty()
        && surface.prompts.is_empty()
        && surface.resources.is_empty()
    {
        notes.push("it offers no tools, no prompts and no resources".to_owned());
    }
    notes
}

/// Nothing happens when a server behind a URL is made ready: its first answer is its connection.
fn is_telling(stage: Stage, kind: Option<Kind>) -> bool {
    !(stage == Stage::Open && kind == Some(Kind::Http))
}
