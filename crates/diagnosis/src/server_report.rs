//! The examination of one server: steps, failure, diagnosis. Secrets are masked, since the user may paste it
//! anywhere.

use std::time::Duration;

use mcparley_config::plan::{Caution, PlanStatus, PlannedServer};
use mcparley_model::config::TransportKind;
use mcparley_model::limits::LOG_LINE_CHARS;
use mcparley_model::name::ServerName;
use mcparley_model::scope::{ConfigOrigin, Scope};
use mcparley_model::text::{Untrusted, truncate_text};
use mcparley_model::time::serialize_milliseconds;
use mcparley_wire::{Failure, ServerExit};
use serde::Serialize;

use crate::cause::Diagnosis;
use crate::facts;
use mcparley_pool::connect::{ConnectStage, StageTiming};
use mcparley_pool::health::{CheckedServer, ServerHealth, StrayOutput};

/// The number of last stderr lines in the report: a stack trace has a dozen, and the reason precedes it.
const STDERR_LINES: usize = 20;

/// The examination of one server.
#[derive(Clone, Debug, Serialize)]
pub struct ServerExamination {
    /// The server name.
    pub name: ServerName,
    /// The verdict in one word.
    pub is: HealthVerdict,
    /// The scope of the entry.
    pub scope: Scope,
    /// The file and line of the entry.
    pub origin: ConfigOrigin,
    /// The transport type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<TransportKind>,
    /// The plan status.
    pub standing: PlanStatus,
    /// The diagnosis, for a server that does not work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<Diagnosis>,
    /// The failure, for a server that was tried and does not work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<FailureDetails>,
    /// The counts of tools, prompts and resources, for a server that works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offers: Option<OfferCounts>,
    /// Minor problems of a server that works.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Security cautions about the entry.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cautions: Vec<Caution>,
    /// Lines on standard output that are not MCP messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stray: Option<StrayOutput>,
    /// The time until the lists were complete, or until the failure.
    #[serde(rename = "milliseconds", serialize_with = "serialize_milliseconds")]
    pub took: Duration,
    /// The steps of connecting, with their times.
    pub phases: Vec<StageTiming>,
}

/// The verdict about a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HealthVerdict {
    /// The server works.
    Works,
    /// The server works, with minor problems.
    Flawed,
    /// The server should work and does not.
    Broken,
    /// The server may not run.
    Resting,
}

/// The failure of a server that does not work.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FailureDetails {
    /// The error message.
    pub error: String,
    /// The kind of failure, in one word.
    pub failure: &'static str,
    /// The obstacle, in one word, if the server could not be started or reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<&'static str>,
    /// The exit code of the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// The HTTP status of the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// The last lines of standard error.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stderr: Vec<String>,
}

/// The offer of a server that works, as counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OfferCounts {
    /// The negotiated protocol revision.
    pub protocol: &'static str,
    /// The number of tools.
    pub tools: usize,
    /// The number of prompts.
    pub prompts: usize,
    /// The number of resources.
    pub resources: usize,
}

impl ServerExamination {
    pub(crate) fn for_idle_server(server: &PlannedServer, diagnosis: Option<Diagnosis>) -> Self {
        let is = match server.status {
            PlanStatus::Invalid(_) => HealthVerdict::Broken,
            PlanStatus::Ready
            | PlanStatus::NeedsApproval(_)
            | PlanStatus::Rejected { .. }
            | PlanStatus::Blocked(_)
            | PlanStatus::Disabled { .. }
            | PlanStatus::Shadowed { .. }
            | PlanStatus::Duplicate { .. }
            | PlanStatus::Skipped(_) => HealthVerdict::Resting,
        };
        Self { diagnosis, ..Self::from_planned(server, is) }
    }

    pub(crate) fn from_check(
        server: &PlannedServer,
        checked: &CheckedServer,
        diagnosis: Option<Diagnosis>,
    ) -> Self {
        let notes = collect_notes(checked);
        let (is, trouble, offers) = match &checked.health {
            ServerHealth::Failed { failure, stderr } => {
                (HealthVerdict::Broken, Some(FailureDetails::from_failure(failure, stderr)), None)
            }
            ServerHealth::Connected { protocol, surface } => {
                let is = match (surface.total_failure(), notes.is_empty()) {
                    (Some(_), _) => HealthVerdict::Broken,
                    (None, true) => HealthVerdict::Works,
                    (None, false) => HealthVerdict::Flawed,
                };
                let offers = OfferCounts {
                    protocol: protocol.version().as_str(),
                    tools: surface.tools.len(),
                    prompts: surface.prompts.len(),
                    resources: surface.resources.len(),
                };
                (is, None, Some(offers))
            }
        };
        let phases =
            checked.stages.iter().filter(|passed| is_reported_stage(passed.stage, server.kind)).cloned();
        Self {
            diagnosis,
            trouble,
            offers,
            notes,
            stray: checked.stray.clone(),
            took: checked.took,
            phases: phases.collect(),
            ..Self::from_planned(server, is)
        }
    }

    fn from_planned(server: &PlannedServer, is: HealthVerdict) -> Self {
        Self {
            name: server.name.clone(),
            is,
            scope: server.scope,
            origin: server.origin.clone(),
            kind: server.kind,
            standing: server.status.clone(),
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

impl FailureDetails {
    fn from_failure(failure: &Failure, stderr: &Untrusted) -> Self {
        let mut exit = ServerExit::default();
        if let Failure::Closed { exit: Some(told), .. } = failure {
            exit = *told;
        }
        let mut stood = None;
        if let Failure::Refused { obstacle, .. } = failure {
            stood = Some(obstacle.as_str());
        }
        Self {
            error: failure.to_string(),
            failure: facts::failure_word(failure),
            obstacle: stood,
            exit_code: exit.code,
            signal: exit.signal,
            http_status: facts::http_status(failure),
            stderr: last_lines(stderr),
        }
    }
}

fn last_lines(text: &Untrusted) -> Vec<String> {
    let clean = text.clean_text();
    let lines: Vec<&str> = clean.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let last = lines.iter().skip(lines.len().saturating_sub(STDERR_LINES));
    last.map(|line| truncate_text(line, LOG_LINE_CHARS).into_owned()).collect()
}

/// Minor problems of a server that works.
fn collect_notes(checked: &CheckedServer) -> Vec<String> {
    let ServerHealth::Connected { surface, .. } = &checked.health else { return Vec::new() };
    let mut notes = surface.notes();
    if let Some(stray) = &checked.stray {
        notes.push(format!(
            "{} line(s) on standard output are not MCP; logs belong on standard error",
            stray.lines
        ));
    }
    if checked.stages.iter().any(|passed| passed.stage == ConnectStage::Legacy) {
        notes.push(
            "the server supports only the 2024-11-05 transport; set `\"type\": \"sse\"` in its entry to connect faster"
                .to_owned(),
        );
    }
    if notes.is_empty()
        && surface.tools.is_empty()
        && surface.prompts.is_empty()
        && surface.resources.is_empty()
    {
        notes.push("the server offers no tools, prompts or resources".to_owned());
    }
    notes
}

/// Whether a step is reported. Opening an HTTP transport does no work, so its step would only confuse.
fn is_reported_stage(stage: ConnectStage, kind: Option<TransportKind>) -> bool {
    !(stage == ConnectStage::Open && kind == Some(TransportKind::Http))
}
