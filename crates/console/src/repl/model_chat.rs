//! The seam to a model: the console sends it a message and prints the events of its answer.

use std::time::Duration;

use mcparley::{BoxedFuture, ContentBlock};
use serde_json::Value;
use tokio::sync::mpsc;

/// A conversation with a model that uses the tools of the host.
pub trait ModelChat: Send {
    /// The name of the model, for the greeting and `/model`.
    fn model_name(&self) -> String;

    /// Sends a message of the user, and reports the events of the answer until it is complete. Dropping the
    /// future cancels the answer and the calls of the model.
    fn send_message<'c>(
        &'c mut self,
        message: Vec<ContentBlock>,
        events: mpsc::UnboundedSender<ChatEvent>,
    ) -> BoxedFuture<'c, Result<(), ChatFailure>>;

    /// Forgets all messages.
    fn forget_messages(&mut self);
}

/// An event of an answer. All texts come from a model or a server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ChatEvent {
    /// A piece of the model's text.
    TextDelta(String),
    /// The text is complete; calls or another text may follow.
    TextEnd,
    /// The model has called a tool.
    ToolStarted {
        /// The tool, as `server.tool`.
        label: String,
        /// The arguments of the call.
        arguments: Value,
    },
    /// A call of the model has finished.
    ToolFinished {
        /// The tool, as `server.tool`.
        label: String,
        /// The arguments of the call.
        arguments: Value,
        /// The time from the start to the end.
        duration: Duration,
        /// The outcome in one or two words; `ok` for success.
        outcome: String,
        /// A remark about the result, such as the size of a stored part.
        remark: Option<String>,
        /// The result, as the model was given it.
        text: String,
    },
    /// A message about the request itself, such as a retry.
    Notice(String),
}

/// The reason why a model gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ChatFailure {
    /// The message.
    pub message: String,
    /// The suggested fix.
    pub hint: Option<String>,
}
