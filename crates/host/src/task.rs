//! Starts work that has an owner: when the owner goes, the work goes.
//!
//! The door of connections to the executor, so that tests can put one behind it that tries out schedules
//! (`crate::explore`).

use std::future::Future;

/// Does work that blocks, beside everything else.
pub(crate) use mcparley_wire::run_blocking as aside;

#[cfg(not(test))]
use tokio::task::{JoinHandle, spawn};
#[cfg(not(test))]
pub(crate) use tokio::{select, task::JoinSet};

#[cfg(test)]
use crate::explore::executor::{JoinHandle, spawn};
#[cfg(test)]
pub(crate) use crate::explore::executor::{JoinSet, select};

/// Work in flight. Dropping it ends the work.
#[derive(Debug)]
pub(crate) struct Owned<T>(JoinHandle<T>);

impl<T: Send + 'static> Owned<T> {
    /// Starts the work; needs a running `tokio` runtime.
    pub(crate) fn start(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(spawn(work))
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
