//! The audit entry of a call: filled while the call runs and written however the call ends, also when its
//! future is dropped.

use std::sync::Arc;
use std::time::Instant;

use mcparley_model::limits::AUDIT_NAME_CHARS;
use mcparley_model::name::ServerName;
use mcparley_model::permission::{Decider, Decision};
use mcparley_model::signature::Signature;
use mcparley_model::text::{clean_text, truncate_text};
use serde::Serialize;

use super::AuditLog;
use super::record::{AuditOutcome, AuditRecord, CalledTool};
use crate::call_error::CallError;
use mcparley_catalog::CatalogEntry;
use mcparley_pool::principal::ClientIdentity;
use mcparley_results::ForwardableOutcome;

/// The audit entry of one call; empty where the host keeps no audit log.
#[derive(Debug, Default)]
pub(crate) struct AuditEntry(Option<Box<AuditDraft>>);

/// The values of an entry so far. Dropping them pushes the record, so that canceled calls are recorded too.
#[derive(Debug)]
struct AuditDraft {
    audit: Arc<AuditLog>,
    begun: Instant,
    agent: Option<String>,
    client: Option<Arc<ClientIdentity>>,
    tool: CalledTool,
    decided: Option<(Decision, Decider)>,
    argument_bytes: usize,
    ended: Option<AuditOutcome>,
}

impl AuditEntry {
    /// Opens the audit entry of a call to the tool with this name.
    pub(crate) fn for_call(
        audit: &Arc<AuditLog>,
        (agent, client): (Option<String>, Option<Arc<ClientIdentity>>),
        wanted: &str,
    ) -> Self {
        let tool = CalledTool::UnknownName(truncate_text(&clean_text(wanted), AUDIT_NAME_CHARS).into_owned());
        let (audit, begun) = (Arc::clone(audit), Instant::now());
        let draft =
            AuditDraft { audit, begun, agent, client, tool, decided: None, argument_bytes: 0, ended: None };
        Self(Some(Box::new(draft)))
    }

    /// Whether the host keeps an audit log, so that filling the entry is worth the work.
    pub(crate) fn is_enabled(&self) -> bool {
        self.0.is_some()
    }

    /// Sets the tool that the call was bound to, and its server.
    pub(crate) fn set_tool(&mut self, entry: &Arc<CatalogEntry>, server: Option<(ServerName, Signature)>) {
        if let Some(draft) = &mut self.0 {
            draft.tool = CalledTool::Tool { entry: Arc::clone(entry), server };
        }
    }

    /// Sets the size of the arguments. Called again when a hook changed them.
    pub(crate) fn set_argument_size(&mut self, arguments: &impl Serialize) {
        if let Some(draft) = &mut self.0 {
            draft.argument_bytes = serialized_size(arguments);
        }
    }

    /// Sets the permission decision, and the decider.
    pub(crate) fn set_decision(&mut self, decision: &Decision, by: Decider) {
        if let Some(draft) = &mut self.0 {
            draft.decided = Some((decision.clone(), by));
        }
    }

    /// Sets the outcome. An entry that is dropped without one is recorded as canceled.
    pub(crate) fn set_outcome(&mut self, result: &Result<ForwardableOutcome, CallError>) {
        let Some(draft) = &mut self.0 else { return };
        draft.ended = Some(match result {
            Ok(outcome) => {
                let (is_error, is_stored) = (outcome.is_error(), outcome.is_stored());
                AuditOutcome::Result { is_error, bytes: outcome.raw().as_bytes().len(), is_stored }
            }
            Err(CallError::Denied { decision, .. }) => {
                draft.decided.get_or_insert_with(|| (decision.as_ref().clone(), decision.decider()));
                AuditOutcome::Denied
            }
            Err(error) => AuditOutcome::Failed(error.kind()),
        });
    }

    /// Sets the outcome of a call that was handed to the daemon, or cannot be, for this kind of reason.
    pub(crate) fn set_detached(&mut self, handed_over: Result<(), &'static str>) {
        if let Some(draft) = &mut self.0 {
            draft.ended = Some(handed_over.map_or_else(AuditOutcome::Failed, |()| AuditOutcome::Detached));
        }
    }
}

impl Drop for AuditDraft {
    fn drop(&mut self) {
        let nothing = CalledTool::UnknownName(String::new());
        let tool = std::mem::replace(&mut self.tool, nothing);
        let mut record = AuditRecord::new(tool, self.agent.take(), self.begun.elapsed());
        record.client = self.client.take();
        record.decided = self.decided.take();
        record.argument_bytes = self.argument_bytes;
        record.ended = self.ended.unwrap_or(AuditOutcome::Cancelled);
        self.audit.push_record(record);
    }
}

/// A writer that only counts bytes.
#[derive(Default)]
struct ByteCounter(usize);

impl std::io::Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn serialized_size(value: &impl Serialize) -> usize {
    let mut count = ByteCounter::default();
    // Counting cannot fail, and a value that cannot be serialized has no size.
    let _unwritten = serde_json::to_writer(&mut count, value);
    count.0
}
