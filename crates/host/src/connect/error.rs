//! Why a server could not be connected to.

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::text::Untrusted;
use mcparley_wire::{Failure, Obstacle};

/// A server that could not be connected to.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{failure}{}", in_words(*ago))]
pub struct ConnectError {
    /// Why.
    #[source]
    pub failure: Failure,
    /// The end of what it wrote to its standard error: often the real reason.
    pub stderr: Untrusted,
    /// How long ago that was, if it is remembered from an earlier process; the server was not tried again.
    pub ago: Option<Duration>,
}

/// When a remembered failure happened, for people.
fn in_words(ago: Option<Duration>) -> String {
    match ago.map(|ago| ago.as_secs()) {
        None => String::new(),
        Some(seconds @ 0..120) => format!(" ({seconds} s ago)"),
        Some(seconds @ 120..7_200) => format!(" ({} min ago)", seconds / 60),
        Some(seconds) => format!(" ({} h ago)", seconds / 3_600),
    }
}

impl ConnectError {
    /// A failure that happened now.
    pub(crate) fn new(failure: Failure, stderr: Untrusted) -> Self {
        Self { failure, stderr, ago: None }
    }

    pub(crate) fn refused(reason: &str) -> Self {
        Self::obstructed(Obstacle::Other, reason)
    }

    fn obstructed(obstacle: Obstacle, reason: &str) -> Self {
        let failure = Failure::Refused { obstacle, reason: Arc::from(reason), hint: None };
        Self::new(failure, Untrusted::default())
    }

    /// Connecting ended without a word, by a mistake of ours.
    pub(crate) fn broken() -> Self {
        Self::refused("connecting broke off; this is a fault of mcparley")
    }

    /// What to do, when there is something to do.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        if self.ago.is_some() {
            return Some(
                "it was not tried again; `mcparley list` or a call of one of its tools tries it now"
                    .to_owned(),
            );
        }
        match &self.failure {
            Failure::Refused { hint, .. } => hint.as_deref().map(str::to_owned),
            Failure::TimedOut { .. } => Some("`MCP_TIMEOUT` gives it more milliseconds".to_owned()),
            _ => None,
        }
    }
}
