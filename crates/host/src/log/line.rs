//! One line of a log, in memory and as it is written down.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcparley_model::text::Untrusted;
use serde::{Deserialize, Serialize};

/// One line of a server's log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogLine {
    /// When.
    pub at: SystemTime,
    /// Who said it.
    pub from: Speaker,
    /// What was said.
    pub text: Untrusted,
}

/// Who said a line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Speaker {
    /// The host.
    Host,
    /// The server, by a log message of the given level.
    Server {
        /// `debug` … `emergency`, as the server says.
        level: String,
        /// The part of the server that says it, if it tells.
        logger: Option<String>,
    },
    /// The server, on its standard error.
    Stderr,
}

/// A line as it stands in a file and in JSON.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Written {
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
        let since = self.at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let (from, level, logger) = match &self.from {
            Speaker::Host => ("host", None, None),
            Speaker::Server { level, logger } => ("server", Some(level.clone()), logger.clone()),
            Speaker::Stderr => ("stderr", None, None),
        };
        let unix_milliseconds = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let text = self.text.clean().into_owned();
        Written { unix_milliseconds, from: from.to_owned(), level, logger, text }.serialize(serializer)
    }
}

impl LogLine {
    /// Reads a line of a file; nothing if it is damaged.
    pub(super) fn read(line: &str) -> Option<Self> {
        let Written { unix_milliseconds, from, level, logger, text } = serde_json::from_str(line).ok()?;
        let from = match from.as_str() {
            "host" => Speaker::Host,
            "stderr" => Speaker::Stderr,
            _ => Speaker::Server { level: level.unwrap_or_default(), logger },
        };
        let at = UNIX_EPOCH.checked_add(Duration::from_millis(unix_milliseconds))?;
        Some(Self { at, from, text: Untrusted::new(text) })
    }
}
