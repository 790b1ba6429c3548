//! One audit record, and the JSON line it becomes.
//!
//! The expensive parts (hashes, JSON) are computed when the record is written, not while a call waits.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcparley_model::name::ServerName;
use mcparley_model::permission::{Decider, Decision, PermissionVerdict};
use mcparley_model::signature::Signature;
use mcparley_model::time::unix_milliseconds;
use serde::Serialize;
use serde_json::Value;

use super::{AuditSource, RefusedRequest};
use mcparley_catalog::CatalogEntry;
use mcparley_pool::principal::ClientIdentity;

/// The audit record of a call that has ended.
#[derive(Debug)]
pub(super) struct AuditRecord {
    pub(super) at: SystemTime,
    pub(super) took: Duration,
    pub(super) agent: Option<String>,
    /// The client of a gateway.
    pub(super) client: Option<Arc<ClientIdentity>>,
    pub(super) tool: CalledTool,
    pub(super) decided: Option<(Decision, Decider)>,
    pub(super) ended: AuditOutcome,
    pub(super) argument_bytes: usize,
    /// The refused request, if the record is not of a call.
    pub(super) refused: Option<RefusedRequest>,
    number: u64,
    lost: u64,
}

/// The tool that was called, or the name that no tool has.
#[derive(Debug)]
pub(super) enum CalledTool {
    /// A tool of the catalog.
    Tool { entry: Arc<CatalogEntry>, server: Option<(ServerName, Signature)> },
    /// A name that is not in the catalog; sanitized and shortened.
    UnknownName(String),
}

/// The outcome of a call in the audit log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AuditOutcome {
    /// The call returned a result.
    Result { is_error: bool, bytes: usize, is_stored: bool },
    /// The call was not permitted.
    Denied,
    /// The call failed with this kind of error.
    Failed(&'static str),
    /// The call was canceled: its future was dropped.
    Cancelled,
    /// The call was permitted, and handed to the daemon.
    Detached,
}

/// One line of the audit file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AuditLine<'r> {
    number: u64,
    unix_milliseconds: u64,
    session: &'r str,
    pid: u32,
    door: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    principal: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    principal_name: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'r ServerName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server_hash: Option<Signature>,
    tool: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    original: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_hash: Option<Arc<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<PermissionVerdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_by: Option<Decider>,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<Rc<Value>>,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'static str>,
    milliseconds: f64,
    argument_bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_stored: Option<bool>,
    #[serde(skip_serializing_if = "is_zero")]
    lost: u64,
}

/// One line of the audit file for a refused request.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RefusalLine<'r> {
    number: u64,
    unix_milliseconds: u64,
    session: &'r str,
    pid: u32,
    door: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    principal: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    principal_name: Option<&'r str>,
    outcome: &'static str,
    failure: &'static str,
    path: &'r str,
    address: &'r str,
    #[serde(skip_serializing_if = "is_zero")]
    lost: u64,
}

fn is_zero(lost: &u64) -> bool {
    *lost == 0
}

impl AuditRecord {
    pub(super) fn new(tool: CalledTool, agent: Option<String>, took: Duration) -> Self {
        let (at, decided, ended) = (SystemTime::now(), None, AuditOutcome::Cancelled);
        Self {
            at,
            took,
            agent,
            client: None,
            tool,
            decided,
            ended,
            argument_bytes: 0,
            refused: None,
            number: 0,
            lost: 0,
        }
    }

    pub(super) fn with_number(self, number: u64, lost: u64) -> Self {
        Self { number, lost, ..self }
    }

    pub(super) fn lost_count(&self) -> u64 {
        self.lost
    }

