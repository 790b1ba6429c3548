//! The result size limit: decides how much of a result is returned to the caller.

use std::sync::Arc;

use mcparley_model::config::TransportKind;
use serde_json::json;

use super::bind::BoundTool;
use super::built_in::outcome_from_json;
use super::requested_call::Call;
use crate::call_error::CallError;
use crate::host::Host;
use mcparley_catalog::{BuiltIn, ToolProvider};
use mcparley_results::{CallOutcome, ForwardableOutcome, fits_budget};

impl Host {
    /// Shortens an outcome that is too long for a model and stores the whole; a host without result limit
    /// returns it as it is.
    pub(super) async fn limit_outcome(
        &self,
        (call, bound): (&Call, &BoundTool),
        outcome: ForwardableOutcome,
    ) -> ForwardableOutcome {
        let Some(results) = self.result_limiter().filter(|_| bound.has_result_limit()) else {
            return outcome;
        };
        let room = bound.result_budget;
        let outcome = match outcome {
            ForwardableOutcome::Scanned(scanned) if scanned.fits_budget(room) => {
                return ForwardableOutcome::Scanned(scanned);
            }
            outcome => outcome.into_outcome(),
        };
        if fits_budget(&outcome, room) {
            return ForwardableOutcome::Shaped(outcome);
        }
        // Boxed: this rare, large future would enlarge the future of every call.
        let results = results.for_owner(call.client_account());
        let fitted = Box::pin(results.fit_outcome(outcome, room, bound.entry.name.as_str())).await;
        ForwardableOutcome::Shaped(fitted)
    }

    /// Runs the tool `ReadResult`. Its output is bounded by itself, so it is returned as it is.
    pub(super) async fn run_read_result(&self, call: &Call) -> Result<CallOutcome, CallError> {
        let own = |message: String| CallError::BuiltInTool { message: Arc::from(message) };
        let Some(results) = self.result_limiter() else {
            return Err(own("this host stores no results".to_owned()));
        };
        let most = self.roster().result_budget.max_bytes();
        let results = results.for_owner(call.client_account());
        let text =
            results.read_result(&call.arguments, most).await.map_err(|error| own(error.to_string()))?;
        outcome_from_json(&json!({ "content": [{ "type": "text", "text": text }] }))
    }
}

impl BoundTool {
    /// Whether the size limit applies to the tool's results. `ReadResult` bounds itself, and results of an
    /// editor are never shortened.
    fn has_result_limit(&self) -> bool {
        match &self.entry.provider {
            ToolProvider::Host(BuiltIn::ReadResult) | ToolProvider::SignIn { .. } => return false,
            ToolProvider::Host(_) | ToolProvider::Server(_) => {}
        }
        let kind = self.connection.as_ref().map(|connection| connection.config.kind());
        match kind {
            Some(TransportKind::SseIde | TransportKind::WsIde) => false,
            Some(
                TransportKind::Stdio
                | TransportKind::Sse
                | TransportKind::Http
                | TransportKind::Ws
                | TransportKind::Sdk
                | TransportKind::ClaudeAiProxy,
            )
            | None => true,
        }
    }
}
