//! For which names a hook runs: a pattern on the whole name, in time that grows with the name only.

use regex::{Regex, RegexBuilder};

use crate::limits::{MATCHER_BYTES, PATTERN_BYTES};

/// A pattern for whole names. `*`, nothing and an absent one match every name.
#[derive(Clone, Debug)]
pub struct Matcher {
    text: String,
    /// Without one every name matches.
    pattern: Option<Regex>,
}

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MatcherError {
    /// It is longer than any pattern for names.
    #[error("the matcher is longer than {MATCHER_BYTES} bytes")]
    TooLong,
    /// It is no pattern, or one of a kind that could take for ever.
    #[error("`matcher` is not a regular expression without look-around and back-references")]
    Syntax,
    /// Compiled it is larger than any pattern for names.
    #[error("the matcher is too large once it is compiled")]
    TooLarge,
}

impl Matcher {
    /// Reads a pattern; it has to match a name from its first to its last character.
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
            // Read by itself first: a stray `)` must not end our group.
            _ => Some(compiled(text).and_then(|_| compiled(&format!("^(?:{text})$")))?),
        };
        Ok(Self { text: text.to_owned(), pattern })
    }

    /// The one for every name.
    #[must_use]
    pub fn all() -> Self {
        Self { text: "*".to_owned(), pattern: None }
    }

    /// Whether it is for this name.
    #[must_use]
    pub fn fits(&self, name: &str) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(name))
    }

    /// As it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

fn compiled(text: &str) -> Result<Regex, MatcherError> {
    RegexBuilder::new(text).size_limit(PATTERN_BYTES).build().map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => MatcherError::TooLarge,
        _ => MatcherError::Syntax,
    })
}
