//! The log levels that the clients of a gateway want, and the one that its servers are told.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use mcparley::model::log_level::LogLevel;

/// The log levels of all clients. A server of the old era has one level for all clients, so it is told the
/// most detailed one; each client gets the messages of its own level.
#[derive(Debug, Default)]
pub(crate) struct ClientLogLevels(Mutex<HashMap<u64, LogLevel>>);

impl ClientLogLevels {
    /// Stores the level of a client, and returns the most detailed level of all.
    pub(crate) fn store_level(&self, session: u64, level: LogLevel) -> LogLevel {
        let mut levels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        levels.insert(session, level);
        levels.values().copied().min().unwrap_or(level)
    }

    /// The level of a client, if it has wanted one.
    pub(crate) fn level_of(&self, session: u64) -> Option<LogLevel> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&session).copied()
    }

    /// Removes a client that has disconnected, and returns the most detailed level of the others.
    pub(crate) fn remove_client(&self, session: u64) -> Option<LogLevel> {
        let mut levels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        levels.remove(&session)?;
        levels.values().copied().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // X8
    #[test]
    fn servers_are_told_the_most_detailed_level_of_all_clients() {
        let levels = ClientLogLevels::default();
        assert_eq!(levels.store_level(1, LogLevel::Info), LogLevel::Info);
        assert_eq!(levels.store_level(2, LogLevel::Error), LogLevel::Info);
        assert_eq!(levels.store_level(1, LogLevel::Alert), LogLevel::Error);
        assert_eq!(levels.remove_client(2), Some(LogLevel::Alert));
        assert_eq!(levels.remove_client(3), None);
    }
}
