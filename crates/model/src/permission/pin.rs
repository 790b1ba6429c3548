//! What follows when a tool is no longer what it was when it was first seen, or last reviewed (H09).

use std::fmt;

use serde::{Serialize, Serializer};

/// What is done about a tool whose definition has changed, from the mildest to the strictest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pin {
    /// Nothing. What a person always allowed holds for its definition all the same.
    Off,
    /// It is flagged, and rules that allow it do not count until somebody has reviewed it.
    #[default]
    Warn,
    /// It is withheld until somebody has reviewed it.
    Strict,
}

impl Pin {
    /// Where it stands in settings.
    pub const KEY: &str = "toolPin";

    /// All of them.
    pub const ALL: [Self; 3] = [Self::Off, Self::Warn, Self::Strict];

    /// Reads the word that files use for it.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|pin| pin.as_str() == word)
    }

    /// The word that files use for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Warn => "warn",
            Self::Strict => "strict",
        }
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Pin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
