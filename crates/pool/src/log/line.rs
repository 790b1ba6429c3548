//! One line of a log, and its JSON form.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcparley_model::text::Untrusted;
use mcparley_model::time::unix_milliseconds;
use serde::{Deserialize, Serialize};

/// One line of a server's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// The time.
    pub at: SystemTime,
    /// The source.
    pub from: LogSource,
    /// The text.
    pub text: Untrusted,
}

/// The source of a log line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogSource {
    /// The host.
    Host,
    /// The server, by a log message of the given level.
    Server {
        /// The level as the server sent it: `debug` … `emergency`.
        level: String,
        /// The name of the logger, if the server sent one.
        logger: Option<String>,
    },
    /// The server, on its standard error.
    Stderr,
}

/// A line in JSON, in files and in `--json` output.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct LogRecord {
    unix_milliseconds: u64,
    from: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    level: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    logger: Option<String>,
    text: String,
}

impl Serialize for LogLine {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (from, level, logger) = match &self.from {
            LogSource::Host => ("host", None, None),
            LogSource::Server { level, logger } => ("server", Some(level.clone()), logger.clone()),
            LogSource::Stderr => ("stderr", None, None),
        };
        let unix_milliseconds = unix_milliseconds(self.at);
        let text = self.text.clean_text().into_owned();
        LogRecord { unix_milliseconds, from: from.to_owned(), level, logger, text }.serialize(serializer)
    }
}

impl LogLine {
    /// Parses a line of a file; `None` if it is damaged.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let LogRecord { unix_milliseconds, from, level, logger, text } = serde_json::from_str(line).ok()?;
        let from = match from.as_str() {
            "host" => LogSource::Host,
            "stderr" => LogSource::Stderr,
            _ => LogSource::Server { level: level.unwrap_or_default(), logger },
        };
        let at = UNIX_EPOCH.checked_add(Duration::from_millis(unix_milliseconds))?;
        Some(Self { at, from, text: Untrusted::new(text) })
    }
}
