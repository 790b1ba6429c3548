//! Errors in a server's entry: the field, its location and a hint.

use std::fmt;

use super::TransportKind;
use crate::expand::ExpandError;
use crate::explain::Explain;
use crate::name::NameError;
use crate::scope::ConfigOrigin;

/// The error that makes an entry unusable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A value of the wrong kind.
    #[error("`{path}` is {found}, not {expected}")]
    Shape {
        /// The field's path.
        path: String,
        /// The expected kind of value.
        expected: &'static str,
        /// The kind of value found.
        found: String,
        /// The location of the value.
        origin: ConfigOrigin,
    },
    /// A word that is not one of the allowed ones.
    #[error("`{path}` cannot be `{word}`")]
    Choice {
        /// The field's path.
        path: String,
        /// The word.
        word: String,
        /// The allowed words.
        choices: &'static [&'static str],
        /// The location of the word.
        origin: ConfigOrigin,
    },
    /// A field that the transport requires.
    #[error("a `{kind}` server needs `{field}`")]
    Missing {
        /// The missing field.
        field: &'static str,
        /// The transport.
        kind: TransportKind,
        /// The location of the entry.
        origin: ConfigOrigin,
    },
    /// The entry has neither `command` nor `url`.
    #[error("neither `command` nor `url` is given")]
    Empty {
        /// The location of the entry.
        origin: ConfigOrigin,
    },
    /// The entry has both `command` and `url`.
    #[error("`command` and `url` are both given")]
    Both {
        /// The location of the entry.
        origin: ConfigOrigin,
    },
    /// A value of the right shape that cannot be used.
    #[error("`{field}` {problem}")]
    Value {
        /// The field.
        field: String,
        /// The problem with the value, without quoting the value.
        problem: ValueProblem,
        /// The location of the value.
        origin: ConfigOrigin,
    },
    /// The server's name is invalid.
    #[error("{error}")]
    Name {
        /// The problem with the name.
        error: NameError,
        /// The location of the entry.
        origin: ConfigOrigin,
    },
    /// A string that cannot be expanded.
    #[error("{0}")]
    Expand(#[from] ExpandError),
    /// A transport kind that only a running program can declare.
    #[error("`{kind}` servers come from a running program, never from a file")]
    RuntimeOnly {
        /// The transport.
        kind: TransportKind,
        /// The location of the entry.
        origin: ConfigOrigin,
    },
}

/// The problem with a value, worded to follow the field's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueProblem {
    /// The value is empty or white space.
    Blank,
    /// The value contains NUL or a line break.
    Control,
    /// The value is not a URL; holds the parser's reason.
    NotAUrl(String),
    /// The transport does not support the URL's scheme.
    Scheme(&'static str),
    /// The name cannot be used for a header or variable.
    BadName,
    /// The entry also has the value inline.
    GivenTwice,
}

impl fmt::Display for ValueProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank => f.write_str("is empty"),
            Self::Control => f.write_str("contains NUL or a line break"),
            Self::NotAUrl(reason) => write!(f, "is not a URL: {reason}"),
            Self::Scheme(expected) => write!(f, "must begin with {expected}"),
            Self::BadName => f.write_str("is not a usable name"),
            Self::GivenTwice => f.write_str("cannot be combined with the inline value"),
        }
    }
}

impl ConfigError {
    /// The location of the error.
    #[must_use]
    pub fn origin(&self) -> &ConfigOrigin {
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
            Self::Value { problem: ValueProblem::NotAUrl(_), .. } => {
                Some("a URL looks like `https://example.com/mcp`".to_owned())
            }
            Self::Shape { .. } | Self::Value { .. } => None,
        }
    }
}
