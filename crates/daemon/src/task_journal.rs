//! The journal of durable calls, which survives the end of the daemon: one private file for each call.
//!
//! The first line of a file is the [`TaskRecord`], the rest is the result. A file is replaced as a whole and synced:
//! before the call is sent, and after it has ended. So a call that a killed daemon has sent is always found, as
//! running, and the next daemon records that its outcome is unknown.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use mcparley::results::RawJson;
use mcparley_model::limits::{
    DURABLE_CALLS, DURABLE_CALLS_RUNNING, DURABLE_HEAD_BYTES, DURABLE_RESULT_BYTES, DURABLE_UNREAD_TIME,
};
use mcparley_model::time::{unix_milliseconds, whole_milliseconds};
use mcparley_platform::file::{
    FileUpdateError, PrivateChange, PrivateFolder, PrivateFolderError, list_dir, read_private_bytes,
    remove_file_if, update_private,
};
use tokio::sync::watch;

use crate::task_record::{StoredTask, TaskEnd, TaskList, TaskRecord, TaskRequest, TaskState};

/// The end of the names of the journal's files.
const SUFFIX: &str = ".task";

/// The maximum size of a file.
const FILE_BYTES: u64 = DURABLE_HEAD_BYTES + DURABLE_RESULT_BYTES as u64 + 1;

/// The maximum number of files that are looked at: those of the calls, and temporary files of killed writers.
const FILES: usize = DURABLE_CALLS * 4;

/// The reason for the state of a call that was running when its daemon ended.
const INTERRUPTED: &str = "the daemon ended while it ran, so it may have taken effect";

