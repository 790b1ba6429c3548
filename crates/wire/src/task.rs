//! Tasks with an owner: they are aborted when the owner is dropped.

use std::future::Future;
use std::sync::{Mutex, PoisonError};

use tokio::task::JoinSet;

/// The tasks of one owner.
#[derive(Debug, Default)]
pub(crate) struct OwnedTasks(Mutex<JoinSet<()>>);

impl OwnedTasks {
    /// Spawns a task. Tasks that have ended are removed on the way.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    /// Aborts all tasks.
    pub(crate) fn abort_all(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }
}
