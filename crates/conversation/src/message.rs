//! The messages of a conversation, independent of the model's API.

use mcparley::results::dialect::{ModelCallAnswer, ModelCallResult};
use mcparley::{CallOutcome, ContentBlock};
use serde_json::Value;

use crate::provider::Provider;

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Message {
    /// Text and media of the user.
    User(Vec<ContentBlock>),
    /// An answer of the model.
    Assistant(Vec<AnswerPart>),
    /// The results of the calls of the answer before it, in the same order.
    Results(Vec<ToolReply>),
}

/// A part of a model's answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AnswerPart {
    /// Text, with the signature that Gemini wants back.
    Text { text: String, signature: Option<String> },
    /// A call of a tool.
    Call(ModelToolCall),
    /// A block that only its provider understands, such as signed thoughts; it is sent back unchanged.
    Private { provider: Provider, block: Value },
}

/// A call that a model requests.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ModelToolCall {
    /// The model's id for the call.
    pub(crate) id: String,
    /// Whether the id is ours, because the API gave none.
    pub(crate) is_own_id: bool,
    /// The tool's name as the model wrote it.
    pub(crate) name: String,
    /// The arguments; a string if the model wrote no valid JSON.
    pub(crate) arguments: Value,
    /// The signature that Gemini wants back.
    pub(crate) signature: Option<String>,
}

/// The result of a call of a model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToolReply {
    pub(crate) id: String,
    pub(crate) is_own_id: bool,
    pub(crate) name: String,
    /// The outcome, or the reason why there is none.
    pub(crate) answer: Result<Box<CallOutcome>, String>,
}

impl ToolReply {
    /// The result in the form that the result dialects take.
    pub(crate) fn as_call_result(&self) -> ModelCallResult<'_> {
        let answer = match &self.answer {
            Ok(outcome) => ModelCallAnswer::Outcome(outcome),
            Err(message) => ModelCallAnswer::Error(message),
        };
        ModelCallResult { id: &self.id, name: &self.name, answer }
    }
}

/// The results of a message in the form that the result dialects take.
pub(crate) fn call_results(answers: &[ToolReply]) -> Vec<ModelCallResult<'_>> {
    answers.iter().map(ToolReply::as_call_result).collect()
}
