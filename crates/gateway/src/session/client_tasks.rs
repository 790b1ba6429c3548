//! The tasks of a client: those it has created, and those whose questions it has to answer.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mcparley::model::name::ServerName;

use crate::session::running_call::RunningCall;

/// The maximum number of tasks that are remembered for one client; the oldest are forgotten first.
const TASKS_MOST: usize = 1_024;

/// The era in which a server wrote a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TaskFlavor {
    /// A task of 2025-11-25.
    Old,
    /// A task of the extension of the new era.
    Extension,
}

/// The place of a task: its server, and its id there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TaskAddress {
    pub(crate) server: ServerName,
    pub(crate) flavor: TaskFlavor,
    pub(crate) id: String,
}

/// The tasks of one client.
#[derive(Debug, Default)]
pub(crate) struct ClientTasks {
    /// The tasks that the client has created, the newest last.
    created: Mutex<VecDeque<TaskAddress>>,
    /// The requests for results of tasks of the old era, during which servers ask a client of the new era.
    results: Mutex<HashMap<TaskAddress, RunningCall>>,
}

impl ClientTasks {
    /// Remembers a task that the client has created.
    pub(crate) fn remember_task(&self, task: TaskAddress) {
        let mut created = self.lock_created();
        created.retain(|known| *known != task);
        if created.len() >= TASKS_MOST {
            created.pop_front();
        }
        created.push_back(task);
    }

    /// Finds a task by the id that its server gave it.
    pub(crate) fn find_task(&self, id: &str) -> Option<TaskAddress> {
        self.lock_created().iter().rev().find(|known| known.id == id).cloned()
    }

    /// Whether the client has created this task.
    pub(crate) fn contains(&self, task: &TaskAddress) -> bool {
        self.lock_created().contains(task)
    }

    /// Takes the running request for the result of a task, until it is put back.
    pub(crate) fn take_result(&self, task: &TaskAddress) -> Option<RunningCall> {
        self.lock_results().remove(task)
    }

    /// Keeps the running request for the result of a task; without a place, it is canceled.
    pub(crate) fn keep_result(&self, task: TaskAddress, running: RunningCall) {
        let mut results = self.lock_results();
        if results.len() < TASKS_MOST {
            results.insert(task, running);
        }
    }

    /// Cancels all running requests for results.
    pub(crate) fn cancel_results(&self) {
        let results = std::mem::take(&mut *self.lock_results());
        drop(results);
    }

    fn lock_created(&self) -> MutexGuard<'_, VecDeque<TaskAddress>> {
        self.created.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_results(&self) -> MutexGuard<'_, HashMap<TaskAddress, RunningCall>> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
