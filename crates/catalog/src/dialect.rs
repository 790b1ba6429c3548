//! Dialects: tool definitions in the format of a model's API, and the conversion of its calls back.
//!
//! | step | module |
//! |---|---|
//! | schemas that an API accepts unchanged | `unchanged`, `keyword` |
//! | other schemas, simplified and within limits | `read` → `plain_schema` |
//! | printed as JSON Schema, or as Gemini's subset of OpenAPI | `json_schema`, `open_api`, `names`, `description` |
//! | arguments restored for the tool's own schema | `restore` |
//! | one tool, the whole list, the JSON of a request | `rewrite`, `list`, `envelope` |
//!
//! The catalog keeps every schema as it came. Arguments are validated against that one, not against the one
//! that a model was shown.

mod description;
mod envelope;
mod json_schema;
mod json_types;
mod keyword;
mod list;
mod names;
mod open_api;
mod plain_schema;
mod read;
mod restore;
pub(crate) mod rewrite;
mod unchanged;

use std::str::FromStr;

pub use list::{ModelCall, ModelCallError, ModelTools};
pub use rewrite::WithheldReason;

/// The tool format of a model's API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's Responses API: function tools that are not strict.
    OpenAi,
    /// OpenAI's Chat Completions API, which many services implement.
    OpenAiChat,
    /// Gemini's `generateContent`.
    Gemini,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::OpenAi, Self::OpenAiChat, Self::Gemini];

    /// The name of the dialect on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::OpenAiChat => "openai-chat",
            Self::Gemini => "gemini",
        }
    }
}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|dialect| dialect.as_str() == name).ok_or(UnknownDialect)
    }
}

/// The error for an unknown dialect name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected `anthropic`, `openai`, `openai-chat` or `gemini`")]
pub struct UnknownDialect;

#[cfg(test)]
mod tests;
