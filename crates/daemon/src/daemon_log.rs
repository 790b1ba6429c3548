//! The log of the daemon: starts, ends, refused clients, servers that could not be started, and clients that did not use
//! the daemon.

use std::path::{Path, PathBuf};

use mcparley::model::text::display_line;
use mcparley_platform::file::append_log_lines;

/// The size from which the log is rotated, and the part of it that is shown.
pub const DAEMON_LOG_BYTES: u64 = 1024 * 1024;

/// The log of the daemon. Daemon and clients append to it.
#[derive(Clone, Debug)]
pub struct DaemonLog(PathBuf);

impl DaemonLog {
    /// The log in this file.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// Adds a line with this event. Blocks. A log that cannot be written must not end the daemon.
    pub fn append_event(&self, event: &str) {
        let now = jiff::Timestamp::now();
        let line = format!("{now:.0} {}, process {}\n", display_line(event), std::process::id());
        let _full = append_log_lines(&self.0, &line, DAEMON_LOG_BYTES);
    }

    /// Adds a line with this event, on a thread that may block.
    pub(crate) async fn record_event(&self, event: String) {
        let log = self.clone();
        // Only the end of the runtime cancels such work.
        let _written = tokio::task::spawn_blocking(move || log.append_event(&event)).await;
    }
}
