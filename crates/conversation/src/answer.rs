//! A model's answer, built from the pieces of a stream and bounded in size.

use mcparley_model::limits::conversation::{ANSWER_BYTES, ANSWER_CALLS};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::error::StreamProblem;
use crate::message::{AnswerPart, ModelToolCall};

/// A complete answer of a model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ModelAnswer {
    pub(crate) parts: Vec<AnswerPart>,
    pub(crate) stop: StopReason,
    pub(crate) usage: TokenUsage,
}

impl ModelAnswer {
    /// The text of the answer.
    pub(crate) fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            AnswerPart::Text { text, .. } => Some(text.as_str()),
            AnswerPart::Call(_) | AnswerPart::Private { .. } => None,
        });
        texts.collect()
    }

    /// The calls of the answer.
    pub(crate) fn calls(&self) -> Vec<ModelToolCall> {
        let calls = self.parts.iter().filter_map(|part| match part {
            AnswerPart::Call(call) => Some(call.clone()),
            AnswerPart::Text { .. } | AnswerPart::Private { .. } => None,
        });
        calls.collect()
    }
}

/// The reason why a model, or the conversation, stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// The model has finished.
    EndTurn,
    /// The model waits for the results of its calls.
    ToolUse,
    /// The answer reached the limit of its tokens and is cut off.
    MaxTokens,
    /// The answer reached a stop sequence.
    StopSequence,
    /// The model or its provider refused to answer.
    Refusal,
    /// The conversation does not fit into the context of the model any more.
    ContextFull,
    /// The model called tools in more rounds than allowed.
    RoundLimit,
    /// A reason that is not known here.
    Other(String),
}

impl StopReason {
    /// The name in JSON.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::MaxTokens => "max_tokens",
            Self::StopSequence => "stop_sequence",
            Self::Refusal => "refusal",
            Self::ContextFull => "context_full",
            Self::RoundLimit => "round_limit",
            Self::Other(other) => other,
        }
    }

    /// Whether the answer is whole.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        match self {
            Self::EndTurn | Self::ToolUse | Self::StopSequence | Self::Other(_) => true,
            Self::MaxTokens | Self::Refusal | Self::ContextFull | Self::RoundLimit => false,
        }
    }
}

impl Serialize for StopReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The tokens that the provider counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// The tokens of the requests, without those read from a cache or written to one.
    pub input_tokens: u64,
    /// The tokens of the answers.
    pub output_tokens: u64,
    /// The tokens of the requests that were read from the provider's cache.
    pub cache_read_tokens: u64,
    /// The tokens of the requests that were written to the provider's cache.
    pub cache_write_tokens: u64,
}

impl TokenUsage {
    pub(crate) fn add(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cache_read_tokens = self.cache_read_tokens.saturating_add(other.cache_read_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
    }
}

/// Builds an answer from the pieces of a stream.
#[derive(Debug, Default)]
pub(crate) struct AnswerBuilder {
    parts: Vec<AnswerPart>,
    /// The arguments of calls that come as pieces of JSON text, by the index of their part.
    arguments: Vec<(usize, String)>,
    bytes: usize,
    calls: usize,
    pub(crate) stop: Option<StopReason>,
    pub(crate) usage: TokenUsage,
}

impl AnswerBuilder {
    /// Adds a part and returns its index.
    pub(crate) fn add_part(&mut self, part: AnswerPart) -> Result<usize, StreamProblem> {
        let size = match &part {
            AnswerPart::Text { text, .. } => text.len(),
            AnswerPart::Call(call) => call.id.len() + call.name.len() + call.arguments.to_string().len(),
            AnswerPart::Private { block, .. } => block.to_string().len(),
        };
        self.count_bytes(size)?;
        if matches!(part, AnswerPart::Call(_)) {
            self.calls += 1;
        }
        if self.calls > ANSWER_CALLS {
            return Err(StreamProblem::TooManyCalls);
        }
        self.parts.push(part);
        Ok(self.parts.len() - 1)
    }

    /// Adds text to the last part, or as a new part if the last is signed or no text.
    pub(crate) fn add_text(&mut self, piece: &str) -> Result<(), StreamProblem> {
        if let Some(AnswerPart::Text { text, signature: None }) = self.parts.last_mut() {
            text.push_str(piece);
            return self.count_bytes(piece.len());
        }
        self.add_part(AnswerPart::Text { text: piece.to_owned(), signature: None }).map(drop)
    }

    /// Adds a piece of the JSON text of a call's arguments.
    pub(crate) fn add_arguments(&mut self, part: usize, piece: &str) -> Result<(), StreamProblem> {
        self.count_bytes(piece.len())?;
        match self.arguments.iter_mut().find(|(known, _)| *known == part) {
            Some((_, text)) => text.push_str(piece),
            None => self.arguments.push((part, piece.to_owned())),
        }
        Ok(())
    }

    /// The part at an index, to change it.
    pub(crate) fn part_mut(&mut self, index: usize) -> Option<&mut AnswerPart> {
        self.parts.get_mut(index)
    }

    /// The number of calls so far.
    pub(crate) fn call_count(&self) -> usize {
        self.calls
    }

    /// Counts bytes of the answer against its limit.
    pub(crate) fn count_bytes(&mut self, bytes: usize) -> Result<(), StreamProblem> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > ANSWER_BYTES { Err(StreamProblem::TooLarge { limit: ANSWER_BYTES }) } else { Ok(()) }
    }

    /// The complete answer. Blank texts are left out, because APIs do not accept them back.
    pub(crate) fn finish(mut self, stop: StopReason) -> ModelAnswer {
        for (index, text) in std::mem::take(&mut self.arguments) {
            if let Some(AnswerPart::Call(call)) = self.parts.get_mut(index) {
                call.arguments = parse_arguments(&text);
            }
        }
        let is_blank = |part: &AnswerPart| matches!(part, AnswerPart::Text { text, signature: None } if text.trim().is_empty());
        self.parts.retain(|part| !is_blank(part));
        ModelAnswer { parts: self.parts, stop, usage: self.usage }
    }
}

/// Parses the arguments of a call. Text that is not JSON stays a string, which the tool list rejects with a
/// message for the model.
fn parse_arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(Map::new());
    }
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}
