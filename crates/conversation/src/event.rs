//! The events of one turn of a conversation, for a console or a script.

use std::time::Duration;

use mcparley_model::text::display_line;
use mcparley_model::time::serialize_milliseconds;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::answer::{StopReason, TokenUsage};
use crate::call_label::format_call;
use crate::error::ModelError;

/// An event of a turn. The last one is [`Finished`](Self::Finished) or [`Failed`](Self::Failed).
///
/// All texts come from a model or a server: clean them before they reach a terminal.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConversationEvent {
    /// A piece of the model's text.
    TextDelta(String),
    /// The text of one answer is complete; more may follow after tool calls.
    TextEnd,
    /// A call of a tool has started.
    ToolStarted(StartedTool),
    /// A call of a tool has finished.
    ToolFinished(FinishedTool),
    /// The tokens of one request and its answer.
    Usage(TokenUsage),
    /// A request failed and is sent again after a pause.
    Retrying {
        /// The reason.
        reason: String,
        /// The pause.
        pause: Duration,
    },
    /// The turn has ended.
    Finished(TurnSummary),
    /// The turn failed. The conversation can go on: results of calls before the failure are kept.
    Failed(ModelError),
}

/// A call of a tool that has started.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StartedTool {
    /// The model's id for the call.
    pub id: String,
    /// The tool's name in the catalog; for an unknown tool the name that the model wrote.
    pub name: String,
    /// The name for people: `server.tool`.
    pub label: String,
    /// The arguments, in the form of the tool's own schema.
    pub arguments: Value,
}

/// A call of a tool that has finished. Its JSON form is part of `mcparley ask --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FinishedTool {
    /// The model's id for the call.
    pub id: String,
    /// The tool's name in the catalog; for an unknown tool the name that the model wrote.
    pub name: String,
    /// The name for people: `server.tool`.
    #[serde(skip)]
    pub label: String,
    /// The arguments, in the form of the tool's own schema.
    pub arguments: Value,
    /// The kind of outcome.
    pub outcome: ToolCallStatus,
    /// The error, unless the tool succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The time from the start to the end.
    #[serde(rename = "durationMs", serialize_with = "serialize_milliseconds")]
    pub duration: Duration,
    /// The number of images that the model was given.
    #[serde(skip_serializing_if = "is_zero")]
    pub images: usize,
    /// The bytes of the result that were stored, because it was too long for a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored_bytes: Option<u64>,
    /// The result as text, as the model was given it.
    #[serde(skip)]
    pub text: String,
}

impl FinishedTool {
    /// The call as one line for people, without control sequences: the call, its time and its outcome.
    #[must_use]
    pub fn to_line(&self) -> String {
        let call = format_call(&self.label, &self.arguments);
        let mut line = format!("● {call}  {:.1} s", self.duration.as_secs_f64());
        if let Some(bytes) = self.stored_bytes {
            line.push_str(&format!(" ▸ {} kB stored", bytes.div_ceil(1000)));
        }
        if self.outcome != ToolCallStatus::Ok {
            let reason = self.error.as_deref().unwrap_or_default().lines().next().unwrap_or_default();
            line.push_str(&format!(" ▸ {}: {}", self.outcome.as_str(), display_line(reason)));
        }
        line
    }
}

/// The kind of outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ToolCallStatus {
    /// The tool succeeded.
    Ok,
    /// The tool ran and returned an error.
    ToolError,
    /// The call was not permitted.
    Denied,
    /// The tool does not exist, or its arguments are invalid.
    Invalid,
    /// The server could not be used, or the call failed.
    Failed,
}

impl ToolCallStatus {
    /// The name of the status.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ToolError => "tool error",
            Self::Denied => "denied",
            Self::Invalid => "invalid call",
            Self::Failed => "failed",
        }
    }
}

/// The summary of a turn: the JSON form of `mcparley ask`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TurnSummary {
    /// The model, as `provider:model`.
    pub model: String,
    /// The text of the last answer.
    pub text: String,
    /// The calls of tools, in the order in which they finished.
    pub tool_calls: Vec<FinishedTool>,
    /// The tokens of all requests and answers.
    pub usage: TokenUsage,
    /// The number of requests to the model.
    pub rounds: usize,
    /// The reason of the end.
    pub stop_reason: StopReason,
}

/// Sends the events of a turn to its reader.
#[derive(Clone, Debug)]
pub(crate) struct EventSink(Option<mpsc::Sender<ConversationEvent>>);

impl EventSink {
    pub(crate) fn new(sender: mpsc::Sender<ConversationEvent>) -> Self {
        Self(Some(sender))
    }

    /// A sink without a reader.
    pub(crate) fn discarding() -> Self {
        Self(None)
    }

    /// Sends an event, and lets the reader handle it before the work goes on: text must be on the terminal
    /// before a tool call opens a dialog.
    pub(crate) async fn send(&self, event: ConversationEvent) {
        if let Some(sender) = &self.0 {
            // The reader is dropped only together with the turn.
            let _gone = sender.send(event).await;
            tokio::task::yield_now().await;
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}
