//! Starts work that has an owner, and work that is finished whatever becomes of those who wait for it.

use std::future::Future;
use std::sync::{Mutex, PoisonError};

use tokio::sync::oneshot;
#[cfg(not(test))]
use tokio::task::{JoinHandle, spawn};

#[cfg(test)]
use explored::{JoinHandle, spawn};

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

/// The tasks of one owner: when it goes, they go. Work that must not be torn holds its owner.
#[derive(Debug, Default)]
pub(crate) struct Tasks(Mutex<Vec<Owned<()>>>);

impl Tasks {
    /// Starts a task. Those that have ended are forgotten on the way.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let task = Owned::start(task);
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.retain(|task| !task.is_over());
        tasks.push(task);
    }

    /// Does the work and waits for it; giving up the waiting leaves the work going on. Nothing if it panicked.
    pub(crate) async fn finish<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let (sender, done) = oneshot::channel();
        self.spawn(async move {
            // Nobody may wait for it any more.
            let _gone = sender.send(work.await);
        });
        done.await.ok()
    }
}

#[cfg(test)]
mod explored;
