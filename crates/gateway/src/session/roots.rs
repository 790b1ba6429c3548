//! The state of one client's roots: known, requested or in progress.

use std::sync::atomic::AtomicBool;

use tokio::sync::{Notify, watch};

/// State of one client's roots.
#[derive(Debug, Default)]
pub(crate) struct SessionRoots {
    /// Wakes the task that fetches the roots.
    pub(crate) wanted: Notify,
    /// Whether the roots were given with the connection, so that the client is asked only after a change.
    pub(crate) is_given: AtomicBool,
    /// Whether the client was asked and has not answered.
    pub(crate) is_unanswered: AtomicBool,
    /// Whether a fetch is pending.
    pub(crate) awaited: watch::Sender<bool>,
}
