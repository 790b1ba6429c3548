//! The outcome of a tool call as a word, the same as in the audit log, for the transport that counts the call.

use std::sync::{Arc, OnceLock};

use mcparley::CallError;
use mcparley::results::ForwardableOutcome;

use crate::session::GatewaySession;

/// The word of a parked call, which the audit log records at its end.
const INPUT_REQUIRED: &str = "input-required";

/// The place for the outcome of one request.
#[derive(Clone, Debug, Default)]
pub struct OutcomeSlot(Arc<OnceLock<&'static str>>);

impl OutcomeSlot {
    /// The outcome: `ok`, `tool-error`, `denied`, `failed`, or `input-required` for a round that ends with a question.
    #[must_use]
    pub fn outcome_word(&self) -> Option<&'static str> {
        self.0.get().copied()
    }
}

impl GatewaySession {
    /// The session for one request, with a place for its outcome.
    #[must_use]
    pub fn with_outcome_slot(mut self, slot: &OutcomeSlot) -> Self {
        self.outcome = slot.clone();
        self
    }

    /// Notes the outcome of a call that has ended.
    pub(crate) fn note_outcome(&self, done: &Result<ForwardableOutcome, CallError>) {
        self.note_word(match done {
            Ok(outcome) if outcome.is_error() => "tool-error",
            Ok(_) => "ok",
            Err(CallError::Denied { .. }) => "denied",
            Err(CallError::Unfinished { .. }) => INPUT_REQUIRED,
            Err(_) => "failed",
        });
    }

    /// Notes that the call waits for its client.
    pub(crate) fn note_question(&self) {
        self.note_word(INPUT_REQUIRED);
    }

    fn note_word(&self, word: &'static str) {
        let _first = self.outcome.0.set(word).is_ok();
    }
}
