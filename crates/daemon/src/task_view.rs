//! Durable calls as the command line sees them: asks the daemon, or reads its journal while none is running.

use mcparley_model::time::unix_milliseconds;
use std::io;
use std::time::SystemTime;

use mcparley::model::explain::Explain;
use mcparley::model::text::display_line;
use mcparley_gateway::control::ControlError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::control::{DaemonConnection, TaskQuery};
use crate::paths::DaemonPaths;
use crate::task_journal::TaskJournal;
use crate::task_record::{StoredTask, TaskList, TaskRecord, TaskRequest, TaskState};

/// The number of digits of an id in a table: enough to tell a thousand calls apart.
const SHORT_ID: usize = 8;

/// The number of times that the daemon is asked.
const ATTEMPTS: usize = 3;

/// The reason why a durable call cannot be started, found or canceled.
#[derive(Debug, thiserror::Error)]
pub enum TaskViewError {
    /// The daemon does not answer.
    #[error("the daemon does not answer: {0}")]
    Control(#[from] ControlError),
    /// The daemon did not take the call.
    #[error("the daemon did not take the call: {0}")]
    NotStarted(ControlError),
    /// The daemon did not say whether it took the call.
    #[error("the daemon did not say whether it took the call: {0}")]
    Unanswered(ControlError),
    /// The path of the project is not UTF-8.
    #[error("the path of the project is not UTF-8")]
    ProjectPath,
    /// No daemon is running.
    #[error("no daemon is running")]
    NoDaemon,
    /// The daemon cannot be started.
    #[error("the daemon cannot be started: {0}")]
    NotLaunched(String),
    /// There is no such call.
    #[error("there is no task `{}`", display_line(id))]
    NotFound {
        /// The id as it was given.
        id: String,
    },
    /// Several ids begin with these digits.
    #[error("{count} tasks have ids that begin with `{}`", display_line(id))]
    Ambiguous {
        /// The id as it was given.
        id: String,
        /// The number of tasks.
        count: usize,
    },
    /// The call has ended.
    #[error("task `{id}` is not running: it is {}", state.as_str())]
    NotRunning {
        /// The id.
        id: String,
        /// The state.
        state: TaskState,
    },
    /// The call is running.
    #[error("task `{id}` is running")]
    Running {
        /// The id.
        id: String,
    },
}

impl TaskViewError {
    /// Whether there is no such task, or more than one.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. } | Self::Ambiguous { .. })
    }

    /// Whether the state of the task does not permit it.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::NotRunning { .. } | Self::Running { .. })
    }
}

impl Explain for TaskViewError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::NotFound { .. } | Self::Ambiguous { .. } => {
                Some("run `mcparley tasks` to list tasks".to_owned())
            }
            Self::Unanswered(_) => {
                Some("run `mcparley tasks` before calling again: the call may have been started".to_owned())
            }
            Self::NotStarted(_) => {
                Some("`mcparley tasks` lists tasks, `mcparley tasks forget ID` removes one".to_owned())
            }
            Self::Running { id } => Some(format!("run `mcparley tasks cancel {id}` first")),
            Self::Control(_) => Some("run `mcparley daemon logs`".to_owned()),
            Self::ProjectPath | Self::NoDaemon | Self::NotLaunched(_) | Self::NotRunning { .. } => None,
        }
    }
}

/// Gives a permitted call to the running daemon. It is recorded when this returns.
///
/// # Errors
/// A [`TaskViewError`].
pub fn start_task(paths: &DaemonPaths, request: &TaskRequest) -> Result<TaskRecord, TaskViewError> {
    let request = serde_json::to_value(request).map_err(|_| TaskViewError::ProjectPath)?;
    let mut daemon = DaemonConnection::open(paths)?.ok_or(TaskViewError::NoDaemon)?;
    daemon.ask_about_tasks("daemon/start_task", &request).map_err(|error| match error {
        ControlError::Refused(_) | ControlError::AtLimit(_) => TaskViewError::NotStarted(error),
        error => TaskViewError::Unanswered(error),
    })
}

/// All durable calls, newest first.
///
/// # Errors
/// When the daemon does not answer.
pub fn list_tasks(paths: &DaemonPaths) -> Result<TaskList, TaskViewError> {
    let list = ask_daemon(paths, "daemon/tasks", &json!({}))?;
    Ok(list.unwrap_or_else(|| read_journal(paths).list_tasks(SystemTime::now())))
}

/// The durable call with an id that begins with these digits, and its result. A running one is waited for if `wait` is set.
///
/// # Errors
/// A [`TaskViewError`].
pub fn find_task(paths: &DaemonPaths, id: &str, wait: bool) -> Result<StoredTask, TaskViewError> {
    let id = complete_id(paths, id)?;
    loop {
        match poll_task(paths, &id, wait)? {
            None => return Err(TaskViewError::NotFound { id }),
            Some(StoredTask { task, .. }) if wait && task.state == TaskState::Running => {}
            Some(found) => return Ok(found),
        }
    }
}

/// The durable call with this id, and its result. A running one is waited for, for a moment, if `wait` is set.
pub(crate) fn poll_task(
    paths: &DaemonPaths,
    id: &str,
    wait: bool,
) -> Result<Option<StoredTask>, TaskViewError> {
    let query = TaskQuery { id: id.to_owned(), wait };
    Ok(match ask_daemon::<[Option<StoredTask>; 1]>(paths, "daemon/task", &query)? {
        Some([found]) => found,
        // Also if the daemon has ended meanwhile: its journal has the end of the call.
        None => read_journal(paths).find_task(id, SystemTime::now()),
    })
}

