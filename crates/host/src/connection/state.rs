//! What others see of a server: small, cloneable, published.

use mcparley_model::text::rounded;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcparley_model::name::ServerName;
use mcparley_wire::{About, Spoken};
use tokio::sync::{broadcast, watch};

use super::Live;
use crate::connect::ConnectError;
use crate::surface::Surface;

/// What is known of one server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct State {
    /// How it is.
    pub status: Status,
    /// What it offers; while it is not there or is being reached again, what it offered last.
    pub surface: Arc<Surface>,
    /// How long reaching it took, the last time it succeeded or failed.
    pub took: Duration,
    pub(crate) live: Option<Arc<Live>>,
}

/// How a server is (L1).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Status {
    /// Not reached yet; it is when it is needed.
    Dormant,
    /// Being reached.
    Pending {
        /// Which attempt to reach it again this is; 0 for the first time.
        attempt: u32,
        /// Why it has to be reached again.
        because: Option<Arc<str>>,
        /// The package runner that is downloading it now, such as `npx`.
        downloader: Option<Arc<str>>,
    },
    /// It answers.
    Connected {
        /// The protocol that was agreed on.
        spoken: Spoken,
        /// What it said about itself.
        about: Arc<About>,
    },
    /// It does not.
    Failed(Arc<ConnectError>),
    /// It wants a sign-in.
    NeedsAuth,
    /// It is switched off.
    Disabled,
    /// It was told to end.
    Stopped,
}

impl Status {
    /// The word for it; a dormant server is pending too.
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

    /// Whether nothing is under way.
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

    /// The package runner that is downloading the server now, such as `npx`.
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

    /// Why it is so, where there is more to say.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Dormant => Some("starts when it is needed".to_owned()),
            Self::Pending { downloader: Some(runner), .. } => Some(format!("`{runner}` is downloading it")),
            Self::Pending { because, .. } => because.as_deref().map(str::to_owned),
            Self::Failed(error) => Some(error.to_string()),
            Self::Connected { .. } | Self::NeedsAuth | Self::Disabled | Self::Stopped => None,
        }
    }
}

/// Why a server cannot be used now.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// It could not be reached.
    #[error("{0}")]
    Failed(Arc<ConnectError>),
    /// It was lost, and will be tried again later.
    #[error("{error}; it is tried again in {:?}", rounded(*again))]
    Waiting {
        /// What went wrong the last time.
        error: Arc<ConnectError>,
        /// When it is tried again.
        again: Duration,
    },
    /// It was not there before the call's limit passed.
    #[error("it was not there within {:?}", rounded(*after))]
    Late {
        /// The limit.
        after: Duration,
    },
    /// It wants a sign-in.
    #[error("the server wants a sign-in")]
    NeedsAuth,
    /// It is switched off.
    #[error("the server is switched off")]
    Disabled,
    /// It was told to end.
    #[error("the server was stopped")]
    Stopped,
}

/// A server that changed, for whoever wants to know at once (L1).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Event {
    /// The server.
    pub server: ServerName,
    /// How it is now.
    pub status: Status,
}

/// The names that one connection goes by: entries with one signature share it (L4).
#[derive(Debug)]
pub(crate) struct Names(Mutex<Vec<ServerName>>);

impl Names {
    pub(crate) fn add(&self, name: ServerName) {
        self.locked().push(name);
    }

    pub(crate) fn remove(&self, name: &ServerName) {
        self.locked().retain(|known| known != name);
    }

    fn locked(&self) -> MutexGuard<'_, Vec<ServerName>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where an actor tells what it is.
#[derive(Debug)]
pub(crate) struct Publisher {
    names: Arc<Names>,
    state: watch::Sender<State>,
    /// Counted up after each change, for whoever looks at all servers together.
    changes: Arc<watch::Sender<u64>>,
    events: broadcast::Sender<Event>,
}

impl Publisher {
    pub(crate) fn new(
        name: ServerName,
        first: Status,
        known: Arc<Surface>,
        changes: Arc<watch::Sender<u64>>,
        events: broadcast::Sender<Event>,
    ) -> Self {
        let state = State { status: first, surface: known, took: Duration::ZERO, live: None };
        let names = Arc::new(Names(Mutex::new(vec![name])));
        Self { names, state: watch::channel(state).0, changes, events }
    }

    pub(super) fn names(&self) -> Arc<Names> {
        Arc::clone(&self.names)
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    pub(super) fn current(&self) -> State {
        self.state.borrow().clone()
    }

    /// Publishes a new state; an event when it is more than a new surface.
    pub(super) fn publish(&self, state: State) {
        let changed = {
            let before = self.state.borrow();
            std::mem::discriminant(&state.status) != std::mem::discriminant(&before.status)
                || state.status.downloader() != before.status.downloader()
        };
        let status = state.status.clone();
        self.state.send_replace(state);
        self.changes.send_modify(|count| *count += 1);
        if changed {
            for server in self.names.locked().iter() {
                // Nobody listening is the usual case.
                let _unheard = self.events.send(Event { server: server.clone(), status: status.clone() });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    //! What people read.
    use super::*;

    // U3
    #[test]
    fn waiting_error_rounds_the_time_until_the_next_attempt() {
        let error = Arc::new(ConnectError::broken());
        let waiting = Unavailable::Waiting { error, again: Duration::from_micros(3_998_231) };
        assert!(waiting.to_string().ends_with("; it is tried again in 4s"), "{waiting}");
    }
}