/// The reason why a durable call was not started. It was not sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TaskStartError {
    /// Too many calls are kept.
    #[error("{DURABLE_CALLS} tasks are kept already")]
    Full,
    /// Too many calls run.
    #[error("{DURABLE_CALLS_RUNNING} tasks are running already")]
    Busy,
    /// The folder of the journal cannot be used.
    #[error("the call was not sent, because its task cannot be stored: {0}")]
    Folder(#[from] PrivateFolderError),
    /// The file of the call cannot be written.
    #[error("the call was not sent, because its task cannot be stored: {0}")]
    Write(#[from] FileUpdateError<Infallible>),
    /// The system gives no random numbers.
    #[error("the system gives no random numbers")]
    NoRandomness,
    /// The daemon is ending.
    #[error("the daemon is ending")]
    Ending,
}

/// The journal of durable calls.
#[derive(Debug)]
pub(crate) struct TaskJournal {
    folder: PathBuf,
    state: Mutex<JournalState>,
    /// Counts the changes.
    changes: watch::Sender<u64>,
}

impl TaskStartError {
    /// Whether a limit of the journal is reached.
    pub(crate) fn is_limit(&self) -> bool {
        matches!(self, Self::Full | Self::Busy)
    }
}

#[derive(Debug, Default)]
struct JournalState {
    tasks: HashMap<String, TaskRecord>,
    /// The ended calls whose results were read from this daemon.
    read: HashSet<String>,
    problems: Vec<String>,
}

impl TaskJournal {
    /// Opens the journal for the daemon. Calls that were running have an unknown outcome from now on.
    pub(crate) fn open(folder: &Path, now: SystemTime) -> Self {
        let journal = Self::read(folder, now);
        let mut state = journal.lock_state();
        let JournalState { tasks, problems, .. } = &mut *state;
        for task in tasks.values().filter(|task| task.state == TaskState::Unknown) {
            // Those that were unknown before have the same text already, and are not written again.
            if let Err(error) = journal.write_file(task, None) {
                problems.push(format!("{}: {error}", journal.path_of(&task.id).display()));
            }
        }
        drop(state);
        journal.remove_expired(now);
        journal
    }

    /// Reads the journal without a daemon. The state of a call is changed in memory only.
    pub(crate) fn read(folder: &Path, now: SystemTime) -> Self {
        let mut state = JournalState::default();
        let paths = match list_dir(folder, SUFFIX, FILES) {
            Ok(paths) => paths,
            Err(error) => {
                state.problems.push(error.to_string());
                Vec::new()
            }
        };
        let opened = if paths.is_empty() { None } else { Some(PrivateFolder::open(folder)) };
        let now_ms = unix_milliseconds(now);
        match opened {
            None => {}
            Some(Err(error)) => state.problems.push(error.to_string()),
            Some(Ok(folder)) => {
                for path in paths {
                    match read_head(&folder, &path) {
                        Ok(task) => state.add_read_task(task, now_ms),
                        Err(reason) => state.problems.push(format!("{}: {reason}", path.display())),
                    }
                }
            }
        }
        Self { folder: folder.to_owned(), state: Mutex::new(state), changes: watch::Sender::new(0) }
    }

    /// Records a call that is about to be sent. It is on the disk when this returns.
    ///
    /// # Errors
    /// A [`TaskStartError`]; the call must not be sent then.
    pub(crate) fn begin_task(
        &self,
        request: &TaskRequest,
        now: SystemTime,
    ) -> Result<TaskRecord, TaskStartError> {
        self.remove_expired(now);
        let task = TaskRecord {
            id: random_id()?,
            state: TaskState::Running,
            server: request.attach.server.clone(),
            tool: request.tool.clone(),
            project: request.attach.project.clone(),
            session: request.attach.session.clone(),
            owner: request.owner.clone(),
            created_ms: unix_milliseconds(now),
            ended_ms: None,
            ttl_ms: whole_milliseconds(request.ttl()),
            is_error: false,
            error: None,
        };
        let displaced = self.lock_state().reserve_place(&task)?;
        displaced.iter().for_each(|id| self.remove_file(id));
        let stored = PrivateFolder::open(&self.folder)
            .map_err(TaskStartError::from)
            .and_then(|_folder| Ok(self.write_file(&task, None)?));
        match stored {
            Ok(()) => Ok(task),
            Err(error) => {
                self.lock_state().tasks.remove(&task.id);
                Err(error)
            }
        }
    }

    /// Records the end of a call, on the disk first.
    pub(crate) fn end_task(&self, id: &str, end: TaskEnd, now: SystemTime) {
        let Some(mut task) = self.lock_state().tasks.get(id).cloned() else { return };
        let mut result = None;
        (task.state, task.error) = match end {
            TaskEnd::Completed(text) if text.len() > DURABLE_RESULT_BYTES => {
                let (bytes, most) = (text.len(), DURABLE_RESULT_BYTES);
                let reason = format!("the result has {bytes} bytes, and a task keeps at most {most}");
                (TaskState::Failed, Some(reason))
            }
            TaskEnd::Completed(text) => {
                let is_error = RawJson::from_text(&text).member("isError").and_then(|it| it.decode().ok());
                task.is_error = is_error.unwrap_or_default();
                result = Some(text);
                (TaskState::Completed, None)
            }
            TaskEnd::Failed(reason) => (TaskState::Failed, Some(reason)),
            TaskEnd::Cancelled => (TaskState::Cancelled, None),
            TaskEnd::Interrupted => (TaskState::Unknown, Some(INTERRUPTED.to_owned())),
        };
        task.ended_ms = Some(unix_milliseconds(now));
        if let Err(error) = self.write_file(&task, result.as_deref()) {
            let what = if result.is_some() { "it completed, but its result" } else { "its end" };
            let reason = format!("{what} cannot be stored: {error}");
            (task.state, task.error) = (TaskState::Failed, Some(reason));
            // A shorter file may still fit. If not, the next daemon finds the call as running, thus unknown.
            if let Err(error) = self.write_file(&task, None) {
                self.lock_state().problems.push(format!("{}: {error}", self.path_of(id).display()));
            }
        }
        self.lock_state().tasks.insert(id.to_owned(), task);
        self.changes.send_modify(|count| *count += 1);
    }

    /// Removes a call that has ended; returns whether there was one.
    pub(crate) fn remove_task(&self, id: &str) -> bool {
        let mut state = self.lock_state();
        let is_over = state.tasks.get(id).is_some_and(|task| task.state != TaskState::Running);
        if is_over {
            state.remove_task(id);
            drop(state);
            self.remove_file(id);
        }
        is_over
    }

    /// All calls, newest first.
    pub(crate) fn list_tasks(&self, now: SystemTime) -> TaskList {
        self.remove_expired(now);
        let state = self.lock_state();
        let mut tasks: Vec<_> = state.tasks.values().cloned().collect();
        tasks.sort_by(|a, b| (b.created_ms, &b.id).cmp(&(a.created_ms, &a.id)));
        TaskList { tasks, problems: state.problems.clone() }
    }

    /// The call with this id, and its result.
    pub(crate) fn find_task(&self, id: &str, now: SystemTime) -> Option<StoredTask> {
        self.remove_expired(now);
        let mut task = self.lock_state().tasks.get(id)?.clone();
        if task.state != TaskState::Running {
            self.lock_state().read.insert(id.to_owned());
        }
        if task.state != TaskState::Completed {
            return Some(StoredTask { task, result: None });
        }
        match self.read_result(id) {
            Ok(result) => Some(StoredTask { task, result: Some(result) }),
            Err(reason) => {
                task.state = TaskState::Failed;
                task.error = Some(format!("it completed, but its result cannot be read: {reason}"));
                Some(StoredTask { task, result: None })
            }
        }
    }

    /// Waits until the call with this id does not run.
    pub(crate) async fn wait_until_ended(&self, id: &str) {
        let mut changes = self.changes.subscribe();
        let is_running =
            || self.lock_state().tasks.get(id).is_some_and(|task| task.state == TaskState::Running);
        // The sender lives as long as the journal.
        while is_running() && changes.changed().await.is_ok() {}
    }

    /// Removes expired calls.
    fn remove_expired(&self, now: SystemTime) {
        let now_ms = unix_milliseconds(now);
        let mut state = self.lock_state();
        let expired = state.tasks.extract_if(|_, task| task.is_expired(now_ms));
        let expired: Vec<String> = expired.map(|(id, _)| id).collect();
        expired.iter().for_each(|id| state.remove_task(id));
        drop(state);
        expired.iter().for_each(|id| self.remove_file(id));
    }

    fn remove_file(&self, id: &str) {
        // A file that cannot be removed is expired for the next daemon too.
        let _kept = remove_file_if(&self.path_of(id), FILE_BYTES, |_| true);
    }

    /// Replaces the file of a call, and syncs it.
    fn write_file(&self, task: &TaskRecord, result: Option<&str>) -> Result<(), FileUpdateError<Infallible>> {
        // A record of strings and numbers can always be written as JSON.
        let mut content = serde_json::to_vec(task).unwrap_or_default();
        content.push(b'\n');
        content.extend_from_slice(result.unwrap_or_default().as_bytes());
        update_private(&self.path_of(&task.id), FILE_BYTES, |old| {
            let is_same = old == Some(content.as_slice());
            Ok(if is_same { PrivateChange::Keep } else { PrivateChange::Replace(content) })
        })?;
        Ok(())
    }

    fn read_result(&self, id: &str) -> Result<String, String> {
        let bytes = read_private_bytes(&self.path_of(id), FILE_BYTES).map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes.ok_or("its file is gone")?).map_err(|error| error.to_string())?;
        let (_, result) = text.split_once('\n').ok_or("its file is damaged")?;
        Ok(result.to_owned())
    }

    fn path_of(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}{SUFFIX}"))
    }

    fn lock_state(&self) -> MutexGuard<'_, JournalState> {
        // Every change is a single step, so a panic leaves the state consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl JournalState {
    /// Adds a call that was read from its file. One that was running has an unknown outcome.
    fn add_read_task(&mut self, mut task: TaskRecord, now_ms: u64) {
        if task.state == TaskState::Running {
            task.state = TaskState::Unknown;
            task.error = Some(INTERRUPTED.to_owned());
            task.ended_ms = Some(now_ms);
        }
        self.tasks.insert(task.id.clone(), task);
    }

    /// Adds a call that is about to begin, if there is a place for it; returns the call that makes room, if one has to.
    fn reserve_place(&mut self, task: &TaskRecord) -> Result<Option<String>, TaskStartError> {
        let running = self.tasks.values().filter(|task| task.state == TaskState::Running).count();
        if running >= DURABLE_CALLS_RUNNING {
            return Err(TaskStartError::Busy);
        }
        let displaced = match self.tasks.len() < DURABLE_CALLS {
            true => None,
            false => Some(self.displaceable_task(task.created_ms).ok_or(TaskStartError::Full)?),
        };
        displaced.iter().for_each(|id| self.remove_task(id));
        self.tasks.insert(task.id.clone(), task.clone());
        Ok(displaced)
    }

    /// The call of a gateway's client that can make room: the one that ended first of those whose results were read, or
    /// else of those that were not read for a long time.
    fn displaceable_task(&self, now_ms: u64) -> Option<String> {
        let unread_ms = u64::try_from(DURABLE_UNREAD_TIME.as_millis()).unwrap_or(u64::MAX);
        let ended = self.tasks.values().filter(|task| task.owner.is_some());
        let ended = ended.filter_map(|task| Some((!self.read.contains(&task.id), task.ended_ms?, &task.id)));
        let (is_unread, ended_ms, id) = ended.min()?;
        (!is_unread || ended_ms.saturating_add(unread_ms) <= now_ms).then(|| id.clone())
    }

    fn remove_task(&mut self, id: &str) {
        self.tasks.remove(id);
        self.read.remove(id);
    }
}

/// Reads the first line of a file; the error is the reason why it cannot be used.
fn read_head(folder: &PrivateFolder, path: &Path) -> Result<TaskRecord, String> {
    let name = path.file_name().and_then(|name| name.to_str()).ok_or("its name is not UTF-8")?;
    let file = folder.open_file(name).map_err(|error| error.to_string())?;
    let mut line = Vec::new();
    let mut input = BufReader::new(file).take(DURABLE_HEAD_BYTES);
    input.read_until(b'\n', &mut line).map_err(|error| error.to_string())?;
    let task: TaskRecord =
        serde_json::from_slice(&line).map_err(|error| format!("it is damaged: {error}"))?;
    match name.strip_suffix(SUFFIX) == Some(&*task.id) {
        true => Ok(task),
        false => Err("it is damaged: it has the id of another task".to_owned()),
    }
}

fn random_id() -> Result<String, TaskStartError> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|_| TaskStartError::NoRandomness)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests;
