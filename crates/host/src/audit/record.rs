//! One record, and the line it becomes.
//!
//! What costs time (hashes, JSON) is done when it is written, not while a call waits.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcparley_model::name::ServerName;
use mcparley_model::permission::{Decider, Decision, Verdict};
use mcparley_model::signature::Signature;
use serde::Serialize;
use serde_json::Value;

use super::Keeper;
use crate::catalog::Entry;

/// What is known of a call that has ended.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) at: SystemTime,
    pub(super) took: Duration,
    pub(super) agent: Option<String>,
    pub(super) tool: Called,
    pub(super) decided: Option<(Decision, Decider)>,
    pub(super) ended: End,
    pub(super) argument_bytes: usize,
    number: u64,
    lost: u64,
}

/// What was called.
#[derive(Debug)]
pub(super) enum Called {
    /// A tool there is.
    Tool { entry: Arc<Entry>, server: Option<(ServerName, Signature)> },
    /// A name that is no tool's; clean and cut.
    Nothing(String),
}

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A result.
    Result { is_error: bool, bytes: usize, is_stored: bool },
    /// It was not permitted.
    Denied,
    /// It gave none, for this reason.
    Failed(&'static str),
    /// Nobody waited for its end.
    Cancelled,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'r> {
    number: u64,
    unix_milliseconds: u64,
    session: &'r str,
    pid: u32,
    door: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'r ServerName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server_hash: Option<Signature>,
    tool: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    original: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_by: Option<Decider>,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<Value>,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'static str>,
    milliseconds: f64,
    argument_bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_stored: Option<bool>,
    #[serde(skip_serializing_if = "is_none_lost")]
    lost: u64,
}

fn is_none_lost(lost: &u64) -> bool {
    *lost == 0
}

impl Record {
    pub(super) fn new(tool: Called, agent: Option<String>, took: Duration) -> Self {
        let (at, decided, ended) = (SystemTime::now(), None, End::Cancelled);
        Self { at, took, agent, tool, decided, ended, argument_bytes: 0, number: 0, lost: 0 }
    }

    pub(super) fn numbered(self, number: u64, lost: u64) -> Self {
        Self { number, lost, ..self }
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// The line with its end.
    pub(super) fn line(&self, keeper: &Keeper) -> String {
        let since = self.at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let (entry, server, name) = match &self.tool {
            Called::Tool { entry, server } => (Some(entry), server.as_ref(), entry.name.as_str()),
            Called::Nothing(name) => (None, None, name.as_str()),
        };
        let (outcome, failure, result_bytes) = self.ended.told();
        let result_stored = matches!(self.ended, End::Result { is_stored: true, .. }).then_some(true);
        let line = Line {
            number: self.number,
            unix_milliseconds: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            session: &keeper.session,
            pid: std::process::id(),
            door: &keeper.door,
            agent: self.agent.as_deref(),
            server: server.map(|(name, _)| name),
            server_hash: server.map(|(_, signature)| *signature),
            tool: name,
            original: entry.map(|entry| entry.tool.name.as_str()),
            tool_hash: entry.map(|entry| entry.tool.digest().to_string()),
            decision: self.decided.as_ref().map(|(decision, _)| verdict(decision, self.ended)),
            decided_by: self.decided.as_ref().map(|(_, by)| *by),
            because: self.decided.as_ref().and_then(|(decision, by)| because(decision, *by)),
            outcome,
            failure,
            milliseconds: self.took.as_secs_f64() * 1000.0,
            argument_bytes: self.argument_bytes,
            result_bytes,
            result_stored,
            lost: self.lost,
        };
        // Texts and numbers: there is nothing in it that could not be written.
        let mut text = serde_json::to_string(&line).unwrap_or_default();
        text.push('\n');
        text
    }
}

impl End {
    fn told(self) -> (&'static str, Option<&'static str>, Option<usize>) {
        match self {
            Self::Result { is_error: false, bytes, .. } => ("ok", None, Some(bytes)),
            Self::Result { is_error: true, bytes, .. } => ("tool-error", None, Some(bytes)),
            Self::Denied => ("denied", None, None),
            Self::Failed(kind) => ("failed", Some(kind), None),
            Self::Cancelled => ("cancelled", None, None),
        }
    }
}

/// What became of a question is what counts, not that there was one.
fn verdict(decision: &Decision, ended: End) -> Verdict {
    match (decision.verdict, ended) {
        (_, End::Denied) => Verdict::Deny,
        (Verdict::Ask, _) => Verdict::Allow,
        (verdict @ (Verdict::Allow | Verdict::Deny), _) => verdict,
    }
}

/// What decided, without words that hooks and classifiers have for it: they may repeat arguments. A person's wish has no
/// other reason.
fn because(decision: &Decision, by: Decider) -> Option<Value> {
    if by == Decider::Consent {
        return None;
    }
    let mut because = serde_json::to_value(&decision.why).ok()?;
    if let Some(members) = because.as_object_mut() {
        members.shift_remove("reason");
        members.shift_remove("verdict");
    }
    Some(because)
}
