//! The phases of a connection's actor, each with the state that exists only in it.
//!
//! A phase owns its running task, so leaving the phase cancels the task.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use crate::auth::SignInWatcher;
use mcparley_model::config::ServerConfig;
use mcparley_wire::handshake::EstablishedConnection;
use mcparley_wire::{Failure, ProtocolSession};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::LiveConnection;
use super::idle::{self, IdleTimer};
use super::notifications::ListChanges;
use super::refresh::ListRefresh;
use crate::connect::ServerLink;
use crate::connect_error::ConnectError;
use crate::roots::RootsGate;
use crate::started_process::DownloadWatcher;
use crate::surface::Surface;
use crate::task::{AbortOnDropTask, select};

/// A successful connection attempt.
pub(super) struct ConnectSuccess {
    pub(super) link: ServerLink,
    pub(super) session: ProtocolSession,
    pub(super) surface: Surface,
    pub(super) gate: Arc<RootsGate>,
    pub(super) connect_time: Duration,
}

impl ConnectSuccess {
    pub(super) fn new(
        connected: EstablishedConnection<ServerLink>,
        surface: Surface,
        gate: Arc<RootsGate>,
        connect_time: Duration,
    ) -> Self {
        let EstablishedConnection { link, session } = connected;
        Self { link, session, surface, gate, connect_time }
    }
}

/// A failed connection attempt.
pub(super) struct ConnectFailure {
    pub(super) error: ConnectError,
    pub(super) connect_time: Duration,
}

/// The phase of the actor.
pub(super) enum ActorPhase {
    /// Not connected: no call has needed the server yet, or it was stopped while idle.
    Dormant,
    /// Connecting. Attempt 0 is on demand; later attempts follow a lost connection.
    Connecting {
        attempt: u32,
        work: AbortOnDropTask<Result<ConnectSuccess, ConnectFailure>>,
        downloader: DownloadWatcher,
    },
    /// Backing off before the next attempt. A call skips the backoff if the server has `served` before.
    Waiting { attempt: u32, until: Instant, error: Arc<ConnectError>, served: bool },
    /// The server can be used.
    Ready(Box<ReadyPhase>),
    /// The server cannot be used, and is not tried again until a call needs it.
    Failed { error: Arc<ConnectError>, since: Instant },
    /// The server needs a sign-in, and is not tried again before `until` unless the user signs in.
    NeedsAuth { until: Instant, sign_ins: Option<SignInWatcher> },
    /// The server is disabled.
    Off,
    /// The connection is shutting down.
    Stopping(AbortOnDropTask<()>),
}

/// The state of a usable connection.
pub(super) struct ReadyPhase {
    pub(super) link: ServerLink,
    pub(super) live: Arc<LiveConnection>,
    /// Closes when the last lease of `live` is dropped.
    pub(super) released: mpsc::Receiver<()>,
    pub(super) since: Instant,
    /// The number of the attempt that succeeded.
    pub(super) attempt: u32,
    pub(super) surface: Arc<Surface>,
    pub(super) refresh: ListRefresh,
    pub(super) idle: IdleTimer,
    /// The task that keeps subscriptions to changes, if the server supports them.
    pub(super) _listening: Option<AbortOnDropTask<Infallible>>,
    /// The task that notifies the server of changed roots and log levels.
    pub(super) _telling: Option<AbortOnDropTask<Infallible>>,
    /// The task that writes new log lines to disk while the server runs, if there is a log file.
    pub(super) _logging: Option<AbortOnDropTask<Infallible>>,
}

/// An event that the current phase produced.
pub(super) enum PhaseEvent {
    Opened(Box<ConnectSuccess>),
    ConnectFailed(ConnectFailure),
    /// The connection attempt panicked, which is a bug.
    AttemptPanicked,
    RetryDue,
    /// A package runner has started downloading the server, or has ended.
    Downloading(Option<Arc<str>>),
    Lost(Failure),
    /// The daemon wants its client to attach again.
    Moved,
    Refreshed(Arc<Surface>),
    /// The user has signed in, here or in another process.
    SignedIn,
    /// The connection has been unused for the idle timeout of its entry.
    Idle,
    Ended,
}

impl ActorPhase {
    /// Waits for the next event of the phase. Cancel safe.
    pub(super) async fn next(&mut self, changes: &ListChanges, config: &ServerConfig) -> PhaseEvent {
        match self {
            Self::Dormant | Self::Failed { .. } | Self::NeedsAuth { sign_ins: None, .. } | Self::Off => {
                std::future::pending().await
            }
            Self::NeedsAuth { sign_ins: Some(sign_ins), .. } => {
                sign_ins.wait_for_sign_in().await;
                PhaseEvent::SignedIn
            }
            Self::Connecting { work, downloader, .. } => select! {
                done = work.join() => match done {
                    Some(Ok(opened)) => PhaseEvent::Opened(Box::new(opened)),
                    Some(Err(missed)) => PhaseEvent::ConnectFailed(missed),
                    None => PhaseEvent::AttemptPanicked,
                },
                runner = downloader.next() => PhaseEvent::Downloading(runner),
            },
            Self::Waiting { until, .. } => {
                tokio::time::sleep_until(*until).await;
                PhaseEvent::RetryDue
            }
            Self::Ready(ready) => {
                let ReadyPhase { link, live, refresh, surface, idle, .. } = ready.as_mut();
                select! {
                    failure = live.session.peer().wait_until_ended() => PhaseEvent::Lost(failure),
                    surface = refresh.next(changes, &live.session, surface) => PhaseEvent::Refreshed(surface),
                    () = idle.wait_until_idle(live, idle::idle_timeout(config)) => PhaseEvent::Idle,
                    () = link.wait_until_moved() => PhaseEvent::Moved,
                }
            }
            Self::Stopping(work) => {
                // A panic during the shutdown ends it too.
                let _done = work.join().await;
                PhaseEvent::Ended
            }
        }
    }
}
