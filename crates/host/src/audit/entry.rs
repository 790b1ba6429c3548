//! The audit entry of a call, filled while the call runs and written however it ends, also when its future is dropped.

use std::sync::Arc;
use std::time::Instant;

use mcparley_model::limits::AUDIT_NAME_CHARS;
use mcparley_model::name::ServerName;
use mcparley_model::permission::{Decider, Decision};
use mcparley_model::signature::Signature;
use mcparley_model::text::{clean, cut};
use mcparley_wire::Failure;
use serde::Serialize;

use super::Audit;
use super::record::{Called, End, Record};
use crate::call::{CallError, Outcome};
use crate::catalog::Entry;

/// The audit entry of one call; empty where no record is kept.
#[derive(Debug, Default)]
pub(crate) struct AuditEntry(Option<Box<Notes>>);

#[derive(Debug)]
struct Notes {
    audit: Arc<Audit>,
    begun: Instant,
    agent: Option<String>,
    tool: Called,
    decided: Option<(Decision, Decider)>,
    argument_bytes: usize,
    ended: Option<End>,
}

impl AuditEntry {
    /// Begins the notes of a call to what goes by this name.
    pub(crate) fn begin(audit: &Arc<Audit>, agent: Option<String>, wanted: &str) -> Self {
        let tool = Called::Nothing(cut(&clean(wanted), AUDIT_NAME_CHARS).into_owned());
        let (audit, begun) = (Arc::clone(audit), Instant::now());
        let notes = Notes { audit, begun, agent, tool, decided: None, argument_bytes: 0, ended: None };
        Self(Some(Box::new(notes)))
    }

    /// Whether anything is noted.
    pub(crate) fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn found(&mut self, entry: &Arc<Entry>, server: Option<(ServerName, Signature)>) {
        if let Some(notes) = &mut self.0 {
            notes.tool = Called::Tool { entry: Arc::clone(entry), server };
        }
    }

    pub(crate) fn sized(&mut self, arguments: &impl Serialize) {
        if let Some(notes) = &mut self.0 {
            notes.argument_bytes = size(arguments);
        }
    }

    pub(crate) fn decided(&mut self, decision: &Decision, by: Decider) {
        if let Some(notes) = &mut self.0 {
            notes.decided = Some((decision.clone(), by));
        }
    }

    pub(crate) fn ended(&mut self, result: &Result<Outcome, CallError>) {
        let Some(notes) = &mut self.0 else { return };
        notes.ended = Some(match result {
            Ok(outcome) => {
                let (is_error, is_stored) = (outcome.is_error, !outcome.stored.is_empty());
                End::Result { is_error, bytes: outcome.raw.as_bytes().len(), is_stored }
            }
            Err(CallError::Denied { decision, .. }) => {
                notes.decided.get_or_insert_with(|| (decision.as_ref().clone(), decision.decider()));
                End::Denied
            }
            Err(error) => End::Failed(kind(error)),
        });
    }
}

impl Drop for Notes {
    fn drop(&mut self) {
        let nothing = Called::Nothing(String::new());
        let tool = std::mem::replace(&mut self.tool, nothing);
        let mut record = Record::new(tool, self.agent.take(), self.begun.elapsed());
        record.decided = self.decided.take();
        record.argument_bytes = self.argument_bytes;
        record.ended = self.ended.unwrap_or(End::Cancelled);
        self.audit.put(record);
    }
}

/// Counts what would be written.
#[derive(Default)]
struct Count(usize);

impl std::io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn size(value: &impl Serialize) -> usize {
    let mut count = Count::default();
    // Counting cannot fail, and what cannot be written has no size.
    let _unwritten = serde_json::to_writer(&mut count, value);
    count.0
}

/// A word for why a call gave no result. Never the text of an error: it may be a server's.
fn kind(error: &CallError) -> &'static str {
    match error {
        CallError::UnknownTool { .. } => "unknown-tool",
        CallError::UnknownServer { .. } => "unknown-server",
        CallError::Arguments { .. } => "arguments",
        CallError::Denied { .. } => "denied",
        CallError::Unavailable { .. } => "unavailable",
        CallError::Failed { failure, .. } => failed(failure),
        CallError::Rights { .. } => "rights",
        CallError::Stopped { .. } => "stopped",
        CallError::Unanswered { .. } => "unanswered",
        CallError::Own { .. } => "own",
    }
}

fn failed(failure: &Failure) -> &'static str {
    match failure {
        Failure::Refused { .. } => "refused",
        Failure::TimedOut { .. } => "timed-out",
        Failure::Closed { .. } => "closed",
        Failure::Damaged(_) => "damaged",
        Failure::Protocol(_) => "protocol",
        Failure::Answered(_) => "answered-with-error",
        Failure::TooLarge { .. } => "too-large",
        Failure::Unauthorized { .. } => "unauthorized",
        Failure::Forbidden { .. } => "forbidden",
        Failure::SessionExpired => "session-expired",
        Failure::Status { .. } => "http-status",
        Failure::QueueFull { .. } => "queue-full",
    }
}
