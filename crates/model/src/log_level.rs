//! How important a message of a server's log is.

use std::fmt;
use std::str::FromStr;

/// How important a message of a server's log is, the least first (RFC 5424).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// For who looks for a mistake.
    Debug,
    /// As it should be.
    Info,
    /// As it should be, and worth knowing.
    Notice,
    /// Not as it should be.
    Warning,
    /// Something went wrong.
    Error,
    /// A part does not work.
    Critical,
    /// Somebody has to do something at once.
    Alert,
    /// Nothing works.
    Emergency,
}

/// The word is none of the protocol's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is none of `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert`, `emergency`")]
pub struct UnknownLevel;

impl LogLevel {
    /// All of them, the least important first.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// The word of the protocol.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}

impl FromStr for LogLevel {
    type Err = UnknownLevel;

    fn from_str(word: &str) -> Result<Self, UnknownLevel> {
        Self::ALL.into_iter().find(|level| level.as_str() == word).ok_or(UnknownLevel)
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // X8
    #[test]
    fn every_level_is_read_back_and_in_its_order() {
        for level in LogLevel::ALL {
            assert_eq!(level.as_str().parse(), Ok(level));
        }
        assert!(LogLevel::ALL.is_sorted());
        assert_eq!("Info".parse::<LogLevel>(), Err(UnknownLevel));
    }
}
