//! What servers say in log messages: how much of it they are asked for, and who hears it (X8).
//!
//! A server of the old era is told the level once, one of the new era with every request; without a level the first says
//! what it likes, and the second nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcparley_model::log_level::LogLevel;
use mcparley_model::name::ServerName;
use tokio::sync::{broadcast, watch};

use super::LogLine;
use crate::host::Host;

/// How many messages wait for a slow listener before the oldest are lost.
const WAITING: usize = 256;

/// A log message of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogMessage {
    /// Whose.
    pub server: ServerName,
    /// What it says, without the server's secrets. [`super::Speaker::Server`] says how important it is.
    pub line: LogLine,
}

/// What all servers of a host share about their messages. All clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Messages {
    levels: Arc<watch::Sender<Levels>>,
    heard: broadcast::Sender<LogMessage>,
}

/// How much servers are asked to say.
#[derive(Clone, Debug, Default)]
struct Levels {
    all: Option<LogLevel>,
    of: BTreeMap<ServerName, LogLevel>,
}

impl Default for Messages {
    fn default() -> Self {
        Self { levels: Arc::default(), heard: broadcast::channel(WAITING).0 }
    }
}

impl Messages {
    /// The same levels, to begin with, for servers that others do not hear.
    pub(crate) fn apart(&self) -> Self {
        let levels = self.levels.borrow().clone();
        Self { levels: Arc::new(watch::Sender::new(levels)), ..Self::default() }
    }

    /// The level for one server, as it changes.
    pub(crate) fn level_of(&self, server: ServerName) -> Level {
        Level { server, levels: self.levels.subscribe() }
    }

    /// Tells whoever listens. That nobody does is as it should be.
    pub(super) fn tell(&self, message: LogMessage) {
        let _nobody = self.heard.send(message);
    }

    fn set(&self, server: Option<&ServerName>, level: LogLevel) {
        self.levels.send_modify(|levels| match server {
            Some(server) => {
                levels.of.insert(server.clone(), level);
            }
            None => *levels = Levels { all: Some(level), of: BTreeMap::new() },
        });
    }
}

/// How much one server is asked to say.
#[derive(Debug)]
pub(crate) struct Level {
    server: ServerName,
    levels: watch::Receiver<Levels>,
}

impl Level {
    /// Now.
    pub(crate) fn now(&mut self) -> Option<LogLevel> {
        let levels = self.levels.borrow_and_update();
        levels.of.get(&self.server).copied().or(levels.all)
    }

    /// Waits until it may be another one.
    pub(crate) async fn changed(&mut self) {
        if self.levels.changed().await.is_err() {
            // Whoever could change it is gone.
            std::future::pending().await
        }
    }
}

impl Host {
    /// Every log message of a server from now on. Who does not listen for long misses the oldest. An agent hears of the
    /// servers it brought itself; of those it shares, the host does.
    #[must_use]
    pub fn log_messages(&self) -> broadcast::Receiver<LogMessage> {
        self.surroundings().messages().heard.subscribe()
    }

    /// How important log messages have to be for a server to send them; for all servers without a name. It holds until it
    /// is said otherwise, whatever becomes of the connection. Servers without logging hear nothing of it.
    pub fn set_log_level(&self, server: Option<&ServerName>, level: LogLevel) {
        self.surroundings().messages().set(server, level);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // X8
    #[test]
    fn the_level_of_one_server_beats_that_of_all_until_all_are_said_anew() {
        let messages = Messages::default();
        let (one, other) = (ServerName::new("one"), ServerName::new("other"));
        let (mut of_one, mut of_other) = (messages.level_of(one.clone()), messages.level_of(other));
        assert_eq!(of_one.now(), None);
        messages.set(None, LogLevel::Error);
        messages.set(Some(&one), LogLevel::Debug);
        assert_eq!((of_one.now(), of_other.now()), (Some(LogLevel::Debug), Some(LogLevel::Error)));
        messages.set(None, LogLevel::Info);
        assert_eq!((of_one.now(), of_other.now()), (Some(LogLevel::Info), Some(LogLevel::Info)));
        messages.apart().set(None, LogLevel::Alert);
        assert_eq!(of_one.now(), Some(LogLevel::Info), "what an agent says is about its own servers");
    }
}
