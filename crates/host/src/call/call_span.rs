//! The `tracing` span of a call: its server, its tool and its outcome, never arguments or results.

use mcparley_catalog::CatalogEntry;
use mcparley_model::name::ServerName;
use mcparley_results::ForwardableOutcome;
use tracing::field::Empty;
use tracing::{Span, info, info_span};

use super::requested_call::Call;
use crate::call_error::CallError;

impl Call {
    /// Opens the span of the call, if a subscriber wants it. Its fields are recorded when they are known.
    pub(super) fn open_span(&mut self) -> Option<Span> {
        let span = info_span!("call", server = Empty, tool = Empty, outcome = Empty);
        if span.is_disabled() {
            return None;
        }
        self.span = Some(Box::new(span.clone()));
        Some(span)
    }

    /// Records the tool that the call was bound to. The requested name is not recorded: a model may write
    /// any text there.
    pub(super) fn record_tool(&self, entry: &CatalogEntry) {
        if let Some(span) = &self.span {
            span.record("server", entry.server().map(ServerName::as_str));
            span.record("tool", entry.name.as_str());
        }
    }

    /// Records the outcome of the call.
    pub(super) fn record_outcome(&self, result: &Result<ForwardableOutcome, CallError>) {
        if let Some(span) = &self.span {
            span.record("outcome", outcome_name(result));
        }
        if let Err(CallError::Denied { tool, decision, .. }) = result {
            let parent = self.span.as_deref().and_then(Span::id);
            info!(parent: parent, tool = tool.as_str(), by = ?decision.decider(), "call denied");
        }
    }
}

fn outcome_name(result: &Result<ForwardableOutcome, CallError>) -> &'static str {
    match result {
        Ok(outcome) if outcome.is_error() => "tool-error",
        Ok(_) => "ok",
        Err(error) => error.kind(),
    }
}
