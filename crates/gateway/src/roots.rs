//! Passes the roots of a client on to the servers behind it (X6).
//!
//! Servers are shared by all clients of a gateway. So they are told of roots that every client has, and of none while
//! clients differ: nobody works in the folders of somebody else. A client of the old era is asked after its greeting, and
//! again when it says that its roots have changed; one of the new era has no way to be asked outside of a call.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use mcparley::model::limits::ROOTS_TIME;
use mcparley::{Host, Root};
use mcparley_wire::peer::CallOptions;
use serde::Deserialize;
use tokio::sync::{Notify, watch};

use crate::caller::Caller;
use crate::session::Session;

/// How many roots of a client are passed on.
const ROOTS_MOST: usize = 256;

/// The roots of all clients.
#[derive(Debug)]
pub(crate) struct ClientRoots {
    host: Host,
    /// By the number of the session.
    told: Mutex<HashMap<u64, Vec<Root>>>,
}

impl ClientRoots {
    pub(crate) fn new(host: Host) -> Self {
        Self { host, told: Mutex::default() }
    }

    fn tell(&self, session: u64, roots: Vec<Root>) {
        self.change(|told| drop(told.insert(session, roots)));
    }

    /// The client is gone.
    pub(crate) fn forget(&self, session: u64) {
        self.change(|told| drop(told.remove(&session)));
    }

    fn change(&self, change: impl FnOnce(&mut HashMap<u64, Vec<Root>>)) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut told);
        let mut all = told.values();
        let Some(first) = all.next() else { return };
        let agreed = all.all(|roots| roots == first);
        self.host.set_client_roots(if agreed { first.clone() } else { Vec::new() });
    }
}

/// What one session knows of its client's roots.
#[derive(Debug, Default)]
pub(crate) struct SessionRoots {
    /// That the client is to be asked.
    wanted: Notify,
    /// Whether its roots are on their way.
    awaited: watch::Sender<bool>,
}

impl Session {
    /// A client has said what it can: one without roots has none, and one with roots is asked when its greeting is over.
    pub(crate) fn expect_roots(&self, caller: Caller) {
        let is_asked = caller.can.roots && !caller.is_new();
        self.shared.roots.awaited.send_replace(is_asked);
        if !is_asked {
            self.shared.gateway.roots.tell(self.shared.number, Vec::new());
        }
    }

    /// Has the client asked for its roots, if it has any.
    pub(crate) fn ask_for_roots(&self) {
        if self.has_roots() {
            self.shared.roots.awaited.send_replace(true);
            self.shared.roots.wanted.notify_one();
        }
    }

    /// Asks the client whenever that is wanted. Never ends.
    pub(crate) async fn follow_roots(&self) {
        loop {
            self.shared.roots.wanted.notified().await;
            let roots = self.client_roots().await;
            self.shared.gateway.roots.tell(self.shared.number, roots);
            self.shared.roots.awaited.send_replace(false);
        }
    }

    /// Waits until the client has told its roots, but not for long.
    pub(crate) async fn know_roots(&self) {
        let mut awaited = self.shared.roots.awaited.subscribe();
        let _late = tokio::time::timeout(ROOTS_TIME, awaited.wait_for(|awaited| !awaited)).await.is_err();
    }

    /// What the client answers; none, if that is no answer.
    async fn client_roots(&self) -> Vec<Root> {
        #[derive(Deserialize)]
        struct Answer {
            roots: Vec<Root>,
        }
        let Some(peer) = self.peer() else { return Vec::new() };
        let options = CallOptions { limit: Some(ROOTS_TIME), ..CallOptions::default() };
        let answer = peer.call("roots/list", None, options).await.ok();
        let mut roots =
            answer.and_then(|it| it.decode::<Answer>().ok()).map(|it| it.roots).unwrap_or_default();
        roots.truncate(ROOTS_MOST);
        roots
    }
}
