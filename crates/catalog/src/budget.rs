//! Token budget for tool definitions in a model's context.

use mcparley_model::expand::Env;
use mcparley_model::explain::Explain;
use mcparley_model::limits::{OFFER_PERCENT, OFFER_TOKENS};

/// The token budget for all tool definitions. Beyond it, tools that can wait are deferred.
///
/// The default is 10,000 tokens. If the size of the context is known, [`Budget::for_context`] is the better
/// measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget(Room);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    /// Every tool that can wait is deferred, however few there are.
    None,
    Tokens(u64),
    Unlimited,
}

impl Budget {
    /// A budget of this many tokens.
    #[must_use]
    pub fn with_tokens(tokens: u64) -> Self {
        Self(Room::Tokens(tokens))
    }

    /// A tenth of a context of this many tokens.
    #[must_use]
    pub fn for_context(window: u64) -> Self {
        Self::from_percentage(window, OFFER_PERCENT)
    }

    /// No limit: only tools that ask for it are deferred.
    #[must_use]
    pub fn without_limit() -> Self {
        Self(Room::Unlimited)
    }

    /// No budget: every tool that can wait is deferred.
    #[must_use]
    pub fn always_defer() -> Self {
        Self(Room::None)
    }

    /// Parses a setting (`ENABLE_TOOL_SEARCH`): `true`, `false`, `auto` or `auto:N`, where N is the
    /// percentage of the context.
    ///
    /// `window` is the size of the context, if it is known.
    ///
    /// # Errors
    /// A [`BudgetError`] for any other text.
    pub fn parse_setting(text: &str, window: Option<u64>) -> Result<Self, BudgetError> {
        let window = window.unwrap_or(OFFER_TOKENS * 100 / OFFER_PERCENT);
        match text.trim() {
            "true" | "1" => Ok(Self::always_defer()),
            "false" | "0" => Ok(Self::without_limit()),
            "auto" => Ok(Self::for_context(window)),
            other => {
                let percent = other.strip_prefix("auto:").and_then(|percent| percent.trim().parse().ok());
                percent
                    .map(|percent| Self::from_percentage(window, percent))
                    .ok_or_else(|| BudgetError { text: text.to_owned() })
            }
        }
    }

    /// The budget from the environment (`ENABLE_TOOL_SEARCH`); the default is `auto`.
    ///
    /// `window` is the size of the model's context, if it is known.
    ///
    /// # Errors
    /// A [`BudgetError`] when the variable is invalid.
    pub fn from_env(env: &Env, window: Option<u64>) -> Result<Self, BudgetError> {
        Self::parse_setting(env.get("ENABLE_TOOL_SEARCH").unwrap_or("auto"), window)
    }

    /// The number of tokens; `None` if there is no limit.
    #[must_use]
    pub fn limit(&self) -> Option<u64> {
        match self.0 {
            Room::None => Some(0),
            Room::Tokens(tokens) => Some(tokens),
            Room::Unlimited => None,
        }
    }

    pub(crate) fn has_room_for(&self, tokens: u64) -> bool {
        match self.0 {
            Room::None => false,
            Room::Tokens(most) => tokens <= most,
            Room::Unlimited => true,
        }
    }

    /// A percentage of the context. A hundred percent and more means no limit.
    fn from_percentage(window: u64, percent: u64) -> Self {
        match percent {
            0 => Self::always_defer(),
            1..100 => Self::with_tokens(window.saturating_mul(percent) / 100),
            100.. => Self::without_limit(),
        }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::with_tokens(OFFER_TOKENS)
    }
}

/// The error for a text that is not a budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a tool search setting")]
pub struct BudgetError {
    text: String,
}

impl Explain for BudgetError {
    fn hint(&self) -> Option<String> {
        Some("write `true`, `false`, `auto`, or `auto:N` with a percentage of the context".to_owned())
    }
}

#[cfg(test)]
mod tests {
    //! Tests of the budget settings.
    use super::*;

    // N10
    #[test]
    fn setting_decides_when_tools_are_deferred() {
        let cases = [
            ("true", Some(200_000), Some(Budget::always_defer())),
            ("1", None, Some(Budget::always_defer())),
            ("false", None, Some(Budget::without_limit())),
            ("0", Some(200_000), Some(Budget::without_limit())),
            ("auto", None, Some(Budget::default())),
            (" auto ", Some(200_000), Some(Budget::with_tokens(20_000))),
            ("auto:1", Some(200_000), Some(Budget::with_tokens(2_000))),
            ("auto:25", None, Some(Budget::with_tokens(25_000))),
            ("auto:0", Some(200_000), Some(Budget::always_defer())),
            ("auto:100", Some(200_000), Some(Budget::without_limit())),
            ("auto:999", None, Some(Budget::without_limit())),
            ("auto:-1", None, None),
            ("auto:", None, None),
            ("yes", None, None),
            ("", None, None),
        ];
        for (text, window, expected) in cases {
            assert_eq!(Budget::parse_setting(text, window).ok(), expected, "{text:?} of {window:?}");
        }
    }

    // N10
    #[test]
    fn the_default_is_ten_thousand_tokens_or_a_tenth_of_the_context() {
        assert_eq!(Budget::default().limit(), Some(10_000));
        assert_eq!(Budget::for_context(200_000).limit(), Some(20_000));
        assert_eq!(Budget::for_context(u64::MAX).limit(), Some(u64::MAX / 100));
    }
}
