//! Hook matchers: regular expressions for whole names, matched in linear time.

use regex::{Regex, RegexBuilder};

use crate::limits::{MATCHER_BYTES, PATTERN_BYTES};

/// A regular expression for whole names. `*`, an empty text and a missing matcher match every name.
#[derive(Clone, Debug)]
pub struct Matcher {
    text: String,
    /// `None` matches every name.
    pattern: Option<Regex>,
}

/// The error for a text that is not a usable matcher.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MatcherError {
    /// The text is longer than [`MATCHER_BYTES`].
    #[error("the matcher is longer than {MATCHER_BYTES} bytes")]
    TooLong,
    /// The text is not a regular expression, or needs features that could take exponential time.
    #[error("`matcher` is not a regular expression (look-around and back-references are not supported)")]
    Syntax,
    /// The compiled pattern exceeds [`PATTERN_BYTES`].
    #[error("the compiled matcher is too large")]
    TooLarge,
}

impl Matcher {
    /// Compiles a matcher; it has to match a name from its first to its last character.
    ///
    /// # Errors
    /// A [`MatcherError`].
    pub fn new(text: &str) -> Result<Self, MatcherError> {
        let text = text.trim();
        if text.len() > MATCHER_BYTES {
            return Err(MatcherError::TooLong);
        }
        let pattern = match text {
            "" | "*" => None,
            // Compiled by itself first: a stray `)` must not close our group.
            _ => Some(compile_regex(text).and_then(|_| compile_regex(&format!("^(?:{text})$")))?),
        };
        Ok(Self { text: text.to_owned(), pattern })
    }

    /// The matcher for every name.
    #[must_use]
    pub fn for_all_names() -> Self {
        Self { text: "*".to_owned(), pattern: None }
    }

    /// Whether the matcher matches this name.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(name))
    }

    /// The matcher as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

fn compile_regex(text: &str) -> Result<Regex, MatcherError> {
    RegexBuilder::new(text).size_limit(PATTERN_BYTES).build().map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => MatcherError::TooLarge,
        _ => MatcherError::Syntax,
    })
}
