//! The channel for log messages of servers: the requested levels and the listeners.
//!
//! A server of the old era gets the level once, one of the new era with every request. Without a level the
//! first logs at its own default, the second not at all.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcparley_model::log_level::LogLevel;
use mcparley_model::name::ServerName;
use mcparley_wire::RawJson;
use tokio::sync::{broadcast, watch};

use super::LogLine;
use crate::principal::PrincipalId;

/// The number of messages buffered for a slow listener before the oldest are dropped.
const WAITING: usize = 256;

/// A log message of a server.
#[derive(Clone, Debug)]
pub struct LogMessage {
    /// The server that sent it.
    pub server: ServerName,
    /// The principal of the call that the message belongs to. `None` for the host's own calls, outside of
    /// calls, and while calls of several principals are in flight.
    pub principal: Option<PrincipalId>,
    /// The message, redacted. [`super::LogSource::Server`] has its level.
    pub line: LogLine,
    /// The parameters of the notification as the server wrote them, redacted; of a message over
    /// [`LOG_MESSAGE_BYTES`](mcparley_model::limits::LOG_MESSAGE_BYTES) only those of its line.
    pub params: RawJson,
}

/// The channel for log messages of all servers of a host. Clones share it.
#[derive(Clone, Debug)]
pub struct LogChannel {
    levels: Arc<watch::Sender<LogLevels>>,
    heard: broadcast::Sender<LogMessage>,
}

/// The requested log levels: for all servers, and for single ones.
#[derive(Clone, Debug, Default)]
struct LogLevels {
    all: Option<LogLevel>,
    of: BTreeMap<ServerName, LogLevel>,
    /// Whether each request of the new era carries the level of its own client instead.
    is_per_client: bool,
}

impl Default for LogChannel {
    fn default() -> Self {
        Self { levels: Arc::default(), heard: broadcast::channel(WAITING).0 }
    }
}

impl LogChannel {
    /// Subscribes to log messages. A listener that falls behind misses the oldest.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<LogMessage> {
        self.heard.subscribe()
    }

    /// A separate channel that starts with the same levels and has its own listeners.
    pub fn with_separate_listeners(&self) -> Self {
        let levels = self.levels.borrow().clone();
        Self { levels: Arc::new(watch::Sender::new(levels)), ..Self::default() }
    }

    /// Follows the log level of one server.
    pub fn follow_level(&self, server: ServerName) -> ServerLogLevel {
        ServerLogLevel { server, levels: self.levels.subscribe() }
    }

    /// Sends a message to the listeners. Having none is fine.
    pub(super) fn send_message(&self, message: LogMessage) {
        let _nobody = self.heard.send(message);
    }

    /// Sets the level of one server, or of all servers.
    pub fn set_level(&self, server: Option<&ServerName>, level: LogLevel) {
        self.levels.send_modify(|levels| match server {
            Some(server) => {
                levels.of.insert(server.clone(), level);
            }
            None => {
                levels.all = Some(level);
                levels.of.clear();
            }
        });
    }

    /// Sets the level of the servers of the old era, on behalf of the clients of a gateway. Requests of the
    /// new era carry the level of their own client.
    pub fn set_client_level(&self, server: Option<&ServerName>, level: LogLevel) {
        self.levels.send_modify(|levels| levels.is_per_client = true);
        self.set_level(server, level);
    }
}

/// The log level of one server, as it changes.
#[derive(Debug)]
pub struct ServerLogLevel {
    server: ServerName,
    levels: watch::Receiver<LogLevels>,
}

impl ServerLogLevel {
    /// The current level.
    pub fn current(&mut self) -> Option<LogLevel> {
        let levels = self.levels.borrow_and_update();
        levels.of.get(&self.server).copied().or(levels.all)
    }

    /// The level that every request of the new era carries.
    pub(crate) fn current_for_requests(&mut self) -> Option<LogLevel> {
        let is_per_client = self.levels.borrow().is_per_client;
        self.current().filter(|_| !is_per_client)
    }

    /// Waits until the level may have changed.
    pub async fn changed(&mut self) {
        if self.levels.changed().await.is_err() {
            // The channel is closed, so the level cannot change any more.
            std::future::pending().await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // X8
    #[test]
    fn level_of_one_server_wins_until_the_level_of_all_is_set_again() {
        let messages = LogChannel::default();
        let (one, other) = (ServerName::new("one"), ServerName::new("other"));
        let (mut of_one, mut of_other) = (messages.follow_level(one.clone()), messages.follow_level(other));
        assert_eq!(of_one.current(), None);
        messages.set_level(None, LogLevel::Error);
        messages.set_level(Some(&one), LogLevel::Debug);
        assert_eq!((of_one.current(), of_other.current()), (Some(LogLevel::Debug), Some(LogLevel::Error)));
        messages.set_level(None, LogLevel::Info);
        assert_eq!((of_one.current(), of_other.current()), (Some(LogLevel::Info), Some(LogLevel::Info)));
        messages.with_separate_listeners().set_level(None, LogLevel::Alert);
        assert_eq!(of_one.current(), Some(LogLevel::Info), "what an agent says is about its own servers");
    }
}
