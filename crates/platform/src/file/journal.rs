//! An append-only journal that must not lose lines: several processes write it, and old files are rotated.
//!
//! A lock is held while lines are added, because two processes that rotate the same file would overwrite one
//! of the rotated files. For logs, which may lose lines and never wait, there is [`super::append_log_lines`].

use super::{FileWriteError, LOCK_LIMIT, WriteStep, acquire_lock};
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A journal file and its rotated predecessors.
#[derive(Clone, Debug)]
pub struct JournalFile {
    path: PathBuf,
    limit: u64,
    kept: usize,
}

impl JournalFile {
    /// Creates a journal at `path`. A file of more than `limit` bytes is rotated before the next lines, to
    /// `<name>.1`, and older files move on to `<name>.2` and so forth; `kept` of them stay.
    #[must_use]
    pub fn new(path: PathBuf, limit: u64, kept: usize) -> Self {
        Self { path, limit, kept }
    }

    /// Appends whole lines in one write, readable by the owner only. May wait for other processes; the file
    /// is not synced.
    ///
    /// # Errors
    /// A [`FileWriteError`]; a symbolic link at the end of the path is refused.
    pub fn append_lines(&self, lines: &str) -> Result<(), FileWriteError> {
        let _alone = acquire_lock(&path_with_suffix(&self.path, "lock"), LOCK_LIMIT)?;
        self.rotate_files();
        let flags = OFlags::APPEND | OFlags::CREATE | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&self.path, flags, Mode::from_raw_mode(0o600));
        let mut file = File::from(
            opened.map_err(|errno| FileWriteError::from_errno(WriteStep::Create, &self.path, errno))?,
        );
        let written = if is_torn(&file) {
            file.write_all(format!("\n{lines}").as_bytes())
        } else {
            file.write_all(lines.as_bytes())
        };
        written.map_err(|error| FileWriteError::from_io(WriteStep::Write, &self.path, error))
    }

    /// The path of a rotated file; number 1 is the youngest.
    #[must_use]
    pub fn rotated_path(&self, number: usize) -> PathBuf {
        path_with_suffix(&self.path, &number.to_string())
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the lock is held, and one that cannot be renamed only grows until it can"
    )]
    fn rotate_files(&self) {
        if !self.path.symlink_metadata().is_ok_and(|meta| meta.len() > self.limit) {
            return;
        }
        for number in (1..self.kept).rev() {
            // The file with this number may not exist yet.
            let _none = std::fs::rename(self.rotated_path(number), self.rotated_path(number + 1));
        }
        let _stays = std::fs::rename(&self.path, self.rotated_path(1));
    }
}

/// Whether the last line was cut off, by a full disk or a crash.
fn is_torn(file: &File) -> bool {
    let Some(last) = file.metadata().ok().and_then(|meta| meta.len().checked_sub(1)) else { return false };
    let mut byte = [b'\n'];
    file.read_exact_at(&mut byte, last).is_ok() && byte != *b"\n"
}

fn path_with_suffix(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}
