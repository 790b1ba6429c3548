//! The durable calls that run in the daemon: their start, their cancellation and their end in the journal.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use mcparley_model::limits::DURABLE_POLL_TIME;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::share_facts::ShareFacts;
use crate::shared_state::DaemonShared;
use crate::task_call::call_tool;
use crate::task_journal::{TaskJournal, TaskStartError};
use crate::task_record::{StoredTask, TaskEnd, TaskList, TaskRecord, TaskRequest, TaskState};

/// The durable calls of the daemon.
#[derive(Debug)]
pub(crate) struct TaskRunner {
    journal: Arc<TaskJournal>,
    state: Mutex<RunnerState>,
}

#[derive(Debug, Default)]
struct RunnerState {
    /// Ends each running call.
    stops: HashMap<String, oneshot::Sender<TaskEnd>>,
    work: JoinSet<()>,
    is_stopping: bool,
}

impl TaskRunner {
    /// Opens the journal in this folder.
    pub(crate) fn open(folder: &Path) -> Self {
        Self { journal: Arc::new(TaskJournal::open(folder, SystemTime::now())), state: Mutex::default() }
    }

    /// Records a call and starts it. It goes on if the caller gives up.
    pub(crate) async fn start_task(
        &self,
        shared: &Arc<DaemonShared>,
        facts: ShareFacts,
        request: TaskRequest,
    ) -> Result<TaskRecord, TaskStartError> {
        if self.lock_state().is_stopping || shared.is_draining() {
            return Err(TaskStartError::Ending);
        }
        // Counted from here, so that the daemon does not end while the journal is written.
        let client = shared.count_client();
        let (shared, journal, facts) = (Arc::clone(shared), Arc::clone(&self.journal), Arc::new(facts));
        let starting = tokio::task::spawn_blocking(move || {
            let task = journal.begin_task(&request, SystemTime::now())?;
            let id = task.id.clone();
            let (stop, stopped) = oneshot::channel();
            let runner = Arc::clone(&shared);
            let running = async move {
                let _client = client;
                let calling = call_tool(&shared.table, &facts, &request);
                let end = tokio::select! {
                    biased;
                    Ok(end) = stopped => end,
                    end = calling => end,
                };
                shared.tasks.record_end(id, end).await;
            };
            runner.tasks.add_running(&task.id, stop, running);
            Ok(task)
        });
        // Blocking work is dropped only when the runtime ends.
        starting.await.unwrap_or(Err(TaskStartError::Ending))
    }

    fn add_running(
        &self,
        id: &str,
        stop: oneshot::Sender<TaskEnd>,
        running: impl Future<Output = ()> + Send + 'static,
    ) {
        let mut state = self.lock_state();
        while state.work.try_join_next().is_some() {}
        if state.is_stopping {
            // The future takes its end before it begins the call.
            let _taken = stop.send(TaskEnd::Interrupted);
        } else {
            state.stops.insert(id.to_owned(), stop);
        }
        state.work.spawn(running);
    }

    /// Records the end of a call.
    async fn record_end(&self, id: String, end: TaskEnd) {
        self.lock_state().stops.remove(&id);
        let journal = Arc::clone(&self.journal);
        // The work cannot panic: a result that is not stored is recorded as such.
        let _done = tokio::task::spawn_blocking(move || journal.end_task(&id, end, SystemTime::now())).await;
    }

    /// Cancels a running call, and returns it once it has ended; `None` if there is no such call.
    pub(crate) async fn cancel_task(&self, id: &str) -> Option<TaskRecord> {
        let stop = self.lock_state().stops.remove(id);
        if let Some(stop) = stop {
            // A call that has just ended needs no cancellation.
            let _ended = stop.send(TaskEnd::Cancelled);
        }
        self.journal.wait_until_ended(id).await;
        let id = id.to_owned();
        self.use_journal(move |journal| journal.find_task(&id, SystemTime::now()))
            .await?
            .map(|stored| stored.task)
    }

    /// Removes a call that has ended, with its result.
    pub(crate) async fn remove_task(&self, id: &str) -> bool {
        let id = id.to_owned();
        self.use_journal(move |journal| journal.remove_task(&id)).await.unwrap_or_default()
    }

    /// All calls, newest first.
    pub(crate) async fn list_tasks(&self) -> TaskList {
        self.use_journal(|journal| journal.list_tasks(SystemTime::now())).await.unwrap_or_default()
    }

    /// One call with its result. A running one is waited for, for a moment, if `wait` is set.
    pub(crate) async fn find_task(&self, id: &str, wait: bool) -> Option<StoredTask> {
        if wait {
            // The caller asks again.
            let _running = tokio::time::timeout(DURABLE_POLL_TIME, self.journal.wait_until_ended(id)).await;
        }
        let id = id.to_owned();
        self.use_journal(move |journal| journal.find_task(&id, SystemTime::now())).await?
    }

    /// The number of running calls.
    pub(crate) async fn running_count(&self) -> usize {
        let tasks = self.list_tasks().await.tasks;
        tasks.iter().filter(|task| task.state == TaskState::Running).count()
    }

    /// Uses the journal on a thread that may block; `None` when the runtime ends.
    async fn use_journal<T: Send + 'static>(
        &self,
        work: impl FnOnce(&TaskJournal) -> T + Send + 'static,
    ) -> Option<T> {
        let journal = Arc::clone(&self.journal);
        tokio::task::spawn_blocking(move || work(&journal)).await.ok()
    }

    /// Ends the running calls, and records that their outcome is unknown.
    pub(crate) async fn shut_down(&self) {
        let mut work = {
            let mut state = self.lock_state();
            state.is_stopping = true;
            for (_, stop) in state.stops.drain() {
                // A call that has just ended keeps its own end.
                let _ended = stop.send(TaskEnd::Interrupted);
            }
            std::mem::take(&mut state.work)
        };
        while work.join_next().await.is_some() {}
    }

    fn lock_state(&self) -> MutexGuard<'_, RunnerState> {
        // Every change is a single step, so a panic leaves the state consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
