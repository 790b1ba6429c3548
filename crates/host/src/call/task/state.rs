//! Reads what a server says about a task, in both flavours.

use std::time::Duration;

use mcparley_model::limits::{TASK_ID_BYTES, TASK_MESSAGE_CHARS, TASK_POLL, TASK_POLL_LEAST, TASK_POLL_MOST};
use mcparley_model::text::cut;
use mcparley_wire::{Damage, Failure, RawJson, RpcError};
use serde::Deserialize;
use serde_json::Value;

/// How a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Working,
    /// The server wants to know something first.
    InputRequired,
    Completed,
    Failed,
    Cancelled,
}

/// What a server says about a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    pub(super) id: String,
    pub(super) status: Status,
    /// What is being done; text of the server.
    pub(super) message: Option<String>,
    /// When it was changed last, as the server writes it.
    updated: Option<String>,
    /// How long to wait before looking again.
    pub(super) pause: Duration,
}

impl Task {
    /// The task that a call has become, if it has: in 2025-11-25 the answer says so by what stands in it.
    pub(in crate::call) fn created(answer: &RawJson) -> Option<Result<Self, Failure>> {
        answer.member("task").map(|task| Self::read(&task))
    }

    pub(in crate::call) fn read(answer: &RawJson) -> Result<Self, Failure> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Wire {
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
        let wire: Wire = answer.decode()?;
        if wire.task_id.is_empty() || wire.task_id.len() > TASK_ID_BYTES {
            return Err(Failure::Protocol(
                format!("its task has no id, or one above {TASK_ID_BYTES} bytes").into(),
            ));
        }
        let text = |value: Value| value.as_str().map(|text| cut(text, TASK_MESSAGE_CHARS).into_owned());
        let wanted = [wire.poll_interval_ms, wire.poll_interval].iter().find_map(number);
        Ok(Self {
            id: wire.task_id,
            status: Status::read(&wire.status)?,
            message: text(wire.status_message),
            updated: text(wire.last_updated_at),
            pause: wanted.map_or(TASK_POLL, |wanted| wanted.clamp(TASK_POLL_LEAST, TASK_POLL_MOST)),
        })
    }

    /// Whether nothing has happened between the two.
    pub(super) fn looks_like(&self, other: &Self) -> bool {
        (self.status, &self.message, &self.updated) == (other.status, &other.message, &other.updated)
    }
}

fn number(value: &Value) -> Option<Duration> {
    let milliseconds = value.as_u64().or_else(|| value.as_f64().map(|number| number.max(0.0) as u64));
    milliseconds.map(Duration::from_millis)
}

impl Status {
    fn read(word: &str) -> Result<Self, Failure> {
        Ok(match word {
            "working" => Self::Working,
            "input_required" => Self::InputRequired,
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            "cancelled" => Self::Cancelled,
            _ => return Err(Failure::Protocol("its task stands in a way we do not know".into())),
        })
    }
}

/// What a task of the new era came to: the result of the call, or the error in its place.
pub(super) fn ended(answer: &RawJson) -> Result<RawJson, Failure> {
    if let Some(result) = answer.member("result") {
        return Ok(result);
    }
    let error = answer.member("error").and_then(|error| RpcError::of(&error));
    Err(error.map_or(Failure::Damaged(Damage::Shape), Failure::Answered))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(task: &Value) -> Result<Task, Failure> {
        Task::read(&RawJson::of(task).unwrap())
    }

    // X8
    #[test]
    fn both_flavours_are_read_and_the_pause_is_bounded() {
        let pause = |task: Value| read(&task).unwrap().pause.as_millis();
        let with = |name: &str, value: Value| json!({ "taskId": "1", "status": "working", name: value });
        assert_eq!(pause(with("pollInterval", json!(500))), 500);
        assert_eq!(pause(with("pollIntervalMs", json!(500.5))), 500);
        assert_eq!(pause(with("pollIntervalMs", json!(0))), TASK_POLL_LEAST.as_millis());
        assert_eq!(pause(with("pollIntervalMs", json!(-5))), TASK_POLL_LEAST.as_millis());
        assert_eq!(pause(with("pollIntervalMs", json!(86_400_000))), TASK_POLL_MOST.as_millis());
        assert_eq!(pause(with("pollInterval", json!("soon"))), TASK_POLL.as_millis());
        let old = json!({ "task": { "taskId": "1", "status": "input_required", "statusMessage": "m", "ttl": null } });
        let old = Task::created(&RawJson::of(&old).unwrap()).unwrap().unwrap();
        assert_eq!(
            (old.id.as_str(), old.status, old.message.as_deref()),
            ("1", Status::InputRequired, Some("m"))
        );
        assert!(Task::created(&RawJson::of(&json!({ "content": [] })).unwrap()).is_none());
    }

    // X8
    #[test]
    fn what_is_no_task_is_refused() {
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
    fn the_end_is_a_result_or_an_error() {
        let end = |answer: Value| ended(&RawJson::of(&answer).unwrap());
        assert_eq!(
            end(json!({ "status": "completed", "result": { "a": 1 } })).unwrap().as_str(),
            r#"{"a":1}"#
        );
        let failed = end(json!({ "status": "failed", "error": { "code": -7, "message": "no" } }));
        assert!(matches!(failed, Err(Failure::Answered(error)) if error.code == -7));
        assert!(matches!(end(json!({ "status": "completed" })), Err(Failure::Damaged(_))));
    }
}
