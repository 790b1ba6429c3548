//! Parses the state of a task, in both flavors.

use std::time::Duration;

use mcparley_model::limits::{TASK_ID_BYTES, TASK_MESSAGE_CHARS, TASK_POLL, TASK_POLL_LEAST, TASK_POLL_MOST};
use mcparley_model::text::truncate_text;
use mcparley_wire::{Damage, Failure, RawJson, RpcError};
use serde::Deserialize;
use serde_json::Value;

/// The status of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskStatus {
    Working,
    /// The server requires input first.
    InputRequired,
    Completed,
    Failed,
    Cancelled,
}

/// The state of a task as its server reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    pub(super) id: String,
    pub(super) status: TaskStatus,
    /// The status message; text of the server.
    pub(super) message: Option<String>,
    /// The time of the last change, as the server writes it.
    updated: Option<String>,
    /// The poll interval.
    pub(super) pause: Duration,
}

impl Task {
    /// The task that a call has become, if it has. In 2025-11-25 the member `task` of the answer tells so.
    pub(in crate::call) fn from_call_answer(answer: &RawJson) -> Option<Result<Self, Failure>> {
        answer.member("task").map(|task| Self::parse(&task))
    }

    pub(in crate::call) fn parse(answer: &RawJson) -> Result<Self, Failure> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct RawTask {
            task_id: String,
            status: String,
            #[serde(default)]
            status_message: Value,
            #[serde(default)]
            last_updated_at: Value,
            #[serde(default)]
            poll_interval: Value,
            #[serde(default)]
            poll_interval_ms: Value,
        }
        let wire: RawTask = answer.decode()?;
        if wire.task_id.is_empty() || wire.task_id.len() > TASK_ID_BYTES {
            return Err(Failure::Protocol(
                format!("its task has no id, or one longer than {TASK_ID_BYTES} bytes").into(),
            ));
        }
        let text =
            |value: Value| value.as_str().map(|text| truncate_text(text, TASK_MESSAGE_CHARS).into_owned());
        let wanted = [wire.poll_interval_ms, wire.poll_interval].iter().find_map(parse_milliseconds);
        Ok(Self {
            id: wire.task_id,
            status: TaskStatus::parse(&wire.status)?,
            message: text(wire.status_message),
            updated: text(wire.last_updated_at),
            pause: wanted.map_or(TASK_POLL, |wanted| wanted.clamp(TASK_POLL_LEAST, TASK_POLL_MOST)),
        })
    }

    /// The id that the server gave the task.
    pub(in crate::call) fn id(&self) -> &str {
        &self.id
    }

    /// Whether the task has not changed between the two polls.
    pub(super) fn is_same_state(&self, other: &Self) -> bool {
        (self.status, &self.message, &self.updated) == (other.status, &other.message, &other.updated)
    }
}

fn parse_milliseconds(value: &Value) -> Option<Duration> {
    let milliseconds = value.as_u64().or_else(|| value.as_f64().map(|number| number.max(0.0) as u64));
    milliseconds.map(Duration::from_millis)
}

impl TaskStatus {
    fn parse(word: &str) -> Result<Self, Failure> {
        Ok(match word {
            "working" => Self::Working,
            "input_required" => Self::InputRequired,
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            "cancelled" => Self::Cancelled,
            _ => return Err(Failure::Protocol("its task has an unknown status".into())),
        })
    }
}

/// The result of an ended task of the new era: the result of the call, or the error in its place.
pub(super) fn task_result(answer: &RawJson) -> Result<RawJson, Failure> {
    if let Some(result) = answer.member("result") {
        return Ok(result);
    }
    let error = answer.member("error").and_then(|error| RpcError::from_json(&error));
    Err(error.map_or(Failure::Damaged(Damage::Shape), Failure::ErrorResponse))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(task: &Value) -> Result<Task, Failure> {
        Task::parse(&RawJson::from_value(task).unwrap())
    }

    // X8
    #[test]
    fn both_task_flavors_are_parsed_and_the_poll_interval_is_bounded() {
        let pause = |task: Value| read(&task).unwrap().pause.as_millis();
        let with = |name: &str, value: Value| json!({ "taskId": "1", "status": "working", name: value });
        assert_eq!(pause(with("pollInterval", json!(500))), 500);
        assert_eq!(pause(with("pollIntervalMs", json!(500.5))), 500);
        assert_eq!(pause(with("pollIntervalMs", json!(0))), TASK_POLL_LEAST.as_millis());
        assert_eq!(pause(with("pollIntervalMs", json!(-5))), TASK_POLL_LEAST.as_millis());
        assert_eq!(pause(with("pollIntervalMs", json!(86_400_000))), TASK_POLL_MOST.as_millis());
        assert_eq!(pause(with("pollInterval", json!("soon"))), TASK_POLL.as_millis());
        let old = json!({ "task": { "taskId": "1", "status": "input_required", "statusMessage": "m", "ttl": null } });
        let old = Task::from_call_answer(&RawJson::from_value(&old).unwrap()).unwrap().unwrap();
        assert_eq!(
            (old.id.as_str(), old.status, old.message.as_deref()),
            ("1", TaskStatus::InputRequired, Some("m"))
        );
        assert!(Task::from_call_answer(&RawJson::from_value(&json!({ "content": [] })).unwrap()).is_none());
    }

    // X8
    #[test]
    fn invalid_task_is_rejected() {
        for task in [
            json!({ "taskId": "1" }),
            json!({ "taskId": "", "status": "working" }),
            json!({ "taskId": "1", "status": "asleep" }),
            json!({ "taskId": "x".repeat(TASK_ID_BYTES + 1), "status": "working" }),
            json!({ "taskId": 1, "status": "working" }),
        ] {
            assert!(read(&task).is_err(), "{:.80}", task.to_string());
        }
    }

    // X8
    #[test]
    fn ended_task_has_a_result_or_an_error() {
        let end = |answer: Value| task_result(&RawJson::from_value(&answer).unwrap());
        assert_eq!(
            end(json!({ "status": "completed", "result": { "a": 1 } })).unwrap().as_str(),
            r#"{"a":1}"#
        );
        let failed = end(json!({ "status": "failed", "error": { "code": -7, "message": "no" } }));
        assert!(matches!(failed, Err(Failure::ErrorResponse(error)) if error.code == -7));
        assert!(matches!(end(json!({ "status": "completed" })), Err(Failure::Damaged(_))));
    }
}
