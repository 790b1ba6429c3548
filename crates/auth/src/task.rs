//! Starts work that has an owner: when the owner goes, the work goes.

use std::future::Future;

use tokio::task::{JoinHandle, spawn};

/// Work in flight. Dropping it ends the work.
#[derive(Debug)]
pub(crate) struct Owned<T>(JoinHandle<T>);

impl<T: Send + 'static> Owned<T> {
    /// Starts the work; needs a running `tokio` runtime.
    pub(crate) fn start(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(spawn(work))
    }
}

impl<T> Owned<T> {
    /// Whether it has ended, in whichever way.
    pub(crate) fn is_over(&self) -> bool {
        self.0.is_finished()
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
