//! Starts work that has an owner: when the owner goes, the work goes.

use std::future::Future;

use tokio::task::JoinHandle;

/// Work in flight. Dropping it ends the work.
#[derive(Debug)]
pub(crate) struct Owned<T>(JoinHandle<T>);

impl<T: Send + 'static> Owned<T> {
    /// Starts the work; needs a running `tokio` runtime.
    pub(crate) fn start(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(tokio::spawn(work))
    }

    /// Waits for it; nothing if it panicked. May be asked again after being given up, until it has answered.
    pub(crate) async fn done(&mut self) -> Option<T> {
        (&mut self.0).await.ok()
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
