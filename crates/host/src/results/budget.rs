//! Decides how much text of one result a model may be given.

use mcparley_model::expand::Env;
use mcparley_model::limits::{RESULT_CHARS, RESULT_TOKENS};
use mcparley_model::tokens;
use mcparley_model::tool::Tool;

use crate::connect::number;

/// The characters and tokens that one result may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResultBudget {
    pub(super) chars: usize,
    pub(super) tokens: usize,
}

impl ResultBudget {
    /// The same for a tool: one that claims a length of its own is not counted in tokens.
    pub(crate) fn for_tool(self, tool: &Tool) -> Self {
        match tool.result_chars {
            Some(chars) => Self { chars, tokens: usize::MAX },
            None => self,
        }
    }

    /// What the variables say.
    pub(crate) fn usual(env: &Env) -> Self {
        let set = |name, otherwise| {
            number(env, name).map_or(otherwise, |number| usize::try_from(number).unwrap_or(usize::MAX))
        };
        Self {
            chars: set("MCPARLEY_MAX_RESULT_CHARS", RESULT_CHARS),
            tokens: set("MAX_MCP_OUTPUT_TOKENS", RESULT_TOKENS),
        }
    }

    /// How long a text may be in bytes to fit, whatever it is.
    pub(crate) fn bytes(self) -> usize {
        self.chars.min(self.tokens.saturating_mul(3))
    }

    /// Whether any text of so many bytes fits.
    pub(super) fn holds_bytes(self, bytes: usize) -> bool {
        bytes <= self.bytes()
    }

    pub(super) fn holds(self, chars: usize, tokens: usize) -> bool {
        chars <= self.chars && tokens <= self.tokens
    }

    /// How much is left when this text is in it; nothing if it does not fit.
    pub(super) fn without(self, text: &str) -> Option<Self> {
        let chars = self.chars.checked_sub(text.chars().count())?;
        let tokens = match self.tokens {
            usize::MAX => usize::MAX,
            tokens => tokens.checked_sub(tokens::estimate(text))?,
        };
        Some(Self { chars, tokens })
    }
}
