//! The roots of all clients of a gateway, and the common ones that its servers are offered.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use mcparley::Host;
use mcparley::pool::roots::Root;

/// The roots of all clients.
#[derive(Debug)]
pub(crate) struct ClientRoots {
    host: Host,
    /// The roots by session number.
    by_session: Mutex<HashMap<u64, Vec<Root>>>,
}

impl ClientRoots {
    pub(crate) fn new(host: Host) -> Self {
        Self { host, by_session: Mutex::default() }
    }

    /// Stores the roots of a client.
    pub(crate) fn store_roots(&self, session: u64, roots: Vec<Root>) {
        self.update_roots(|by_session| drop(by_session.insert(session, roots)));
    }

    /// The roots of a client, once they are known.
    pub(crate) fn roots_of(&self, session: u64) -> Option<Vec<Root>> {
        self.by_session.lock().unwrap_or_else(PoisonError::into_inner).get(&session).cloned()
    }

    /// Removes a client that has disconnected.
    pub(crate) fn remove_client(&self, session: u64) {
        self.update_roots(|by_session| drop(by_session.remove(&session)));
    }

    /// Updates the roots of a client, then offers servers the roots that all clients have in common.
    fn update_roots(&self, update: impl FnOnce(&mut HashMap<u64, Vec<Root>>)) {
        let mut by_session = self.by_session.lock().unwrap_or_else(PoisonError::into_inner);
        update(&mut by_session);
        let mut all = by_session.values();
        let Some(first) = all.next() else { return };
        let agreed = all.all(|roots| roots == first);
        self.host.set_client_roots(if agreed { first.clone() } else { Vec::new() });
    }
}
