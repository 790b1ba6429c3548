//! The severity levels of a server's log messages.

use std::fmt;
use std::str::FromStr;

/// The severity of a log message, the least severe first (RFC 5424).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// Details for debugging.
    Debug,
    /// Normal operation.
    Info,
    /// Normal operation, and worth knowing.
    Notice,
    /// A condition that may become an error.
    Warning,
    /// An operation failed.
    Error,
    /// A component does not work.
    Critical,
    /// Immediate action is required.
    Alert,
    /// The system is unusable.
    Emergency,
}

/// The error for a word that is not a log level of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected one of `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert`, `emergency`")]
pub struct UnknownLogLevel;

impl LogLevel {
    /// All levels, the least severe first.
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

    /// The level's word in the protocol.
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
    type Err = UnknownLogLevel;

    fn from_str(word: &str) -> Result<Self, UnknownLogLevel> {
        Self::ALL.into_iter().find(|level| level.as_str() == word).ok_or(UnknownLogLevel)
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
    fn every_log_level_parses_back_and_is_ordered() {
        for level in LogLevel::ALL {
            assert_eq!(level.as_str().parse(), Ok(level));
        }
        assert!(LogLevel::ALL.is_sorted());
        assert_eq!("Info".parse::<LogLevel>(), Err(UnknownLogLevel));
    }
}
