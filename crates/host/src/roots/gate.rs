//! Keeps calls back until their server has read its roots.
//!
//! A server of the old era asks for roots on its own, mostly as soon as it is connected. A call that overtakes the answer
//! would find folders that are about to change. Servers that never ask are never waited for.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mcparley_model::limits::{ROOTS_SETTLE_TIME, ROOTS_TIME};
use mcparley_wire::peer::CallOptions;
use mcparley_wire::{Params, Session};
use tokio::sync::{Mutex, watch};
use tokio::time::{sleep, timeout};

/// What one connection knows of its roots.
#[derive(Debug)]
pub(crate) struct RootsGate {
    /// How many requests for roots are open.
    open: watch::Sender<usize>,
    /// How many were answered.
    answered: AtomicU64,
    /// How many of those answers the server has read.
    read: AtomicU64,
    /// The version of the roots that the server knows.
    told: watch::Sender<u64>,
    /// One caller finds out for all.
    turn: Mutex<()>,
}

impl Default for RootsGate {
    fn default() -> Self {
        Self {
            open: watch::Sender::new(0),
            answered: AtomicU64::new(0),
            read: AtomicU64::new(0),
            told: watch::Sender::new(0),
            turn: Mutex::new(()),
        }
    }
}

impl RootsGate {
    /// The server asks for roots.
    pub(crate) fn begin(&self) {
        self.open.send_modify(|open| *open += 1);
    }

    /// The answer holds the roots of this version.
    pub(crate) fn tell(&self, version: u64) {
        self.told.send_replace(version);
    }

    /// The answer is sent.
    pub(crate) fn end(&self) {
        self.answered.fetch_add(1, Ordering::AcqRel);
        self.open.send_modify(|open| *open = open.saturating_sub(1));
    }

    /// The version of the roots that the server was told last.
    pub(crate) fn told(&self) -> u64 {
        *self.told.borrow()
    }

    /// Tells a server that its roots have changed, and waits until it knows the new ones if it wants to.
    pub(crate) async fn announce(&self, session: &Session, version: u64) {
        let _gone = session.peer().notify("notifications/roots/list_changed", None).await;
        if self.has_asked() {
            self.round_trip(session).await;
            self.wait_for_answers().await;
        }
        self.tell(version);
    }

    /// Waits until the server has read the roots of this version, if it reads any.
    pub(crate) async fn pass(&self, session: &Session, version: u64) {
        if !self.is_settled(version) {
            // Rare and large: it would make every call's future as large.
            Box::pin(self.settle(session, version)).await;
        }
    }

    async fn settle(&self, session: &Session, version: u64) {
        let _turn = self.turn.lock().await;
        if self.is_settled(version) {
            return;
        }
        if self.has_asked() {
            let mut told = self.told.subscribe();
            // A server that hangs is noticed by the call itself.
            let _late = timeout(ROOTS_TIME, told.wait_for(|told| *told >= version)).await;
        }
        self.wait_for_answers().await;
        let answered = self.answered.load(Ordering::Acquire);
        if answered > self.read.load(Ordering::Acquire) {
            self.round_trip(session).await;
            sleep(ROOTS_SETTLE_TIME).await;
            self.read.store(answered, Ordering::Release);
        }
    }

    fn is_settled(&self, version: u64) -> bool {
        let answered = self.answered.load(Ordering::Acquire);
        let is_quiet = *self.open.borrow() == 0 && answered == self.read.load(Ordering::Acquire);
        is_quiet && (answered == 0 || self.told() >= version)
    }

    /// Whether the server has asked for its roots, and has its answer.
    pub(crate) fn has_asked(&self) -> bool {
        self.answered.load(Ordering::Acquire) > 0
    }

    async fn wait_for_answers(&self) {
        let mut open = self.open.subscribe();
        let _late = timeout(ROOTS_TIME + Duration::from_secs(1), open.wait_for(|open| *open == 0)).await;
    }

    /// What was sent before is read when this is answered, with whatever answer.
    async fn round_trip(&self, session: &Session) {
        let options = CallOptions { limit: Some(ROOTS_TIME), ..CallOptions::default() };
        let _answer = session.call("ping", Params::new(), options).await;
    }
}
