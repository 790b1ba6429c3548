//! Notices that a server has changed: one of this host, or one of those it shares with another.

use tokio::sync::watch;
use tokio::sync::watch::error::RecvError;

use super::Host;

/// What waits for the next change.
pub(crate) struct Changes {
    own: watch::Receiver<u64>,
    shared: Option<Box<Changes>>,
}

impl Changes {
    /// Waits for the next change.
    ///
    /// # Errors
    /// When there can be none any more.
    pub(crate) async fn changed(&mut self) -> Result<(), RecvError> {
        let Some(shared) = &mut self.shared else { return self.own.changed().await };
        tokio::select! {
            changed = self.own.changed() => changed,
            changed = Box::pin(shared.changed()) => changed,
        }
    }
}

impl Host {
    pub(crate) fn changes(&self) -> Changes {
        let shared = self.inner.shared.as_ref().map(|shared| Box::new(shared.host.changes()));
        Changes { own: self.inner.parts.changes.subscribe(), shared }
    }

    /// Counts every change that could be seen here; each makes it larger.
    pub(super) fn changes_so_far(&self) -> u64 {
        let shared = self.inner.shared.as_ref().map_or(0, |shared| shared.host.changes_so_far());
        *self.inner.parts.changes.borrow() + shared
    }
}
