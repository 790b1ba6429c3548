//! Forwards the roots of clients to the servers.
//!
//! All clients of a gateway share the servers. So servers are offered the roots that all clients have, and
//! none while clients differ: no call works in the folders of another client. A server of the new era, which
//! requests roots in its answer to a call, gets the roots of that call's client. A client of the old era is
//! asked after the handshake, and again when it announces changed roots; one of the new era cannot be asked
//! outside of a call.

use std::sync::atomic::Ordering;

use mcparley::model::limits::ROOTS_TIME;
use mcparley::pool::roots::Root;
use mcparley_wire::RawJson;
use serde::Deserialize;

use crate::client_abilities::Caller;
use crate::session::GatewaySession;
use crate::session::shared_values::ROOTS;

/// The maximum number of roots of a client.
const ROOTS_MOST: usize = 256;

impl GatewaySession {
    /// Stores roots that are known before the handshake.
    pub(crate) fn give_roots(&self, roots: Vec<Root>) {
        self.shared.roots.is_given.store(true, Ordering::Relaxed);
        self.shared.gateway.roots.store_roots(self.shared.number, roots);
    }

    /// Records the capabilities of a client: one with roots is asked after the handshake, any other has
    /// none.
    pub(crate) fn expect_roots(&self, caller: Caller) {
        if self.shared.roots.is_given.load(Ordering::Relaxed) {
            return;
        }
        let is_asked = caller.abilities.roots && !caller.is_new();
        self.shared.roots.awaited.send_replace(is_asked);
        if !is_asked {
            self.shared.gateway.roots.store_roots(self.shared.number, Vec::new());
        }
    }

    /// Requests the roots of a client that has the roots capability.
    pub(crate) fn ask_for_roots(&self) {
        if self.has_roots() {
            self.shared.roots.awaited.send_replace(true);
            self.shared.roots.wanted.notify_one();
        }
    }

    /// Requests the roots of a client whose stream has come to this gateway, if they are unknown and not requested
    /// already: no gateway of the cluster knows them, or the client had no stream when it was asked.
    pub fn ask_for_missing_roots(&self) {
        let roots = &self.shared.roots;
        let is_missing = self.known_roots().is_none() || roots.is_unanswered.load(Ordering::Relaxed);
        if is_missing && !*roots.awaited.borrow() {
            self.ask_for_roots();
        }
    }

    /// Requests the roots of a restored session's client. In a cluster another gateway may know them.
    pub fn ask_for_restored_roots(&self) {
        if self.shared.gateway.cluster().is_none() {
            self.ask_for_roots();
        }
    }

    /// Fetches the client's roots on each request. Never returns.
    pub(crate) async fn follow_roots(&self) {
        loop {
            self.shared.roots.wanted.notified().await;
            let roots = self.fetch_roots().await;
            self.shared.roots.is_unanswered.store(roots.is_none(), Ordering::Relaxed);
            match (roots, self.shared.gateway.cluster()) {
                (Some(roots), _) => {
                    self.share_value(ROOTS, &roots);
                    self.shared.gateway.roots.store_roots(self.shared.number, roots);
                }
                (None, None) => self.shared.gateway.roots.store_roots(self.shared.number, Vec::new()),
                // The client reads at another gateway, which asks it.
                (None, Some(_)) => {}
            }
            self.shared.roots.awaited.send_replace(false);
        }
    }

    /// The roots of the client, once they are known.
    pub(crate) fn known_roots(&self) -> Option<Vec<Root>> {
        self.shared.gateway.roots.roots_of(self.shared.number)
    }

    /// Waits until the roots of the client are known, with a short timeout.
    pub(crate) async fn wait_for_roots(&self) {
        if !*self.shared.roots.awaited.borrow() {
            return;
        }
        let mut awaited = self.shared.roots.awaited.subscribe();
        let _late = tokio::time::timeout(ROOTS_TIME, awaited.wait_for(|awaited| !awaited)).await.is_err();
    }

    /// Fetches the roots of the client; `None` without a valid answer.
    async fn fetch_roots(&self) -> Option<Vec<Root>> {
        #[derive(Deserialize)]
        struct RootsAnswer {
            roots: Vec<Root>,
        }
        let asking = self.channel()?.ask("roots/list", RawJson::from_text("{}"));
        let answer = tokio::time::timeout(ROOTS_TIME, asking).await.ok().and_then(Result::ok);
        let mut roots = answer?.decode::<RootsAnswer>().ok()?.roots;
        roots.truncate(ROOTS_MOST);
        Some(roots)
    }
}
