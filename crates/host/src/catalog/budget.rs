//! How much of a model's context the definitions of tools may take (N10).

use mcparley_model::explain::Explain;
use mcparley_model::limits::{OFFER_PERCENT, OFFER_TOKENS};

use crate::sources::Loaded;

/// What the definitions of all tools may take before those that can wait are left out of a model's list.
///
/// The default is 10,000 tokens. Where the size of the context is known, [`Budget::of_context`] is the better measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget(Room);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    /// However few they are, tools wait until they are searched for.
    None,
    Tokens(u64),
    Unlimited,
}

impl Budget {
    /// So many tokens.
    #[must_use]
    pub fn tokens(tokens: u64) -> Self {
        Self(Room::Tokens(tokens))
    }

    /// A tenth of a context that holds so many tokens.
    #[must_use]
    pub fn of_context(window: u64) -> Self {
        Self::share(window, OFFER_PERCENT)
    }

    /// Whatever it takes: nothing is left out, except what asks for it.
    #[must_use]
    pub fn unlimited() -> Self {
        Self(Room::Unlimited)
    }

    /// Nothing: every tool that can wait is left out.
    #[must_use]
    pub fn always_defer() -> Self {
        Self(Room::None)
    }

    /// What a setting says (`ENABLE_TOOL_SEARCH`): `true`, `false`, `auto` or `auto:N`, where N is the percentage of the
    /// context. `window` is the size of the context, if it is known.
    ///
    /// # Errors
    /// A [`BudgetError`] for any other text.
    pub fn of_setting(text: &str, window: Option<u64>) -> Result<Self, BudgetError> {
        let window = window.unwrap_or(OFFER_TOKENS * 100 / OFFER_PERCENT);
        match text.trim() {
            "true" | "1" => Ok(Self::always_defer()),
            "false" | "0" => Ok(Self::unlimited()),
            "auto" => Ok(Self::of_context(window)),
            other => {
                let percent = other.strip_prefix("auto:").and_then(|percent| percent.trim().parse().ok());
                percent
                    .map(|percent| Self::share(window, percent))
                    .ok_or_else(|| BudgetError { text: text.to_owned() })
            }
        }
    }

    /// How many tokens it is; nothing if there is no limit.
    #[must_use]
    pub fn limit(&self) -> Option<u64> {
        match self.0 {
            Room::None => Some(0),
            Room::Tokens(tokens) => Some(tokens),
            Room::Unlimited => None,
        }
    }

    pub(super) fn holds(&self, tokens: u64) -> bool {
        match self.0 {
            Room::None => false,
            Room::Tokens(most) => tokens <= most,
            Room::Unlimited => true,
        }
    }

    /// A hundred percent and more is no limit: there is nothing left that could be kept free.
    fn share(window: u64, percent: u64) -> Self {
        match percent {
            0 => Self::always_defer(),
            1..100 => Self::tokens(window.saturating_mul(percent) / 100),
            100.. => Self::unlimited(),
        }
    }
}

impl Loaded {
    /// The budget that the environment of this run asks for (`ENABLE_TOOL_SEARCH`); without it, what `auto` means. `window` is
    /// the size of the model's context, if it is known.
    ///
    /// # Errors
    /// A [`BudgetError`] when the variable makes no sense.
    pub fn budget(&self, window: Option<u64>) -> Result<Budget, BudgetError> {
        Budget::of_setting(self.env.get("ENABLE_TOOL_SEARCH").unwrap_or("auto"), window)
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::tokens(OFFER_TOKENS)
    }
}

/// A text that is no budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` does not say when tools are deferred")]
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
    //! What settings mean.
    use super::*;

    // N10
    #[test]
    fn a_setting_says_when_tools_are_deferred() {
        let cases = [
            ("true", Some(200_000), Some(Budget::always_defer())),
            ("1", None, Some(Budget::always_defer())),
            ("false", None, Some(Budget::unlimited())),
            ("0", Some(200_000), Some(Budget::unlimited())),
            ("auto", None, Some(Budget::default())),
            (" auto ", Some(200_000), Some(Budget::tokens(20_000))),
            ("auto:1", Some(200_000), Some(Budget::tokens(2_000))),
            ("auto:25", None, Some(Budget::tokens(25_000))),
            ("auto:0", Some(200_000), Some(Budget::always_defer())),
            ("auto:100", Some(200_000), Some(Budget::unlimited())),
            ("auto:999", None, Some(Budget::unlimited())),
            ("auto:-1", None, None),
            ("auto:", None, None),
            ("yes", None, None),
            ("", None, None),
        ];
        for (text, window, expected) in cases {
            assert_eq!(Budget::of_setting(text, window).ok(), expected, "{text:?} of {window:?}");
        }
    }

    // N10
    #[test]
    fn the_default_is_ten_thousand_tokens_or_a_tenth_of_the_context() {
        assert_eq!(Budget::default().limit(), Some(10_000));
        assert_eq!(Budget::of_context(200_000).limit(), Some(20_000));
        assert_eq!(Budget::of_context(u64::MAX).limit(), Some(u64::MAX / 100));
    }
}
