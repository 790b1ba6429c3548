//! Why a server could not be connected to.

use std::sync::Arc;

use mcparley_model::text::Untrusted;
use mcparley_wire::{Failure, Obstacle};

/// A server that could not be connected to.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{failure}")]
pub struct ConnectError {
    /// Why.
    #[source]
    pub failure: Failure,
    /// The end of what it wrote to its standard error: often the real reason.
    pub stderr: Untrusted,
}

impl ConnectError {
    pub(crate) fn refused(reason: &str) -> Self {
        Self::obstructed(Obstacle::Other, reason)
    }

    fn obstructed(obstacle: Obstacle, reason: &str) -> Self {
        let failure = Failure::Refused { obstacle, reason: Arc::from(reason), hint: None };
        Self { failure, stderr: Untrusted::default() }
    }

    /// Connecting ended without a word, by a mistake of ours.
    pub(crate) fn broken() -> Self {
        Self::refused("connecting broke off; this is a fault of mcparley")
    }

    /// What to do, when there is something to do.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match &self.failure {
            Failure::Refused { hint, .. } => hint.as_deref().map(str::to_owned),
            Failure::TimedOut { .. } => Some("`MCP_TIMEOUT` gives it more milliseconds".to_owned()),
            _ => None,
        }
    }
}
