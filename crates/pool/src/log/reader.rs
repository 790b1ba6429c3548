//! Reads a log file while other processes append to it: first all of it, then only the new lines.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use mcparley_config::Paths;
use mcparley_model::limits::LOG_FILE_BYTES;
use mcparley_model::name::ServerName;
use mcparley_platform::file::rotated_log_path;

use super::journal::{LogFile, StoredLog};
use super::line::LogLine;

/// Reader of the log file of one server, which remembers how far it has read.
#[derive(Debug)]
pub struct LogReader {
    server: ServerName,
    path: Option<PathBuf>,
    /// The file that was read last, and the position after its last whole line.
    last: Option<(FileId, u64)>,
}

/// Device and inode, which a file keeps when it is rotated.
type FileId = (u64, u64);

impl LogReader {
    /// A reader of the log of a server in this project, at its beginning.
    pub fn new(paths: &Paths, server: ServerName) -> Self {
        let path = LogFile::for_server(paths, &server).map(LogFile::into_path);
        Self { server, path, last: None }
    }

    /// Reads the lines that were appended since the last call; the first call reads all lines, those of the
    /// rotated file included.
    ///
    /// # Errors
    /// If a file exists and cannot be read.
    pub fn read_new_lines(&mut self) -> io::Result<StoredLog> {
        let mut lines = Vec::new();
        if let Some(path) = self.path.clone() {
            self.append_new_lines(&path, &mut lines)?;
        }
        Ok(StoredLog { server: self.server.clone(), lines })
    }

    fn append_new_lines(&mut self, path: &Path, lines: &mut Vec<LogLine>) -> io::Result<()> {
        let current = open_file(path)?;
        let is_same = match (&self.last, &current) {
            (Some((last, _)), Some((now, _))) => last == now,
            (None, _) | (_, None) => false,
        };
        // The file was rotated since: the rest of it is under its new name.
        if !is_same
            && let Some((id, file)) = open_file(&rotated_log_path(path))?
            && self.last.is_none_or(|(last, _)| last == id)
        {
            let start = self.last.map_or(0, |(_, position)| position);
            let end = read_lines_from(file, start, lines)?;
            self.last = Some((id, end));
        }
        if let Some((id, file)) = current {
            let start = self.last.filter(|(last, _)| *last == id).map_or(0, |(_, position)| position);
            self.last = Some((id, read_lines_from(file, start, lines)?));
        }
        Ok(())
    }
}

fn open_file(path: &Path) -> io::Result<Option<(FileId, File)>> {
    match File::open(path) {
        Ok(file) => {
            let metadata = file.metadata()?;
            Ok(Some(((metadata.dev(), metadata.ino()), file)))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads the whole lines from a position, and returns the position after the last of them.
fn read_lines_from(mut file: File, start: u64, lines: &mut Vec<LogLine>) -> io::Result<u64> {
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    // A file exceeds its limit by at most the lines of one append.
    file.take(4 * LOG_FILE_BYTES).read_to_end(&mut bytes)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    bytes.truncate(whole);
    lines.extend(String::from_utf8_lossy(&bytes).lines().filter_map(LogLine::parse));
    Ok(start + whole as u64)
}
