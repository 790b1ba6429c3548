//! Holds calls back until the server has read its roots.
//!
//! A server of the old era requests its roots by itself, mostly right after connecting. A call that overtakes
//! the answer would run with folders that are about to change. Servers that never request roots are not
//! waited for.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mcparley_model::limits::{ROOTS_SETTLE_TIME, ROOTS_TIME};
use mcparley_wire::peer::PeerCallOptions;
use mcparley_wire::{ProtocolSession, RequestParams};
use tokio::sync::{Mutex, watch};
use tokio::time::{sleep, timeout};

/// Tracks the roots requests of one connection and holds calls back meanwhile.
#[derive(Debug)]
pub struct RootsGate {
    /// The number of open `roots/list` requests.
    open: watch::Sender<usize>,
    /// The number of answers sent.
    answered: AtomicU64,
    /// The number of those answers that the server has read.
    read: AtomicU64,
    /// The version of the roots sent last.
    announced: watch::Sender<u64>,
    /// Single flight: one caller waits for the server on behalf of all.
    turn: Mutex<()>,
}

impl Default for RootsGate {
    fn default() -> Self {
        Self {
            open: watch::Sender::new(0),
            answered: AtomicU64::new(0),
            read: AtomicU64::new(0),
            announced: watch::Sender::new(0),
            turn: Mutex::new(()),
        }
    }
}

impl RootsGate {
    /// Records a `roots/list` request of the server.
    pub fn record_request(&self) {
        self.open.send_modify(|open| *open += 1);
    }

    /// Records the version of the roots in the answer.
    pub fn record_version(&self, version: u64) {
        self.announced.send_replace(version);
    }

    /// Records that the answer was sent.
    pub fn record_answer(&self) {
        self.answered.fetch_add(1, Ordering::AcqRel);
        self.open.send_modify(|open| *open = open.saturating_sub(1));
    }

    /// The version of the roots that the server got last.
    pub fn sent_version(&self) -> u64 {
        *self.announced.borrow()
    }

    /// Notifies the server of changed roots. If it has requested roots before, waits until it has got the new
    /// ones.
    pub async fn announce_change(&self, session: &ProtocolSession, version: u64) {
        let _gone = session.peer().notify("notifications/roots/list_changed", None).await;
        if self.has_requested_roots() {
            self.round_trip(session).await;
            self.wait_for_answers().await;
        }
        self.record_version(version);
    }

    /// Waits until the server has read the roots of this version, if it requests roots at all.
    pub async fn wait_until_read(&self, session: &ProtocolSession, version: u64) {
        if !self.is_up_to_date(version) {
            // Boxed: this is rare and large, and would enlarge the future of every call.
            Box::pin(self.wait_for_server(session, version)).await;
        }
    }

    /// Waits until the server has read the roots of this version, on behalf of all callers.
    async fn wait_for_server(&self, session: &ProtocolSession, version: u64) {
        let _turn = self.turn.lock().await;
        if self.is_up_to_date(version) {
            return;
        }
        if self.has_requested_roots() {
            let mut announced = self.announced.subscribe();
            // A server that hangs is noticed by the call's own timeout.
            let _late = timeout(ROOTS_TIME, announced.wait_for(|announced| *announced >= version)).await;
        }
        self.wait_for_answers().await;
        let answered = self.answered.load(Ordering::Acquire);
        if answered > self.read.load(Ordering::Acquire) {
            self.round_trip(session).await;
            sleep(ROOTS_SETTLE_TIME).await;
            self.read.store(answered, Ordering::Release);
        }
    }

    /// Whether no request is open and the server has read the roots of this version.
    fn is_up_to_date(&self, version: u64) -> bool {
        let answered = self.answered.load(Ordering::Acquire);
        let is_quiet = *self.open.borrow() == 0 && answered == self.read.load(Ordering::Acquire);
        is_quiet && (answered == 0 || self.sent_version() >= version)
    }

    /// Whether the server has requested its roots and got an answer.
    pub fn has_requested_roots(&self) -> bool {
        self.answered.load(Ordering::Acquire) > 0
    }

    /// Waits until all open `roots/list` requests are answered.
    async fn wait_for_answers(&self) {
        let mut open = self.open.subscribe();
        let _late = timeout(ROOTS_TIME + Duration::from_secs(1), open.wait_for(|open| *open == 0)).await;
    }

    /// Makes a `ping` round trip: when it is answered, even with an error, the server has read all earlier
    /// messages.
    async fn round_trip(&self, session: &ProtocolSession) {
        let options = PeerCallOptions { limit: Some(ROOTS_TIME), ..PeerCallOptions::default() };
        let _answer = session.call("ping", RequestParams::new(), options).await;
    }
}
