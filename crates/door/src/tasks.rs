//! The tasks of the doors: connections and answers, which end with the doors.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::JoinSet;

/// The running tasks; `None` once the doors have ended.
#[derive(Debug)]
pub(crate) struct DoorTasks(Mutex<Option<JoinSet<()>>>);

/// Aborts all tasks when it is dropped.
#[derive(Debug)]
pub(crate) struct TasksGuard(Arc<DoorTasks>);

impl DoorTasks {
    /// No tasks yet, and the guard that ends them.
    pub(crate) fn new() -> (Arc<Self>, TasksGuard) {
        let tasks = Arc::new(Self(Mutex::new(Some(JoinSet::new()))));
        (Arc::clone(&tasks), TasksGuard(tasks))
    }

    /// Runs a task until it ends, or the doors do.
    pub(crate) fn spawn_task(&self, work: impl Future<Output = ()> + Send + 'static) {
        if let Some(tasks) = self.lock_tasks().as_mut() {
            // Those that have ended need no place.
            while tasks.try_join_next().is_some() {}
            tasks.spawn(work);
        }
    }

    fn lock_tasks(&self) -> MutexGuard<'_, Option<JoinSet<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for TasksGuard {
    fn drop(&mut self) {
        // Dropped outside of the lock: a task may own a value that spawns another one at its end.
        let tasks = self.0.lock_tasks().take();
        drop(tasks);
    }
}
