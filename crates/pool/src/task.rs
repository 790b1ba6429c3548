//! Tasks that are canceled with their owner.
//!
//! Connections use the executor only through this module, so that tests can substitute one that explores
//! schedules (`crate::explore`).

use std::future::Future;

#[cfg(not(test))]
use tokio::task::{JoinHandle, spawn};
#[cfg(not(test))]
pub(crate) use tokio::{select, task::JoinSet};

#[cfg(test)]
use crate::explore::executor::{JoinHandle, spawn};
#[cfg(test)]
pub(crate) use crate::explore::executor::{JoinSet, select};

/// A running task. Dropping it aborts the task.
#[derive(Debug)]
pub struct AbortOnDropTask<T>(JoinHandle<T>);

impl<T: Send + 'static> AbortOnDropTask<T> {
    /// Starts a task; needs a running `tokio` runtime.
    pub fn start(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(spawn(work))
    }

    /// Waits for the result; `None` if the task panicked. Cancel safe, but not to be called again after it
    /// has returned.
    pub async fn join(&mut self) -> Option<T> {
        (&mut self.0).await.ok()
    }
}

impl<T> Drop for AbortOnDropTask<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
