//! Holds calls back until a server of the old era knows the log level that they want.

use mcparley_model::log_level::LogLevel;
use tokio::sync::watch;

/// The log level that the server of one connection was told last.
#[derive(Debug, Default)]
pub(crate) struct LogLevelGate(watch::Sender<Option<LogLevel>>);

impl LogLevelGate {
    /// Records that the server was told a level, and has answered or refused.
    pub(crate) fn record_level(&self, level: LogLevel) {
        self.0.send_replace(Some(level));
    }

    /// Waits until the server was told this level, or a more detailed one.
    pub(crate) async fn wait_for_level(&self, wanted: LogLevel) {
        let mut announced = self.0.subscribe();
        // The sender lives as long as this gate.
        let _closed =
            announced.wait_for(|announced| announced.is_some_and(|announced| announced <= wanted)).await;
    }
}
