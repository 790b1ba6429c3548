//! Notifies about changes of servers: of this host, and of a host it shares servers with.

use tokio::sync::watch;
use tokio::sync::watch::error::RecvError;

use super::Host;

/// A listener for the next change of a server.
pub(crate) struct ChangeListener {
    own: watch::Receiver<u64>,
    shared: Option<Box<ChangeListener>>,
}

impl ChangeListener {
    /// Waits for the next change.
    ///
    /// # Errors
    /// When there can be no further change.
    pub(crate) async fn changed(&mut self) -> Result<(), RecvError> {
        let Some(shared) = &mut self.shared else { return self.own.changed().await };
        tokio::select! {
            changed = self.own.changed() => changed,
            changed = Box::pin(shared.changed()) => changed,
        }
    }
}

impl Host {
    pub(crate) fn change_listener(&self) -> ChangeListener {
        let shared = self.inner.shared.as_ref().map(|shared| Box::new(shared.host.change_listener()));
        ChangeListener { own: self.inner.parts.changes.subscribe(), shared }
    }

    /// The number of changes so far that are visible to this host; only grows.
    pub(super) fn change_count(&self) -> u64 {
        let shared = self.inner.shared.as_ref().map_or(0, |shared| shared.host.change_count());
        *self.inner.parts.changes.borrow() + shared
    }
}
