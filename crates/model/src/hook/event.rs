//! The events that trigger hooks.

use std::fmt;

use serde::{Serialize, Serializer};

/// The event that triggers a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HookEvent {
    /// Before a tool is called.
    PreToolUse,
    /// After a tool has returned a result.
    PostToolUse,
    /// After a tool has failed, or could not be called.
    PostToolUseFailure,
    /// When a server asks the user a question.
    Elicitation,
    /// When a host starts.
    SessionStart,
}

impl HookEvent {
    /// All events.
    pub const ALL: [Self; 5] = [
        Self::PreToolUse,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::Elicitation,
        Self::SessionStart,
    ];

    /// The event's name in settings and in the hook's input.
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

    /// Parses an event's name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.as_str() == name)
    }
}

impl fmt::Display for HookEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for HookEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
