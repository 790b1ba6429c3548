//! Why an entry cannot be used: which field, where, and what to do.

use std::fmt;

use super::Kind;
use crate::expand::ExpandError;
use crate::explain::Explain;
use crate::name::NameError;
use crate::scope::Origin;

/// An entry that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A value of the wrong kind.
    #[error("`{path}` is {found}, not {expected}")]
    Shape {
        /// The field's path.
        path: String,
        /// What may stand there.
        expected: &'static str,
        /// What stands there.
        found: String,
        /// Where.
        origin: Origin,
    },
    /// A word that is none of the allowed ones.
    #[error("`{path}` cannot be `{word}`")]
    Choice {
        /// The field's path.
        path: String,
        /// The word.
        word: String,
        /// The allowed words.
        choices: &'static [&'static str],
        /// Where.
        origin: Origin,
    },
    /// A field the transport cannot do without.
    #[error("a `{kind}` server needs `{field}`")]
    Missing {
        /// The missing field.
        field: &'static str,
        /// The transport.
        kind: Kind,
        /// Where the entry stands.
        origin: Origin,
    },
    /// Neither `command` nor `url`.
    #[error("neither `command` nor `url` is given")]
    Empty {
        /// Where the entry stands.
        origin: Origin,
    },
    /// Both `command` and `url`.
    #[error("`command` and `url` are both given")]
    Both {
        /// Where the entry stands.
        origin: Origin,
    },
    /// A value that cannot be used although its shape is right.
    #[error("`{field}` {problem}")]
    Value {
        /// The field.
        field: String,
        /// What is wrong with it, without its value.
        problem: Problem,
        /// Where.
        origin: Origin,
    },
    /// The server's name cannot be used.
    #[error("{error}")]
    Name {
        /// What is wrong with it.
        error: NameError,
        /// Where the entry stands.
        origin: Origin,
    },
    /// A string that cannot be expanded.
    #[error("{0}")]
    Expand(#[from] ExpandError),
    /// A kind that only a running program can declare.
    #[error("`{kind}` servers come from a running program, never from a file")]
    RuntimeOnly {
        /// The transport.
        kind: Kind,
        /// Where the entry stands.
        origin: Origin,
    },
}

/// What is wrong with a value, worded to follow the field's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Nothing but white space.
    Blank,
    /// NUL or a line break.
    Control,
    /// Not a URL; the parser's reason.
    NotAUrl(String),
    /// A scheme the transport does not speak.
    Scheme(&'static str),
    /// Not usable as a header's or variable's name.
    BadName,
    /// The entry has the value itself, too.
    GivenTwice,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank => f.write_str("is empty"),
            Self::Control => f.write_str("contains NUL or a line break"),
            Self::NotAUrl(reason) => write!(f, "is not a URL: {reason}"),
            Self::Scheme(expected) => write!(f, "must begin with {expected}"),
            Self::BadName => f.write_str("is not a usable name"),
            Self::GivenTwice => f.write_str("names a file for what stands in the entry, too"),
        }
    }
}

impl ConfigError {
    /// Where the trouble stands.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        match self {
            Self::Shape { origin, .. }
            | Self::Choice { origin, .. }
            | Self::Missing { origin, .. }
            | Self::Empty { origin }
            | Self::Both { origin }
            | Self::Value { origin, .. }
            | Self::Name { origin, .. }
            | Self::RuntimeOnly { origin, .. } => origin,
            Self::Expand(error) => error.origin(),
        }
    }
}

impl Explain for ConfigError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Choice { choices, .. } => Some(format!("use one of {}", choices.join(", "))),
            Self::Missing { field, .. } => Some(format!("add `{field}` to the entry")),
            Self::Empty { .. } => {
                Some("write `command` for a local server or `url` for a remote one".to_owned())
            }
            Self::Both { .. } => {
                Some("keep `command` for a local server, or `url` for a remote one".to_owned())
            }
            Self::Expand(error) => error.hint(),
            Self::Name { error, .. } => error.hint(),
            Self::RuntimeOnly { .. } => Some("declare a stdio, http, sse or ws server".to_owned()),
            Self::Value { problem: Problem::NotAUrl(_), .. } => {
                Some("a URL looks like `https://example.com/mcp`".to_owned())
            }
            Self::Shape { .. } | Self::Value { .. } => None,
        }
    }
}
