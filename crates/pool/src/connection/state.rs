//! The published state of a server: small, cloneable snapshots.

use mcparley_model::text::{display_line, round_duration};
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::name::ServerName;
use mcparley_wire::{AgreedProtocol, Failure, ServerDescription};
use tokio::sync::watch;
use tokio::time::Instant;

use super::LiveConnection;
use super::users::{ConnectionUser, ConnectionUsers};
use crate::connect_error::{ConnectError, format_age};
use crate::surface::Surface;

/// A snapshot of the state of one server.
#[derive(Clone, Debug)]
pub struct State {
    /// The status.
    pub status: ServerStatus,
    /// The surface; while the server is not connected, the last known one.
    pub surface: Arc<Surface>,
    /// The duration of the last connection attempt.
    pub connect_time: Duration,
    /// The connection for calls, while there is one.
    pub live: Option<Arc<LiveConnection>>,
}

/// The status of a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ServerStatus {
    /// Not connected; it connects on demand.
    Dormant,
    /// Connecting.
    Pending {
        /// The number of the reconnect attempt; 0 for a first connection.
        attempt: u32,
        /// The reason for the reconnect.
        because: Option<Arc<str>>,
        /// The package runner that is downloading the server, such as `npx`.
        downloader: Option<Arc<str>>,
        /// The time of the attempt, while the backoff before it lasts.
        retry_at: Option<Instant>,
    },
    /// Connected.
    Connected {
        /// The negotiated protocol version.
        protocol: AgreedProtocol,
        /// The server's name, version and capabilities.
        server: Arc<ServerDescription>,
    },
    /// The connection attempt failed.
    Failed(Arc<ConnectError>),
    /// The server needs a sign-in.
    NeedsAuth,
    /// The server is disabled.
    Disabled,
    /// The connection was shut down.
    Stopped,
}

impl ServerStatus {
    /// The name of the status; a dormant server counts as pending.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Dormant | Self::Pending { .. } => "pending",
            Self::Connected { .. } => "connected",
            Self::Failed(_) => "failed",
            Self::NeedsAuth => "needs-auth",
            Self::Disabled | Self::Stopped => "disabled",
        }
    }

    /// Whether no connection attempt is running.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        match self {
            Self::Pending { .. } => false,
            Self::Dormant
            | Self::Connected { .. }
            | Self::Failed(_)
            | Self::NeedsAuth
            | Self::Disabled
            | Self::Stopped => true,
        }
    }

    /// The package runner that is downloading the server, such as `npx`.
    #[must_use]
    pub fn downloader(&self) -> Option<&str> {
        match self {
            Self::Pending { downloader, .. } => downloader.as_deref(),
            Self::Dormant
            | Self::Connected { .. }
            | Self::Failed(_)
            | Self::NeedsAuth
            | Self::Disabled
            | Self::Stopped => None,
        }
    }

    /// The reason for the status, if there is one.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Dormant => Some("starts on demand".to_owned()),
            Self::Pending { downloader: Some(runner), .. } => Some(format!("`{runner}` is downloading it")),
            Self::Pending { because, .. } => because.as_deref().map(str::to_owned),
            Self::Failed(error) => Some(error.to_string()),
            Self::Connected { .. } | Self::NeedsAuth | Self::Disabled | Self::Stopped => None,
        }
    }
}

/// The reason a server cannot be used now.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// The connection attempt failed.
    #[error("{0}")]
    Failed(Arc<ConnectError>),
    /// The connection was lost, and the next attempt is still to come.
    #[error("{error}; next attempt in {:?}", round_duration(*again))]
    Waiting {
        /// The last failure.
        error: Arc<ConnectError>,
        /// The time until the next attempt.
        again: Duration,
    },
    /// The server did not connect before the call's deadline.
    #[error("it did not connect within {:?}", round_duration(*after))]
    TimedOut {
        /// The timeout of the call.
        after: Duration,
    },
    /// The server needs a sign-in.
    #[error("the server requires sign-in")]
    NeedsAuth,
    /// The server is disabled.
    #[error("the server is disabled")]
    Disabled,
    /// The connection was shut down.
    #[error("the server was stopped")]
    Stopped,
}

impl Unavailable {
    /// The message that names the server and the action that failed, such as "cannot start `files`: …".
    #[must_use]
    pub fn describe_for(&self, server: &ServerName) -> String {
        let name = display_line(server.as_str());
        match self {
            Self::Failed(error) => match &error.failure {
                Failure::Refused { obstacle, reason, .. } => {
                    format!("{} `{name}`: {reason}{}", obstacle.failed_action(), format_age(error.ago))
                }
                _ => format!("cannot use `{name}`: {self}"),
            },
            Self::Waiting { .. }
            | Self::TimedOut { .. }
            | Self::NeedsAuth
            | Self::Disabled
            | Self::Stopped => {
                format!("cannot use `{name}`: {self}")
            }
        }
    }
}

/// An event for subscribers: a server has a new status.
#[derive(Clone, Debug)]
pub struct StatusEvent {
    /// The server.
    pub server: ServerName,
    /// The new status.
    pub status: ServerStatus,
}

/// Publishes the state of one connection.
#[derive(Debug)]
pub struct StatePublisher {
    users: Arc<ConnectionUsers>,
    state: watch::Sender<State>,
}

impl StatePublisher {
    /// A publisher for a connection that starts with this status, for its first user.
    pub fn new(user: ConnectionUser, first: ServerStatus, known: Arc<Surface>) -> Self {
        let state = State { status: first, surface: known, connect_time: Duration::ZERO, live: None };
        Self { users: Arc::new(ConnectionUsers::new(user)), state: watch::channel(state).0 }
    }

    pub(super) fn users(&self) -> Arc<ConnectionUsers> {
        Arc::clone(&self.users)
    }

    /// Subscribes to the state.
    pub fn subscribe(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    pub(super) fn current_state(&self) -> State {
        self.state.borrow().clone()
    }

    /// Publishes a new state, and sends an event if the status has changed.
    pub(super) fn publish_state(&self, state: State) {
        let changed = {
            let before = self.state.borrow();
            std::mem::discriminant(&state.status) != std::mem::discriminant(&before.status)
                || state.status.downloader() != before.status.downloader()
        };
        let status = state.status.clone();
        self.state.send_replace(state);
        self.users.notify_all(changed.then_some(&status));
    }
}

#[cfg(test)]
mod tests {
    //! Messages for users.
    use super::*;

    // U3
    #[test]
    fn waiting_error_rounds_the_time_until_the_next_attempt() {
        let error = Arc::new(ConnectError::for_panic());
        let waiting = Unavailable::Waiting { error, again: Duration::from_micros(3_998_231) };
        assert!(waiting.to_string().ends_with("; next attempt in 4s"), "{waiting}");
    }
}
