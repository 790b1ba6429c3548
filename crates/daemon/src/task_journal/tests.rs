//! The journal keeps durable calls through crashes, and never loses or repeats one silently.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, UNIX_EPOCH};

use mcparley_platform::file::store_cache_file;
use serde_json::json;
use tempfile::TempDir;

use super::*;

fn request(tool: &str) -> TaskRequest {
    serde_json::from_value(json!({
        "attach": {
            "wire": 1, "pid": 1, "server": "one", "signature": "00", "hasOwnFolder": false, "inheritsEnv": false,
            "launch": {"program": "true", "args": [], "env": [], "cwd": null}, "share": "auto", "era": "auto",
            "capabilities": {}, "roots": [], "session": "s", "project": "/p", "messageLimit": 1000,
        },
        "tool": tool, "arguments": "{}", "limitMs": 1000, "ttlMs": 60_000,
    }))
    .unwrap()
}

/// A folder for a journal, and a time.
fn fixture() -> (TempDir, PathBuf, SystemTime) {
    let folder = tempfile::tempdir().unwrap();
    let tasks = folder.path().join("daemon/tasks");
    (folder, tasks, UNIX_EPOCH + Duration::from_secs(1_000_000))
}

fn completed(text: &str) -> TaskEnd {
    TaskEnd::Completed(text.to_owned())
}

fn state_of(journal: &TaskJournal, id: &str, now: SystemTime) -> TaskState {
    journal.find_task(id, now).unwrap().task.state
}

// G10
#[test]
fn completed_task_keeps_its_result_to_the_byte_after_a_restart() {
    let (_folder, tasks, now) = fixture();
    let result = r#"{"content":[{"type":"text","text":"a\nb"}],"n":1.10}"#;
    let journal = TaskJournal::open(&tasks, now);
    let task = journal.begin_task(&request("echo"), now).unwrap();
    journal.end_task(&task.id, completed(result), now);
    let ended = TaskRecord { state: TaskState::Completed, ended_ms: Some(1_000_000_000), ..task.clone() };
    let stored = StoredTask { task: ended, result: Some(result.to_owned()) };
    assert_eq!(journal.find_task(&task.id, now), Some(stored.clone()));
    assert_eq!(TaskJournal::open(&tasks, now).find_task(&task.id, now), Some(stored));
}

// G10: the file is there before the call is sent, private, under an id that cannot be guessed.
#[test]
fn running_task_has_a_private_file_and_a_random_id() {
    let (_folder, tasks, now) = fixture();
    let journal = TaskJournal::open(&tasks, now);
    let (one, two) =
        (journal.begin_task(&request("a"), now).unwrap(), journal.begin_task(&request("a"), now).unwrap());
    assert!(one.id != two.id && one.id.len() == 32);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&journal.path_of(&one.id)), mode(&tasks)), (0o600, 0o700));
}

// G10: what was interrupted is unknown, also without a daemon, and stays so.
#[test]
fn task_that_ran_when_the_daemon_ended_is_unknown() {
    let (_folder, tasks, now) = fixture();
    let id = TaskJournal::open(&tasks, now).begin_task(&request("a"), now).unwrap().id;
    let later = now + Duration::from_secs(10);
    let read = TaskJournal::read(&tasks, later);
    assert_eq!(state_of(&read, &id, later), TaskState::Unknown);
    let opened = TaskJournal::open(&tasks, later);
    let unknown = opened.find_task(&id, later).unwrap().task;
    assert_eq!(unknown.error.as_deref(), Some(INTERRUPTED));
    let again = TaskJournal::open(&tasks, later + Duration::from_secs(10));
    assert_eq!(again.find_task(&id, later).unwrap().task, unknown);
}

// G10
#[test]
fn expired_task_is_removed_with_its_file_and_a_running_one_is_not() {
    let (_folder, tasks, now) = fixture();
    let journal = TaskJournal::open(&tasks, now);
    let running = journal.begin_task(&request("a"), now).unwrap().id;
    let ended = journal.begin_task(&request("a"), now).unwrap().id;
    let end = now + Duration::from_secs(3600);
    journal.end_task(&ended, completed("{}"), end);
    let before = end + Duration::from_millis(59_999);
    assert_eq!(journal.list_tasks(before).tasks.len(), 2, "the time begins with the end of the call");
    let after = end + Duration::from_secs(60);
    assert_eq!(journal.find_task(&ended, after), None);
    assert!(!journal.path_of(&ended).exists());
    assert_eq!(state_of(&journal, &running, after), TaskState::Running);
}

// G10
#[test]
fn time_to_keep_a_result_is_bounded() {
    let wish = |ttl_ms| TaskRequest { ttl_ms, ..request("a") }.ttl();
    assert_eq!(wish(None), Duration::from_hours(24));
    assert_eq!(wish(Some(5)), Duration::from_millis(5));
    assert_eq!(wish(Some(u64::MAX)), Duration::from_hours(720));
}

// G10: a full disk, simulated by a folder that cannot be created.
#[test]
fn task_that_cannot_be_stored_is_not_started() {
    let (_folder, tasks, now) = fixture();
    store_cache_file(&tasks, "no folder").unwrap();
    let journal = TaskJournal::open(&tasks, now);
    let error = journal.begin_task(&request("a"), now).unwrap_err().to_string();
    assert!(error.starts_with("the call was not sent, because its task cannot be stored: "), "{error}");
    assert_eq!(journal.list_tasks(now).tasks, []);
}

