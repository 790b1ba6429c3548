//! The tools in the form of a model's API, and the way back from what the model wrote (N13).
//!
//! | step | where |
//! |---|---|
//! | what an API takes as it is | `accepted`, `keyword` |
//! | what a schema means, plainly and within bounds | `read` → `part` |
//! | that as JSON Schema, or as Gemini's subset of OpenAPI | `json_schema`, `open_api`, `names`, `about` |
//! | arguments as the tool wants them | `back` |
//! | one tool, the whole list, as a request has it | `rewrite`, `list`, `envelope` |
//!
//! The catalogue keeps every schema as it came: arguments are checked against that, whatever a model was told.

mod about;
mod accepted;
mod back;
mod envelope;
mod json_schema;
mod keyword;
mod kinds;
mod list;
mod names;
mod open_api;
mod part;
mod read;
mod rewrite;

use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use mcparley_model::tool::Tool;

use super::{Budget, Catalog, Offer};
pub use list::{ModelCallError, ModelTools};
use rewrite::Rewritten;
pub use rewrite::Withholding;

/// The form of tools that an API wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's Responses API: function tools that are not strict.
    OpenAi,
    /// OpenAI's Chat Completions API, which many services speak.
    OpenAiChat,
    /// Gemini's `generateContent`.
    Gemini,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::OpenAi, Self::OpenAiChat, Self::Gemini];

    /// Its name on a command line.
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

/// There is no dialect of this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected `anthropic`, `openai`, `openai-chat` or `gemini`")]
pub struct UnknownDialect;

impl Catalog {
    /// What a model is shown of it within a budget, in the form of its API.
    #[must_use]
    pub fn for_model(&self, dialect: Dialect, budget: &Budget) -> ModelTools {
        self.offer(budget).for_model(dialect)
    }
}

impl Offer {
    /// The same in the form of a model's API.
    #[must_use]
    pub fn for_model(&self, dialect: Dialect) -> ModelTools {
        ModelTools::new(dialect, &self.listed, &self.deferred, self.search())
    }
}

/// What a tool is in each dialect, worked out when it is first asked for.
#[derive(Debug, Default)]
pub(super) struct Translations([OnceLock<Result<Arc<Rewritten>, Withholding>>; 3]);

impl Translations {
    fn of(&self, dialect: Dialect, tool: &Tool) -> Result<Arc<Rewritten>, Withholding> {
        let [anthropic, open_ai, gemini] = &self.0;
        let kept = match dialect {
            Dialect::Anthropic => anthropic,
            // Both wrap the same thing.
            Dialect::OpenAi | Dialect::OpenAiChat => open_ai,
            Dialect::Gemini => gemini,
        };
        kept.get_or_init(|| Rewritten::new(dialect, tool).map(Arc::new)).clone()
    }
}

#[cfg(test)]
mod tests;
