//! The minimum log level of a client.

use std::sync::{Mutex, PoisonError};

use mcparley::model::log_level::LogLevel;

/// The minimum log level of a client; no messages until the client sets one.
#[derive(Debug, Default)]
pub(crate) struct WantedLogLevel(Mutex<Option<LogLevel>>);

impl WantedLogLevel {
    /// Whether a message of this level is sent to the client.
    pub(crate) fn includes(&self, level: LogLevel) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|least| level >= least)
    }

    /// The level that the client requested.
    pub(crate) fn level(&self) -> Option<LogLevel> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the level that the client requested.
    pub(crate) fn set_level(&self, level: LogLevel) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(level);
    }
}
