//! The log file of a server: JSON lines, readable only by the user, with a hashed file name.

use std::path::{Path, PathBuf};

use mcparley_model::hex::Hex;
use mcparley_model::limits::LOG_FILE_BYTES;
use mcparley_model::name::ServerName;
use mcparley_platform::file::{FileReadError, append_log_lines, read_text, rotated_log_path};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::LogLine;
use mcparley_config::Paths;

/// The log file of one server.
#[derive(Clone, Debug)]
pub struct LogFile(PathBuf);

impl LogFile {
    /// The log file of a server in this project; `None` if there is no log folder.
    pub fn for_server(paths: &Paths, server: &ServerName) -> Option<Self> {
        let folder = paths.logs.as_ref()?;
        let mut hash = Sha256::new();
        hash.update(paths.project.as_os_str().as_encoded_bytes());
        hash.update([0]);
        hash.update(server.as_str().as_bytes());
        // A hash, because a server's name may be a path, or too long for a file name.
        let name = Hex(hash.finalize().get(..12).unwrap_or_default()).to_string();
        Some(Self(folder.join(format!("{name}.jsonl"))))
    }

    /// Appends lines. Write errors are ignored: a full disk must not fail a call.
    pub(super) fn append_lines(&self, lines: &[LogLine]) {
        let mut text = String::new();
        for line in lines.iter().filter_map(|line| serde_json::to_string(line).ok()) {
            text.push_str(&line);
            text.push('\n');
        }
        let _lost = append_log_lines(&self.0, &text, LOG_FILE_BYTES);
    }

    pub(super) fn into_path(self) -> PathBuf {
        self.0
    }

    fn read_lines(&self) -> Result<Vec<LogLine>, FileReadError> {
        let mut lines = parse_lines(&rotated_log_path(&self.0))?;
        lines.extend(parse_lines(&self.0)?);
        Ok(lines)
    }
}

/// Reads the log of a server from disk, of this and earlier runs, oldest line first.
///
/// # Errors
/// If the file exists and cannot be read.
pub fn read_logs(paths: &Paths, server: &ServerName) -> Result<Vec<LogLine>, FileReadError> {
    LogFile::for_server(paths, server).map_or_else(|| Ok(Vec::new()), |journal| journal.read_lines())
}

/// The log of one server on disk.
#[derive(Clone, Debug, Serialize)]
pub struct StoredLog {
    /// The server.
    pub server: ServerName,
    /// Its lines, the oldest first.
    pub lines: Vec<LogLine>,
}

/// Reads the logs of several servers from disk.
///
/// # Errors
/// If a file exists and cannot be read.
pub fn read_stored_logs(
    paths: &Paths,
    servers: impl IntoIterator<Item = ServerName>,
) -> Result<Vec<StoredLog>, FileReadError> {
    let read = |server: ServerName| Ok(StoredLog { lines: read_logs(paths, &server)?, server });
    servers.into_iter().map(read).collect()
}

fn parse_lines(path: &Path) -> Result<Vec<LogLine>, FileReadError> {
    // A file exceeds its limit by at most the lines of one append.
    let text = read_text(path, 4 * LOG_FILE_BYTES)?.map(|text| text.text).unwrap_or_default();
    Ok(text.lines().filter_map(LogLine::parse).collect())
}
