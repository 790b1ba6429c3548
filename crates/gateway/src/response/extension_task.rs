//! A task of 2025-11-25 in the form of the extension of the new era.

use mcparley_wire::RawJson;
use serde_json::{Map, Value, json};

use crate::response::handshake::result_meta;

/// The end of a task, or the questions it waits with.
#[derive(Debug)]
pub(crate) enum TaskDetail {
    /// The result or error of the call, as the member of this name.
    Ended(&'static str, Value),
    /// The open questions, by key.
    Questions(Map<String, Value>),
}

/// A task of the old era for a client of the new era, with the client's id.
pub(crate) fn to_extension_task(task: &RawJson, id: &str) -> Map<String, Value> {
    let task: Map<String, Value> = task.decode().unwrap_or_default();
    let mut form = Map::new();
    form.insert("taskId".to_owned(), json!(id));
    for name in ["status", "statusMessage", "createdAt", "lastUpdatedAt"] {
        if let Some(value) = task.get(name) {
            form.insert(name.to_owned(), value.clone());
        }
    }
    // Without a time to live, a task is kept for an unlimited time.
    form.insert("ttlMs".to_owned(), task.get("ttl").cloned().unwrap_or_default());
    if let Some(poll) = task.get("pollInterval") {
        form.insert("pollIntervalMs".to_owned(), poll.clone());
    }
    form
}

/// The result of the call that has become a task.
pub(crate) fn to_created_result(mut task: Map<String, Value>) -> Value {
    task.insert("resultType".to_owned(), json!("task"));
    task.insert("_meta".to_owned(), result_meta());
    task.into()
}

/// The result of `tasks/get`.
pub(crate) fn to_poll_result(mut task: Map<String, Value>, detail: Option<TaskDetail>) -> Value {
    let (status, member) = match detail {
        Some(TaskDetail::Ended("error", value)) => (Some("failed"), Some(("error", value))),
        // A failed result is a result: only a request that has none fails.
        Some(TaskDetail::Ended(name, value)) => (Some("completed"), Some((name, value))),
        Some(TaskDetail::Questions(questions)) => {
            (Some("input_required"), Some(("inputRequests", questions.into())))
        }
        // The questions of the server have not come yet.
        None if task.get("status").is_some_and(|status| status == "input_required") => {
            (Some("working"), None)
        }
        None => (None, None),
    };
    if let Some(status) = status {
        task.insert("status".to_owned(), json!(status));
    }
    if let Some((name, value)) = member {
        task.insert(name.to_owned(), value);
    }
    task.insert("resultType".to_owned(), json!("complete"));
    task.insert("_meta".to_owned(), result_meta());
    task.into()
}
