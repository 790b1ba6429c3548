//! Glob patterns in which `*` matches any characters.
//!
//! Shared by `policy` and `permission`, so that a star means the same in both. There is no other special
//! character and no way to escape the star: a rule must be readable at a glance.

use std::fmt;

use serde::Serialize;

#[cfg(test)]
mod tests;

/// A glob pattern; `*` matches any number of characters, including none.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Glob(Box<str>);

impl Glob {
    /// Builds a pattern from any text.
    #[must_use]
    pub fn new(pattern: &str) -> Self {
        Self(Box::from(pattern))
    }

    /// The pattern as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the pattern has no star and so matches one text only.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        !self.0.contains('*')
    }

    /// The literal prefix: the text before the first star.
    #[must_use]
    pub fn literal_prefix(&self) -> &str {
        self.0.split('*').next().unwrap_or_default()
    }

    /// Whether the pattern matches all of `text`.
    ///
    /// Runs in time linear in both lengths: the leftmost match of each piece leaves the most room for the
    /// rest, so there is no backtracking. Patterns come from files that may be hostile.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let Some((first, rest)) = self.0.split_once('*') else {
            return *self.0 == *text;
        };
        let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
        let Some(inner) = text.strip_prefix(first).and_then(|text| text.strip_suffix(last)) else {
            return false;
        };
        let after = |text: &'_ str, piece: &str| text.find(piece).map(|at| at + piece.len());
        let mut remaining = inner;
        for piece in middle.split('*').filter(|piece| !piece.is_empty()) {
            let Some(next) = after(remaining, piece).and_then(|at| remaining.get(at..)) else {
                return false;
            };
            remaining = next;
        }
        true
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
