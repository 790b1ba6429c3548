//! The size limit for the text of one result, in characters and tokens.

use crate::token_estimate;
use mcparley_model::expand::Env;
use mcparley_model::limits::{RESULT_CHARS, RESULT_TOKENS};
use mcparley_model::tool::Tool;

/// The characters and tokens that the text of one result may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultBudget {
    pub(crate) chars: usize,
    pub(crate) tokens: usize,
}

impl ResultBudget {
    /// The budget for one tool. A tool that declares its own length in characters has no token limit.
    #[must_use]
    pub fn for_tool(self, tool: &Tool) -> Self {
        match tool.result_chars {
            Some(chars) => Self { chars, tokens: usize::MAX },
            None => self,
        }
    }

    /// The budget from the environment: `MCPARLEY_MAX_RESULT_CHARS` and `MAX_MCP_OUTPUT_TOKENS`, or the
    /// defaults.
    #[must_use]
    pub fn from_env(env: &Env) -> Self {
        let set = |name, otherwise| {
            env.positive_number(name)
                .map_or(otherwise, |number| usize::try_from(number).unwrap_or(usize::MAX))
        };
        Self {
            chars: set("MCPARLEY_MAX_RESULT_CHARS", RESULT_CHARS),
            tokens: set("MAX_MCP_OUTPUT_TOKENS", RESULT_TOKENS),
        }
    }

    /// The length in bytes up to which every text fits, without counting its characters or tokens.
    #[must_use]
    pub fn max_bytes(self) -> usize {
        self.chars.min(self.tokens.saturating_mul(3))
    }

    /// Whether every text of this many bytes fits.
    pub(crate) fn can_hold_bytes(self, bytes: usize) -> bool {
        bytes <= self.max_bytes()
    }

    /// Whether a text with these counts fits.
    pub(crate) fn can_hold(self, chars: usize, tokens: usize) -> bool {
        chars <= self.chars && tokens <= self.tokens
    }

    /// The budget that remains after this text; `None` if the text does not fit.
    pub(crate) fn remaining_after(self, text: &str) -> Option<Self> {
        let chars = self.chars.checked_sub(text.chars().count())?;
        let tokens = match self.tokens {
            usize::MAX => usize::MAX,
            tokens => tokens.checked_sub(token_estimate::estimate_tokens(text))?,
        };
        Some(Self { chars, tokens })
    }
}
