//! The resources that a client of the old era is subscribed to.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

/// The subscribed resources by the client's addresses, each with the task that forwards its updates.
#[derive(Debug, Default)]
pub(crate) struct WatchedResources(Mutex<HashMap<String, ForwardingTask>>);

/// A task that is aborted when its owner is dropped.
#[derive(Debug)]
struct ForwardingTask(AbortHandle);

impl Drop for ForwardingTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl WatchedResources {
    pub(crate) fn count(&self) -> usize {
        self.lock_tasks().len()
    }

    /// The addresses of the resources.
    pub(crate) fn uris(&self) -> Vec<String> {
        self.lock_tasks().keys().cloned().collect()
    }

    pub(crate) fn contains(&self, uri: &str) -> bool {
        self.lock_tasks().contains_key(uri)
    }

    /// Runs a task until the resource is removed or the session ends. An earlier task of the resource ends.
    pub(crate) fn insert(&self, uri: String, task: impl Future<Output = ()> + Send + 'static) {
        let task = ForwardingTask(tokio::spawn(task).abort_handle());
        self.lock_tasks().insert(uri, task);
    }

    pub(crate) fn remove(&self, uri: &str) {
        self.lock_tasks().remove(uri);
    }

    fn lock_tasks(&self) -> MutexGuard<'_, HashMap<String, ForwardingTask>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