    /// Writes the record as one JSON line, with its line break.
    fn write_json_line<'r>(&'r self, source: &AuditSource, batch: &mut RecordBatch<'r>, lines: &mut Vec<u8>) {
        let unix_milliseconds = unix_milliseconds(self.at);
        let principal = self.client.as_ref().map(|client| &*client.account);
        let principal_name = self.client.as_ref().and_then(|client| client.distinct_name());
        if let Some(RefusedRequest { reason, path, address, client: _ }) = &self.refused {
            let line = RefusalLine {
                number: self.number,
                unix_milliseconds,
                session: &source.session,
                pid: std::process::id(),
                door: &source.door,
                principal,
                principal_name,
                outcome: "refused",
                failure: reason,
                path,
                address,
                lost: self.lost,
            };
            // The line holds only strings and numbers, so serializing cannot fail.
            let _written = serde_json::to_writer(&mut *lines, &line);
            lines.push(b'\n');
            return;
        }
        let (entry, server, name) = match &self.tool {
            CalledTool::Tool { entry, server } => (Some(entry), server.as_ref(), entry.name.as_str()),
            CalledTool::UnknownName(name) => (None, None, name.as_str()),
        };
        let (outcome, failure, result_bytes) = self.ended.line_fields();
        let result_stored =
            matches!(self.ended, AuditOutcome::Result { is_stored: true, .. }).then_some(true);
        let line = AuditLine {
            number: self.number,
            unix_milliseconds,
            session: &source.session,
            pid: std::process::id(),
            door: &source.door,
            agent: self.agent.as_deref(),
            principal,
            principal_name,
            server: server.map(|(name, _)| name),
            server_hash: server.map(|(_, signature)| *signature),
            tool: name,
            original: entry.map(|entry| entry.tool.name.as_str()),
            tool_hash: entry.map(|entry| batch.tool_hash(entry)),
            decision: self.decided.as_ref().map(|(decision, _)| final_verdict(decision, self.ended)),
            decided_by: self.decided.as_ref().map(|(_, by)| *by),
            because: self.decided.as_ref().and_then(|(decision, by)| batch.reason(decision, *by)),
            outcome,
            failure,
            milliseconds: self.took.as_secs_f64() * 1000.0,
            argument_bytes: self.argument_bytes,
            result_bytes,
            result_stored,
            lost: self.lost,
        };
        // The line holds only strings and numbers, so serializing cannot fail.
        let _written = serde_json::to_writer(&mut *lines, &line);
        lines.push(b'\n');
    }
}

/// Writes records as JSON lines.
pub(super) fn write_json_lines(records: &[AuditRecord], source: &AuditSource) -> String {
    let (mut batch, mut lines) = (RecordBatch::default(), Vec::new());
    records.iter().for_each(|record| record.write_json_line(source, &mut batch, &mut lines));
    // JSON is UTF-8.
    String::from_utf8(lines).unwrap_or_default()
}

/// Values that the records of one batch share. The hash of a definition takes longer than all other work on
/// a record, and the records of a batch have few tools and reasons.
#[derive(Debug, Default)]
struct RecordBatch<'r> {
    tool_hashes: HashMap<*const CatalogEntry, Arc<str>>,
    /// The reason of the record before.
    reason: Option<(&'r Decision, Decider, Option<Rc<Value>>)>,
}

impl<'r> RecordBatch<'r> {
    /// The hash of a tool's definition.
    fn tool_hash(&mut self, entry: &Arc<CatalogEntry>) -> Arc<str> {
        // The records of the batch keep their entries alive, so no two of them have the same address.
        let hash = self.tool_hashes.entry(Arc::as_ptr(entry));
        Arc::clone(hash.or_insert_with(|| entry.tool.digest().to_string().into()))
    }

    /// The recorded reason of a decision.
    fn reason(&mut self, decision: &'r Decision, by: Decider) -> Option<Rc<Value>> {
        match &self.reason {
            Some((known, decider, reason)) if known.why == decision.why && *decider == by => reason.clone(),
            Some(_) | None => {
                let reason = recorded_reason(decision, by).map(Rc::new);
                self.reason = Some((decision, by, reason.clone()));
                reason
            }
        }
    }
}

impl AuditOutcome {
    fn line_fields(self) -> (&'static str, Option<&'static str>, Option<usize>) {
        match self {
            Self::Result { is_error: false, bytes, .. } => ("ok", None, Some(bytes)),
            Self::Result { is_error: true, bytes, .. } => ("tool-error", None, Some(bytes)),
            Self::Denied => ("denied", None, None),
            Self::Failed(kind) => ("failed", Some(kind), None),
            Self::Cancelled => ("cancelled", None, None),
            Self::Detached => ("detached", None, None),
        }
    }
}

/// The final verdict: a question counts as its answer, allow or deny.
fn final_verdict(decision: &Decision, ended: AuditOutcome) -> PermissionVerdict {
    match (decision.verdict, ended) {
        (_, AuditOutcome::Denied) => PermissionVerdict::Deny,
        (PermissionVerdict::Ask, _) => PermissionVerdict::Allow,
        (verdict @ (PermissionVerdict::Allow | PermissionVerdict::Deny), _) => verdict,
    }
}

/// The recorded reason of a decision, without the free text of hooks and classifiers: that text may repeat
/// arguments. A user's consent has no further reason.
fn recorded_reason(decision: &Decision, by: Decider) -> Option<Value> {
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
