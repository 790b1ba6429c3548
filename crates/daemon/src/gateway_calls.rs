//! Durable calls of a gateway's clients: the daemon makes them, and its journal keeps them.

use std::time::{Duration, Instant, SystemTime};

use mcparley::BoxedFuture;
use mcparley::call::DetachedCall;
use mcparley::pool::attach::{DaemonLink, DaemonStarter};
use mcparley::results::RawJson;
use mcparley_gateway::control::ControlError;
use mcparley_gateway::{DurableCallError, DurableCalls, DurableState, DurableTask};
use mcparley_model::limits::DAEMON_START_TIME;

use crate::control::DaemonConnection;
use crate::paths::DaemonPaths;
use crate::task_record::{StoredTask, TaskRecord, TaskRequest, TaskState};
use crate::task_view::{self, TaskViewError};

/// The pause between two looks at a daemon that starts.
const PAUSE: Duration = Duration::from_millis(5);

/// Gives durable calls of a gateway to the daemon, which is started for them.
#[derive(Clone)]
pub struct DaemonCalls {
    paths: DaemonPaths,
    link: DaemonLink,
    starter: DaemonStarter,
}

impl DaemonCalls {
    /// Uses the daemon with these paths; `starter` starts it where none is running.
    #[must_use]
    pub fn new(paths: DaemonPaths, link: DaemonLink, starter: DaemonStarter) -> Self {
        Self { paths, link, starter }
    }

    /// Runs a request to the daemon on a thread that may block. It ends soon, also if the client has left.
    fn ask_daemon<T: Send + 'static>(
        &self,
        request: impl FnOnce(&Self) -> Result<T, TaskViewError> + Send + 'static,
    ) -> BoxedFuture<'static, Result<T, DurableCallError>> {
        let calls = self.clone();
        Box::pin(async move {
            let answer = tokio::task::spawn_blocking(move || request(&calls)).await;
            match answer {
                Ok(Ok(answer)) => Ok(answer),
                Ok(Err(TaskViewError::NotRunning { .. })) => Err(DurableCallError::NotRunning),
                Ok(Err(error @ TaskViewError::NotStarted(ControlError::AtLimit(_)))) => {
                    Err(DurableCallError::AtLimit(Box::new(error)))
                }
                Ok(Err(error)) => Err(DurableCallError::Unavailable(Box::new(error))),
                // Only the end of the runtime cancels such work.
                Err(error) => Err(DurableCallError::Unavailable(Box::new(error))),
            }
        })
    }

    /// Starts the daemon unless it is running.
    fn ensure_running(&self) -> Result<(), TaskViewError> {
        if DaemonConnection::open(&self.paths)?.is_some() {
            return Ok(());
        }
        (self.starter)().map_err(TaskViewError::NotLaunched)?;
        let deadline = Instant::now() + DAEMON_START_TIME * 10;
        while DaemonConnection::open(&self.paths)?.is_none() {
            if Instant::now() >= deadline {
                return Err(TaskViewError::NoDaemon);
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }
}

impl DurableCalls for DaemonCalls {
    fn link(&self) -> &DaemonLink {
        &self.link
    }

    fn start_call<'d>(
        &'d self,
        call: DetachedCall,
        owner: &'d str,
        ttl: Option<Duration>,
    ) -> BoxedFuture<'d, Result<DurableTask, DurableCallError>> {
        let request = TaskRequest { owner: Some(owner.to_owned()), ..TaskRequest::from_call(call, ttl) };
        self.ask_daemon(move |calls| {
            calls.ensure_running()?;
            let task = task_view::start_task(&calls.paths, &request)?;
            Ok(to_durable(StoredTask { task, result: None }))
        })
    }

    fn find_task<'d>(
        &'d self,
        id: &'d str,
        wait: bool,
    ) -> BoxedFuture<'d, Result<Option<DurableTask>, DurableCallError>> {
        let id = id.to_owned();
        self.ask_daemon(move |calls| Ok(task_view::poll_task(&calls.paths, &id, wait)?.map(to_durable)))
    }

    fn list_tasks(&self) -> BoxedFuture<'_, Result<Vec<DurableTask>, DurableCallError>> {
        self.ask_daemon(|calls| {
            let list = task_view::list_tasks(&calls.paths)?;
            let stored = |task| StoredTask { task, result: None };
            Ok(list.tasks.into_iter().map(stored).map(to_durable).collect())
        })
    }

    fn cancel_task<'d>(&'d self, id: &'d str) -> BoxedFuture<'d, Result<DurableTask, DurableCallError>> {
        let id = id.to_owned();
        self.ask_daemon(move |calls| {
            let task = task_view::cancel_task(&calls.paths, &id)?;
            Ok(to_durable(StoredTask { task, result: None }))
        })
    }
}

impl std::fmt::Debug for DaemonCalls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DaemonCalls").field("paths", &self.paths).finish_non_exhaustive()
    }
}

fn to_durable(StoredTask { task, result }: StoredTask) -> DurableTask {
    let unknown = task_view::describe_task(&task, SystemTime::now());
    let TaskRecord { id, state, server, owner, created_ms, ended_ms, ttl_ms, error, is_error, .. } = task;
    let (state, error) = match state {
        TaskState::Running => (DurableState::Running, error),
        TaskState::Completed => (DurableState::Completed, error),
        TaskState::Failed => (DurableState::Failed, error),
        TaskState::Cancelled => (DurableState::Cancelled, error),
        TaskState::Unknown => (DurableState::Failed, Some(unknown)),
    };
    let result = result.map(|text| RawJson::from_text(&text));
    DurableTask { id, owner, server, state, created_ms, ended_ms, ttl_ms, is_error, error, result }
}
