//! Tasks with an owner, and tasks that finish even when their callers give up.

use std::future::Future;
use std::sync::{Mutex, PoisonError};

use tokio::sync::oneshot;
#[cfg(not(test))]
use tokio::task::{JoinHandle, spawn};

#[cfg(test)]
use explored::{JoinHandle, spawn};

/// A running task. Dropping it aborts the task.
#[derive(Debug)]
pub(crate) struct OwnedTask<T>(JoinHandle<T>);

impl<T: Send + 'static> OwnedTask<T> {
    /// Starts the task; needs a running `tokio` runtime.
    pub(crate) fn start(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(spawn(work))
    }
}

impl<T> OwnedTask<T> {
    /// Whether it has finished, panicked or was aborted.
    pub(crate) fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

impl<T> Drop for OwnedTask<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The tasks of one owner, aborted when the owner is dropped. A task that must not be aborted holds its
/// owner.
#[derive(Debug, Default)]
pub(crate) struct TaskGroup(Mutex<Vec<OwnedTask<()>>>);

impl TaskGroup {
    /// Starts a task, and removes those that have finished.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let task = OwnedTask::start(task);
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.retain(|task| !task.is_finished());
        tasks.push(task);
    }

    /// Runs the work in a task and waits for it; the work continues when the caller gives up. `None` if it
    /// panicked.
    pub(crate) async fn run_to_completion<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let (sender, done) = oneshot::channel();
        self.spawn(async move {
            // The caller may have given up.
            let _gone = sender.send(work.await);
        });
        done.await.ok()
    }
}

#[cfg(test)]
mod explored;
