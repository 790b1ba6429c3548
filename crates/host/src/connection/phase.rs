//! What a server's actor is doing, and what belongs to it only while it does.
//!
//! A phase owns its work in flight, so leaving the phase ends the work.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use mcparley_auth::SignIns;
use mcparley_model::config::ServerConfig;
use mcparley_wire::handshake::Connected;
use mcparley_wire::{Failure, Session};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::Live;
use super::idle::{self, Idle};
use super::notifications::Changes;
use super::refresh::Refresh;
use crate::connect::{ConnectError, Downloader, Link};
use crate::roots::RootsGate;
use crate::surface::Surface;
use crate::task::{Owned, select};

/// A server that was reached, and what it offers.
pub(super) struct Opened {
    pub(super) link: Link,
    pub(super) session: Session,
    pub(super) surface: Surface,
    pub(super) gate: Arc<RootsGate>,
    pub(super) took: Duration,
}

impl Opened {
    pub(super) fn new(
        connected: Connected<Link>,
        surface: Surface,
        gate: Arc<RootsGate>,
        took: Duration,
    ) -> Self {
        let Connected { link, session } = connected;
        Self { link, session, surface, gate, took }
    }
}

/// A server that was not reached.
pub(super) struct Missed {
    pub(super) error: ConnectError,
    pub(super) took: Duration,
}

/// What the actor is doing.
pub(super) enum Phase {
    /// Nothing: nobody has needed the server yet.
    Dormant,
    /// Reaching the server; attempt 0 because somebody wants it, later ones because it was lost.
    Connecting { attempt: u32, work: Owned<Result<Opened, Missed>>, downloader: Downloader },
    /// Letting time pass before the next attempt; none, if it has `served` before and somebody wants it.
    Waiting { attempt: u32, until: Instant, error: Arc<ConnectError>, served: bool },
    /// The server can be used.
    Ready(Box<Ready>),
    /// It cannot, and nothing is done about it until somebody wants it again.
    Failed { error: Arc<ConnectError>, since: Instant },
    /// It wants a sign-in, and is not asked again before `until` unless there was one.
    NeedsAuth { until: Instant, sign_ins: Option<SignIns> },
    /// It is switched off.
    Off,
    /// It is being ended.
    Stopping(Owned<()>),
}

/// A server that can be used.
pub(super) struct Ready {
    pub(super) link: Link,
    pub(super) live: Arc<Live>,
    /// Ends when nobody holds `live` any more.
    pub(super) released: mpsc::Receiver<()>,
    pub(super) since: Instant,
    /// Which attempt brought it here.
    pub(super) attempt: u32,
    pub(super) surface: Arc<Surface>,
    pub(super) refresh: Refresh,
    pub(super) idle: Idle,
    /// Keeps the stream of changes open, where the era has one.
    pub(super) _listening: Option<Owned<Infallible>>,
    /// Tells the server what changes here, where the era has that.
    pub(super) _telling: Option<Owned<Infallible>>,
}

/// What happened.
pub(super) enum Event {
    Opened(Box<Opened>),
    Missed(Missed),
    /// The work ended without an answer, by a mistake of ours.
    Broken,
    Again,
    /// A package runner downloads the server now, or none does any more.
    Downloading(Option<Arc<str>>),
    Lost(Failure),
    Refreshed(Arc<Surface>),
    /// Somebody has signed in, here or in another process.
    SignedIn,
    /// Nobody has used it for as long as its entry allows.
    Idle,
    Ended,
}

impl Phase {
    /// Waits for what happens next by itself. Giving up the waiting loses nothing.
    pub(super) async fn next(&mut self, changes: &Changes, config: &ServerConfig) -> Event {
        match self {
            Self::Dormant | Self::Failed { .. } | Self::NeedsAuth { sign_ins: None, .. } | Self::Off => {
                std::future::pending().await
            }
            Self::NeedsAuth { sign_ins: Some(sign_ins), .. } => {
                sign_ins.next().await;
                Event::SignedIn
            }
            Self::Connecting { work, downloader, .. } => select! {
                done = work.done() => match done {
                    Some(Ok(opened)) => Event::Opened(Box::new(opened)),
                    Some(Err(missed)) => Event::Missed(missed),
                    None => Event::Broken,
                },
                runner = downloader.next() => Event::Downloading(runner),
            },
            Self::Waiting { until, .. } => {
                tokio::time::sleep_until(*until).await;
                Event::Again
            }
            Self::Ready(ready) => {
                let Ready { live, refresh, surface, idle, .. } = ready.as_mut();
                select! {
                    failure = live.session.peer().ended() => Event::Lost(failure),
                    surface = refresh.next(changes, &live.session, surface) => Event::Refreshed(surface),
                    () = idle.over(live, idle::limit(config)) => Event::Idle,
                }
            }
            Self::Stopping(work) => {
                // A panic while ending is an end too.
                let _done = work.done().await;
                Event::Ended
            }
        }
    }
}
