//! The permission modes: what happens where no rule decides.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::explain::Explain;

/// What happens with a call that no rule decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// A person is asked.
    #[default]
    Default,
    /// As [`Mode::Default`]; edits are not a matter of MCP.
    AcceptEdits,
    /// Tools that say they only read are asked about; all others are denied.
    Plan,
    /// The call goes ahead; deny and ask rules still hold.
    BypassPermissions,
    /// A classifier decides.
    Auto,
    /// Whatever a person would be asked about is denied.
    DontAsk,
    /// The call goes ahead because the client of a gateway has a consent dialog of its own; deny and ask rules still
    /// hold, and a tool that has changed since it was reviewed is asked about.
    Client,
}

impl Mode {
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

    /// Reads the word people and files use for a mode.
    ///
    /// # Errors
    /// A [`ModeError`] if there is no such mode.
    pub fn parse(word: &str) -> Result<Self, ModeError> {
        let called = |mode: &Self| mode.as_str() == word;
        Self::ALL.into_iter().find(called).ok_or_else(|| ModeError { word: word.to_owned() })
    }

    /// The word people and files use for it.
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

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Mode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A word that is no mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is no permission mode")]
pub struct ModeError {
    /// The word.
    pub word: String,
}

impl Explain for ModeError {
    fn hint(&self) -> Option<String> {
        let words = Mode::ALL.map(|mode| format!("`{mode}`"));
        Some(format!("the modes are {}", words.join(", ")))
    }
}
