//! Starts tasks that have an owner: when the owner goes, they go.

use std::future::Future;
use std::sync::{Mutex, PoisonError};

use tokio::task::JoinSet;

/// Does work that blocks on a thread where it holds up nobody; nothing if it panicked. Where the system gives no thread
/// it is done in place. It is finished once begun, even if nobody waits for it any more.
pub async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    if mcparley_platform::thread::is_available() {
        tokio::task::spawn_blocking(work).await.ok()
    } else {
        Some(work())
    }
}

/// The tasks of one owner.
#[derive(Debug, Default)]
pub(crate) struct Tasks(Mutex<JoinSet<()>>);

impl Tasks {
    /// Starts a task. Those that have ended are forgotten on the way.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    /// Ends all of them.
    pub(crate) fn abort(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }
}
