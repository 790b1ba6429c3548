//! Notifies about changes of servers: of this host, and of a host it shares servers with.

use tokio::sync::watch;
use tokio::sync::watch::error::RecvError;

use super::Host;

/// A listener for changes of a host: of the state of a server, and of the servers themselves.
#[derive(Debug)]
pub struct ChangeListener {
    own: watch::Receiver<u64>,
    shared: Option<Box<ChangeListener>>,
}

impl ChangeListener {
    /// Waits for the next change; several changes since the last one count as one. Cancel safe.
    ///
    /// # Errors
    /// When there can be no further change.
    pub async fn changed(&mut self) -> Result<(), RecvError> {
        let Some(shared) = &mut self.shared else { return self.own.changed().await };
        tokio::select! {
            changed = self.own.changed() => changed,
            changed = Box::pin(shared.changed()) => changed,
        }
    }
}

impl Host {
    /// Subscribes to changes of this host, to show its state as it is.
    #[must_use]
    pub fn change_listener(&self) -> ChangeListener {
        let shared = self.inner.shared.as_ref().map(|shared| Box::new(shared.host.change_listener()));
        ChangeListener { own: self.inner.parts.changes.subscribe(), shared }
    }

    /// The number of changes so far that are visible to this host; only grows.
    pub(super) fn change_count(&self) -> u64 {
        let shared = self.inner.shared.as_ref().map_or(0, |shared| shared.host.change_count());
        *self.inner.parts.changes.borrow() + shared
    }
}
