//! Durable calls as client and daemon exchange them, and as the journal stores them.

use std::path::PathBuf;
use std::time::Duration;

use mcparley::CallOutcome;
use mcparley::call::DetachedCall;
use mcparley::pool::attach::protocol::AttachRequest;
use mcparley::results::RawJson;
use mcparley::results::shape_outcome;
use mcparley_model::limits::{DURABLE_TTL, DURABLE_TTL_MOST};
use mcparley_model::time::whole_milliseconds;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A permitted call that the daemon makes after its client has left.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskRequest {
    /// The server, as the client would attach to it.
    pub attach: AttachRequest,
    /// The server's own name of the tool.
    pub tool: String,
    /// The arguments as JSON text, which is sent to the byte.
    pub arguments: String,
    /// Members of `_meta` for the server.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
    /// The owner, for a call of a gateway's client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The time in milliseconds that the server may be silent.
    pub limit_ms: u64,
    /// The time in milliseconds for which the result is kept after the end of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
}

impl TaskRequest {
    /// The request for a permitted call, with the time for which its result is kept.
    #[must_use]
    pub fn from_call(call: DetachedCall, ttl: Option<Duration>) -> Self {
        let milliseconds = whole_milliseconds;
        Self {
            attach: call.attach,
            tool: call.tool.as_str().to_owned(),
            arguments: call.arguments.as_str().to_owned(),
            meta: Map::new(),
            owner: None,
            limit_ms: milliseconds(call.limit),
            ttl_ms: ttl.map(milliseconds),
        }
    }

    /// The time for which the result is kept: within the limits.
    pub(crate) fn ttl(&self) -> Duration {
        self.ttl_ms.map_or(DURABLE_TTL, Duration::from_millis).min(DURABLE_TTL_MOST)
    }
}

impl std::fmt::Debug for TaskRequest {
    /// Omits the arguments, which belong to the user.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TaskRequest")
            .field("attach", &self.attach)
            .field("tool", &self.tool)
            .finish_non_exhaustive()
    }
}

/// The state of a durable call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskState {
    /// The call was sent, or is about to be.
    Running,
    /// The server has answered with a result.
    Completed,
    /// There is no result.
    Failed,
    /// The user has canceled the call.
    Cancelled,
    /// The daemon ended while the call ran: it may have been executed, and is never repeated.
    Unknown,
}

impl TaskState {
    /// The state as a word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Unknown => "unknown",
        }
    }
}

/// A durable call without its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskRecord {
    /// The id: 128 random bits as hexadecimal digits.
    pub id: String,
    /// The state.
    pub state: TaskState,
    /// The name of the server at the client.
    pub server: String,
    /// The server's own name of the tool.
    pub tool: String,
    /// The project of the client.
    pub project: PathBuf,
    /// The session of the client.
    pub session: String,
    /// The owner, for a call of a gateway's client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The time of the request, in milliseconds since 1970.
    pub created_ms: u64,
    /// The time of the end, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<u64>,
    /// The time in milliseconds for which the result is kept after the end.
    pub ttl_ms: u64,
    /// Whether the result is an error of the tool.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// The reason why there is no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl TaskRecord {
    /// Whether the time for which the result is kept has passed.
    pub(crate) fn is_expired(&self, now_ms: u64) -> bool {
        self.ended_ms.is_some_and(|ended| ended.saturating_add(self.ttl_ms) <= now_ms)
    }
}

/// A durable call with its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredTask {
    /// The call.
    pub task: TaskRecord,
    /// The result as JSON text, as the server sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

impl StoredTask {
    /// The result as the outcome of a call.
    #[must_use]
    pub fn to_outcome(&self) -> Option<CallOutcome> {
        let answer = RawJson::from_text(self.result.as_deref()?);
        Some(shape_outcome(answer.clone()).unwrap_or_else(|_| CallOutcome::from_raw(answer)))
    }
}

/// All durable calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskList {
    /// The calls, newest first.
    pub tasks: Vec<TaskRecord>,
    /// The files of the journal that cannot be used, and the reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// The end of a durable call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TaskEnd {
    /// A result, as JSON text.
    Completed(String),
    /// A failure, and its reason.
    Failed(String),
    /// The user has canceled it.
    Cancelled,
    /// The daemon ends, and with it the call.
    Interrupted,
}
