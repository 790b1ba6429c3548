//! When a hook runs.

use std::fmt;

use serde::{Serialize, Serializer};

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// Before a tool is called.
    PreToolUse,
    /// After a tool has answered.
    PostToolUse,
    /// After a tool has failed, or could not be called.
    PostToolUseFailure,
    /// When a server asks a person.
    Elicitation,
    /// When a host starts.
    SessionStart,
}

impl Event {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::PreToolUse,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::Elicitation,
        Self::SessionStart,
    ];

    /// Its name in settings and in what hooks are told.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::Elicitation => "Elicitation",
            Self::SessionStart => "SessionStart",
        }
    }

    /// The event of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.as_str() == name)
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