/// Cancels a running call, and returns it once it has ended.
///
/// # Errors
/// A [`TaskViewError`].
pub fn cancel_task(paths: &DaemonPaths, id: &str) -> Result<TaskRecord, TaskViewError> {
    let StoredTask { task, .. } = find_task(paths, id, false)?;
    let TaskRecord { id, state, .. } = task;
    if state != TaskState::Running {
        return Err(TaskViewError::NotRunning { id, state });
    }
    let query = TaskQuery { id: id.clone(), wait: false };
    let ended: Option<[Option<TaskRecord>; 1]> = ask_daemon(paths, "daemon/cancel_task", &query)?;
    match ended.ok_or(TaskViewError::NoDaemon)? {
        [None] => Err(TaskViewError::NotFound { id }),
        [Some(TaskRecord { state, .. })] if state != TaskState::Cancelled => {
            Err(TaskViewError::NotRunning { id, state })
        }
        [Some(task)] => Ok(task),
    }
}

/// Removes a call that has ended, and its result.
///
/// # Errors
/// A [`TaskViewError`].
pub fn forget_task(paths: &DaemonPaths, id: &str) -> Result<TaskRecord, TaskViewError> {
    let StoredTask { task, .. } = find_task(paths, id, false)?;
    let query = TaskQuery { id: task.id.clone(), wait: false };
    let is_removed = ask_daemon(paths, "daemon/remove_task", &query)?;
    match is_removed.unwrap_or_else(|| read_journal(paths).remove_task(&task.id)) {
        true => Ok(task),
        false => Err(TaskViewError::Running { id: task.id }),
    }
}

/// Asks the daemon; `None` if none is running. A connection that ends is opened again, since the daemon may have ended
/// and another one started.
fn ask_daemon<T: DeserializeOwned>(
    paths: &DaemonPaths,
    method: &str,
    params: &impl Serialize,
) -> Result<Option<T>, ControlError> {
    let mut attempts = 1..=ATTEMPTS;
    loop {
        let answer = DaemonConnection::open(paths)
            .and_then(|daemon| daemon.map(|mut daemon| daemon.ask_about_tasks(method, params)).transpose());
        let is_ended = match &answer {
            Ok(_) => false,
            Err(ControlError::Io(error)) => {
                matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
            }
            // A stream that ended in place of an answer.
            Err(ControlError::Malformed) => true,
            Err(
                ControlError::Folder(_)
                | ControlError::UnknownQuestion
                | ControlError::AtLimit(_)
                | ControlError::Refused(_),
            ) => false,
        };
        attempts.next();
        if !is_ended || attempts.is_empty() {
            return answer;
        }
    }
}

/// Renders a table of durable calls, without a header: id, state, age, tool, and the reason without a result.
#[must_use]
pub fn render_table(list: &TaskList, now: SystemTime) -> Vec<String> {
    let now_ms = unix_milliseconds(now);
    let row = |task: &TaskRecord| {
        let id: String = task.id.chars().take(SHORT_ID).collect();
        let (state, age) = (task.state.as_str(), format_age(now_ms.saturating_sub(task.created_ms)));
        let tool = display_line(&format!("{} {}", task.server, task.tool)).into_owned();
        let reason = task.error.as_deref().map(|error| format!("  {}", display_line(error)));
        format!("{id}  {state:<9}  {age:>8}  {tool}{}", reason.unwrap_or_default())
    };
    list.tasks.iter().map(row).collect()
}

/// Describes the state of a call in one line.
#[must_use]
pub fn describe_task(task: &TaskRecord, now: SystemTime) -> String {
    let what = display_line(&format!("{} {}", task.server, task.tool)).into_owned();
    let reason = task.error.as_deref().map(display_line).unwrap_or_default();
    match task.state {
        TaskState::Running => {
            let age = format_age(unix_milliseconds(now).saturating_sub(task.created_ms));
            format!("`{what}` is running, started {age} ago")
        }
        TaskState::Completed => format!("`{what}` has completed"),
        TaskState::Failed => format!("`{what}` failed: {reason}"),
        TaskState::Cancelled => format!("`{what}` was canceled"),
        TaskState::Unknown => format!("the outcome of `{what}` is unknown: {reason}"),
    }
}

/// An age in its largest unit, such as `5 min`.
fn format_age(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// The complete id that begins with these digits.
fn complete_id(paths: &DaemonPaths, given: &str) -> Result<String, TaskViewError> {
    let tasks = list_tasks(paths)?.tasks;
    let mut matching = tasks.into_iter().map(|task| task.id).filter(|id| id.starts_with(given));
    match (matching.next(), matching.count()) {
        (Some(id), 0) if !given.is_empty() => Ok(id),
        (Some(_), others) => Err(TaskViewError::Ambiguous { id: given.to_owned(), count: others + 1 }),
        (None, _) => Err(TaskViewError::NotFound { id: given.to_owned() }),
    }
}

fn read_journal(paths: &DaemonPaths) -> TaskJournal {
    TaskJournal::read(&paths.tasks, SystemTime::now())
}
