//! Tool pinning: the reaction to a tool that changed since it was first seen or last reviewed.

use std::fmt;

use serde::{Serialize, Serializer};

/// The reaction to a tool with a changed definition, from the mildest to the strictest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolPin {
    /// No reaction. "Always allow" rules are still bound to the definition.
    Off,
    /// The tool is flagged, and rules that allow it are ignored until the user has reviewed it.
    #[default]
    Warn,
    /// The tool is withheld until the user has reviewed it.
    Strict,
}

impl ToolPin {
    /// The key in settings.
    pub const KEY: &str = "toolPin";

    /// All choices.
    pub const ALL: [Self; 3] = [Self::Off, Self::Warn, Self::Strict];

    /// Parses the word used in files.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|pin| pin.as_str() == word)
    }

    /// The word used in files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Warn => "warn",
            Self::Strict => "strict",
        }
    }
}

impl fmt::Display for ToolPin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ToolPin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
