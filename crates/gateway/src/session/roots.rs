//! The state of one client's roots: known, requested or in progress.

use tokio::sync::{Notify, watch};

/// State of one client's roots.
#[derive(Debug, Default)]
pub(crate) struct SessionRoots {
    /// Wakes the task that fetches the roots.
    pub(crate) wanted: Notify,
    /// Whether a fetch is pending.
    pub(crate) awaited: watch::Sender<bool>,
}
