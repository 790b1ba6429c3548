//! The error of a failed connection attempt.

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::text::Untrusted;
use mcparley_wire::{Failure, Obstacle};

/// Error of a failed attempt to connect to a server.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{failure}{}", format_age(*ago))]
pub struct ConnectError {
    /// The cause.
    #[source]
    pub failure: Failure,
    /// The end of the server's standard error: often the real reason.
    pub stderr: Untrusted,
    /// The age of a cached failure of an earlier process; the server was not tried again.
    pub ago: Option<Duration>,
}

/// The age of a cached failure in human-readable form.
pub(crate) fn format_age(ago: Option<Duration>) -> String {
    match ago.map(|ago| ago.as_secs()) {
        None => String::new(),
        Some(seconds @ 0..120) => format!(" ({seconds} s ago)"),
        Some(seconds @ 120..7_200) => format!(" ({} min ago)", seconds / 60),
        Some(seconds) => format!(" ({} h ago)", seconds / 3_600),
    }
}

impl ConnectError {
    /// The error of an attempt that failed now.
    pub fn new(failure: Failure, stderr: Untrusted) -> Self {
        Self { failure, stderr, ago: None }
    }

    /// An error for a server that cannot be reached for the given reason, before it wrote to its standard
    /// error.
    pub fn from_reason(reason: &str) -> Self {
        Self::from_obstacle(Obstacle::Other, reason)
    }

    fn from_obstacle(obstacle: Obstacle, reason: &str) -> Self {
        let failure = Failure::Refused { obstacle, reason: Arc::from(reason), hint: None };
        Self::new(failure, Untrusted::default())
    }

    /// The error for a connection attempt that panicked, which is a bug in mcparley.
    pub fn for_panic() -> Self {
        Self::from_reason("connecting was interrupted by a bug in mcparley")
    }

    /// The hint for the user, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        if self.ago.is_some() {
            return Some(
                "not tried again yet; run `mcparley list` or call one of its tools to retry".to_owned(),
            );
        }
        match &self.failure {
            Failure::Refused { hint: Some(hint), .. } => Some(hint.to_string()),
            Failure::Refused { obstacle, .. } => obstacle_hint(*obstacle).map(str::to_owned),
            Failure::TimedOut { .. } => Some("set `MCP_TIMEOUT=60000` to wait longer".to_owned()),
            _ => None,
        }
    }
}

/// The hint for a server that could not be reached, if the reason alone is enough for one.
fn obstacle_hint(obstacle: Obstacle) -> Option<&'static str> {
    match obstacle {
        Obstacle::PortClosed => {
            Some("no program listens there: start the server, or correct the port in its URL")
        }
        Obstacle::NoAddress => Some("check the host name in its URL, and the network"),
        Obstacle::NoRoute => Some("check the network and the VPN"),
        _ => None,
    }
}
