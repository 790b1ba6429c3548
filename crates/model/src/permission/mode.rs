//! The permission modes: the decision where no rule matches.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::explain::Explain;

/// The permission mode, which decides about calls that no rule matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PermissionMode {
    /// The user is asked.
    #[default]
    Default,
    /// Like [`PermissionMode::Default`]; MCP tools have no notion of edits.
    AcceptEdits,
    /// Tools that claim to be read-only are asked about; all others are denied.
    Plan,
    /// The call is made; deny and ask rules still hold.
    BypassPermissions,
    /// A classifier decides.
    Auto,
    /// A call that the user would be asked about is denied.
    DontAsk,
    /// The call is made because the client of a gateway has a consent dialog of its own; deny and ask rules
    /// still hold, and a tool that has changed since it was reviewed is asked about.
    Client,
}

impl PermissionMode {
    /// All modes.
    pub const ALL: [Self; 7] = [
        Self::Default,
        Self::AcceptEdits,
        Self::Plan,
        Self::BypassPermissions,
        Self::Auto,
        Self::DontAsk,
        Self::Client,
    ];

    /// Parses the word used in files and options.
    ///
    /// # Errors
    /// A [`PermissionModeError`] if there is no such mode.
    pub fn parse(word: &str) -> Result<Self, PermissionModeError> {
        let called = |mode: &Self| mode.as_str() == word;
        Self::ALL.into_iter().find(called).ok_or_else(|| PermissionModeError { word: word.to_owned() })
    }

    /// The word used in files and options.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::BypassPermissions => "bypassPermissions",
            Self::Auto => "auto",
            Self::DontAsk => "dontAsk",
            Self::Client => "client",
        }
    }
}

impl fmt::Display for PermissionMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for PermissionMode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The error for a word that is not a permission mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is not a permission mode")]
pub struct PermissionModeError {
    /// The word.
    pub word: String,
}

impl Explain for PermissionModeError {
    fn hint(&self) -> Option<String> {
        let words = PermissionMode::ALL.map(|mode| format!("`{mode}`"));
        Some(format!("use one of {}", words.join(", ")))
    }
}
