//! Results in the form of a model's API: the counterpart of the tool lists in `mcparley_catalog::dialect`.
//!
//! | API | form | module |
//! |---|---|---|
//! | Anthropic Messages | `tool_result` blocks of one user message | `anthropic` |
//! | OpenAI Chat Completions | one `tool` message per call, images in a user message behind all of them | `open_ai` |
//! | OpenAI Responses | one `function_call_output` item per call | `open_ai` |
//! | Gemini `generateContent` | `functionResponse` parts, images and audio as `inlineData` parts behind them | `gemini` |
//!
//! Pure functions. Content that an API does not accept becomes a line of text, because one bad block makes an
//! API refuse the whole request.

mod anthropic;
mod gemini;
mod media;
mod open_ai;
mod parts;
#[cfg(test)]
mod tests;

pub use anthropic::{anthropic_content, anthropic_tool_results};
pub use gemini::{gemini_function_responses, gemini_parts};
pub use open_ai::{open_ai_chat_content, open_ai_chat_messages, open_ai_function_outputs};

use crate::outcome::CallOutcome;

/// The answer to one call of a model: the result of the tool, or the reason why there is none.
#[derive(Clone, Copy, Debug)]
pub struct ModelCallResult<'r> {
    /// The model's id for the call.
    pub id: &'r str,
    /// The tool's name as the model wrote it.
    pub name: &'r str,
    /// The result.
    pub answer: ModelCallAnswer<'r>,
}

/// The result of one call, for a model.
#[derive(Clone, Copy, Debug)]
pub enum ModelCallAnswer<'r> {
    /// The tool ran; its outcome may be an error of the tool.
    Outcome(&'r CallOutcome),
    /// The tool gave no outcome: the reason, in words a model can act on.
    Error(&'r str),
}

impl ModelCallAnswer<'_> {
    /// Whether the model is told that the call failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        match self {
            Self::Outcome(outcome) => outcome.is_error,
            Self::Error(_) => true,
        }
    }
}
