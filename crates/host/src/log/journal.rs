//! A server's log on disk: JSON lines, for the user alone, under a name nobody can choose.

use std::path::{Path, PathBuf};

use mcparley_model::hex::Hex;
use mcparley_model::limits::LOG_FILE_BYTES;
use mcparley_model::name::ServerName;
use mcparley_platform::file::{ReadError, append, aside, read};
use sha2::{Digest, Sha256};

use super::LogLine;
use crate::paths::Paths;

/// The file of one server's log.
#[derive(Clone, Debug)]
pub(crate) struct Journal(PathBuf);

impl Journal {
    /// The log of a server in this project; none where there is no folder for logs.
    pub(crate) fn of(paths: &Paths, server: &ServerName) -> Option<Self> {
        let folder = paths.logs.as_ref()?;
        let mut hash = Sha256::new();
        hash.update(paths.project.as_os_str().as_encoded_bytes());
        hash.update([0]);
        hash.update(server.as_str().as_bytes());
        // A hash, because a server's name may be a path or longer than a file's may be.
        let name = Hex(hash.finalize().get(..12).unwrap_or_default()).to_string();
        Some(Self(folder.join(format!("{name}.jsonl"))))
    }

    /// Adds lines. A disk that is full must not fail a call, so a line that cannot be written is lost.
    pub(super) fn write(&self, lines: &[LogLine]) {
        let mut text = String::new();
        for line in lines.iter().filter_map(|line| serde_json::to_string(line).ok()) {
            text.push_str(&line);
            text.push('\n');
        }
        let _lost = append(&self.0, &text, LOG_FILE_BYTES);
    }

    fn read(&self) -> Result<Vec<LogLine>, ReadError> {
        let mut lines = lines_of(&aside(&self.0))?;
        lines.extend(lines_of(&self.0)?);
        Ok(lines)
    }
}

/// What happened to a server in this and in earlier runs, as far as it was worth writing down; the oldest first.
///
/// # Errors
/// When the file is there and cannot be read.
pub fn read_logs(paths: &Paths, server: &ServerName) -> Result<Vec<LogLine>, ReadError> {
    Journal::of(paths, server).map_or_else(|| Ok(Vec::new()), |journal| journal.read())
}

fn lines_of(path: &Path) -> Result<Vec<LogLine>, ReadError> {
    // A file grows beyond its limit by one call's lines at most.
    let text = read(path, 4 * LOG_FILE_BYTES)?.map(|text| text.text).unwrap_or_default();
    Ok(text.lines().filter_map(LogLine::read).collect())
}