// G10: a disk that is full at the end of the call.
#[test]
fn result_that_cannot_be_stored_is_told_as_a_failure() {
    let (_folder, tasks, now) = fixture();
    let journal = TaskJournal::open(&tasks, now);
    let id = journal.begin_task(&request("a"), now).unwrap().id;
    std::fs::remove_dir_all(&tasks).unwrap();
    store_cache_file(&tasks, "no folder").unwrap();
    journal.end_task(&id, completed("{}"), now);
    let task = journal.find_task(&id, now).unwrap().task;
    assert_eq!(task.state, TaskState::Failed);
    assert!(task.error.unwrap().starts_with("it completed, but its result cannot be stored: "));
}

// G10
#[test]
fn damaged_files_are_skipped_and_told() {
    let (_folder, tasks, now) = fixture();
    let id = TaskJournal::open(&tasks, now).begin_task(&request("a"), now).unwrap().id;
    store_cache_file(&tasks.join("bad.task"), "{").unwrap();
    std::fs::copy(tasks.join(format!("{id}.task")), tasks.join("copy.task")).unwrap();
    std::fs::create_dir(tasks.join("folder.task")).unwrap();
    let list = TaskJournal::open(&tasks, now).list_tasks(now);
    assert_eq!(list.tasks.len(), 1);
    assert_eq!(list.problems.len(), 3, "{:?}", list.problems);
    assert!(list.problems[0].contains("bad.task: it is damaged"), "{:?}", list.problems);
}

// G10
#[test]
fn result_that_is_too_large_is_a_failure_that_names_the_limit() {
    let (_folder, tasks, now) = fixture();
    let journal = TaskJournal::open(&tasks, now);
    let id = journal.begin_task(&request("a"), now).unwrap().id;
    journal.end_task(&id, completed(&"x".repeat(DURABLE_RESULT_BYTES + 1)), now);
    let task = journal.find_task(&id, now).unwrap().task;
    let reason = "the result has 6291457 bytes, and a task keeps at most 6291456";
    assert_eq!((task.state, task.error.as_deref()), (TaskState::Failed, Some(reason)));
}

// G10
#[test]
fn number_of_running_tasks_is_bounded() {
    let (_folder, tasks, now) = fixture();
    let journal = TaskJournal::open(&tasks, now);
    let ids: Vec<_> =
        (0..DURABLE_CALLS_RUNNING).map(|_| journal.begin_task(&request("a"), now).unwrap().id).collect();
    assert!(matches!(journal.begin_task(&request("a"), now), Err(TaskStartError::Busy)));
    journal.end_task(&ids[0], TaskEnd::Cancelled, now);
    journal.begin_task(&request("a"), now).unwrap();
}

// G10
#[test]
fn tasks_are_listed_newest_first_and_only_ended_ones_are_removed() {
    let (_folder, tasks, now) = fixture();
    let journal = TaskJournal::open(&tasks, now);
    let old = journal.begin_task(&request("old"), now).unwrap().id;
    let new = journal.begin_task(&request("new"), now + Duration::from_secs(1)).unwrap().id;
    let listed: Vec<_> = journal.list_tasks(now).tasks.into_iter().map(|task| task.tool).collect();
    assert_eq!(listed, ["new", "old"]);
    assert!(!journal.remove_task(&old), "it is running");
    journal.end_task(&new, TaskEnd::Failed("broken".to_owned()), now);
    assert!(journal.remove_task(&new) && !journal.path_of(&new).exists());
}

/// A journal with as many calls as it keeps, all of a gateway's clients and ended at this time.
fn full_journal(tasks: &Path, ended: SystemTime) -> TaskJournal {
    let journal = TaskJournal::open(tasks, ended);
    let owned = TaskRequest { owner: Some("user".to_owned()), ttl_ms: None, ..request("a") };
    let real = journal.begin_task(&owned, ended).unwrap();
    journal.end_task(&real.id, completed("{}"), ended);
    let mut state = journal.lock_state();
    let first = state.tasks[&real.id].clone();
    for number in 1..DURABLE_CALLS {
        let id = format!("{number:032}");
        state.tasks.insert(id.clone(), TaskRecord { id, ..first.clone() });
    }
    drop(state);
    journal
}

// G10: a gateway that makes every call a task must not stop working after a thousand of them.
#[test]
fn full_journal_drops_the_result_of_a_gateway_that_was_read_first_and_keeps_the_others() {
    let (_folder, tasks, now) = fixture();
    let journal = full_journal(&tasks, now);
    let real =
        journal.list_tasks(now).tasks.into_iter().find(|task| journal.path_of(&task.id).exists()).unwrap().id;
    assert!(
        matches!(journal.begin_task(&request("b"), now), Err(TaskStartError::Full)),
        "no result was read"
    );
    assert_eq!(state_of(&journal, &real, now), TaskState::Completed);
    journal.begin_task(&request("b"), now).unwrap();
    assert!(journal.find_task(&real, now).is_none() && !journal.path_of(&real).exists());
    assert_eq!(journal.list_tasks(now).tasks.len(), DURABLE_CALLS);
    assert!(
        matches!(journal.begin_task(&request("b"), now), Err(TaskStartError::Full)),
        "the others are kept"
    );
}

// G10
#[test]
fn full_journal_drops_results_that_no_client_has_read_for_an_hour_but_never_those_of_the_command_line() {
    let (_folder, tasks, now) = fixture();
    let journal = full_journal(&tasks, now);
    let later = now + DURABLE_UNREAD_TIME;
    let before = later - Duration::from_millis(1);
    assert!(matches!(journal.begin_task(&request("b"), before), Err(TaskStartError::Full)));
    journal.begin_task(&request("b"), later).unwrap();
    journal.lock_state().tasks.values_mut().for_each(|task| task.owner = None);
    assert!(matches!(journal.begin_task(&request("b"), later), Err(TaskStartError::Full)));
}
