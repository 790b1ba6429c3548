//! Adds lines to a record that must not lose any: several processes write it, and what is old is put aside in a row.
//!
//! A lock is held while lines are added, because two processes that put the same file aside would lose the one between
//! them. For logs, which may lose lines and wait for nobody, there is [`super::append`].

use super::{LOCK_LIMIT, Step, WriteError, lock};
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A file that lines are added to, and its predecessors.
#[derive(Clone, Debug)]
pub struct Journal {
    path: PathBuf,
    limit: u64,
    kept: usize,
}

impl Journal {
    /// The file at `path`. One of more than `limit` bytes is put aside before the next lines, as `<name>.1`, which was
    /// `<name>.2` when the next is; `kept` of them stay.
    #[must_use]
    pub fn new(path: PathBuf, limit: u64, kept: usize) -> Self {
        Self { path, limit, kept }
    }

    /// Adds whole lines, for the owner alone, in one write. Nothing is synced. May wait for other processes.
    ///
    /// # Errors
    /// A [`WriteError`]; whatever is a symbolic link at the end of the path is refused.
    pub fn append(&self, lines: &str) -> Result<(), WriteError> {
        let _alone = lock(&beside(&self.path, "lock"), LOCK_LIMIT)?;
        self.put_aside();
        let flags = OFlags::APPEND | OFlags::CREATE | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&self.path, flags, Mode::from_raw_mode(0o600));
        let mut file = File::from(opened.map_err(|errno| WriteError::of(Step::Create, &self.path, errno))?);
        let written = match is_torn(&file) {
            true => file.write_all(format!("\n{lines}").as_bytes()),
            false => file.write_all(lines.as_bytes()),
        };
        written.map_err(|error| WriteError::io(Step::Write, &self.path, error))
    }

    /// The predecessor of this number; 1 is the youngest.
    #[must_use]
    pub fn predecessor(&self, number: usize) -> PathBuf {
        beside(&self.path, &number.to_string())
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the lock is held, and one that cannot be renamed only grows until it can"
    )]
    fn put_aside(&self) {
        if !self.path.symlink_metadata().is_ok_and(|meta| meta.len() > self.limit) {
            return;
        }
        for number in (1..self.kept).rev() {
            // There are not always so many.
            let _none = std::fs::rename(self.predecessor(number), self.predecessor(number + 1));
        }
        let _stays = std::fs::rename(&self.path, self.predecessor(1));
    }
}

/// Whether the last line was cut off, by a full disk or a crash.
fn is_torn(file: &File) -> bool {
    let Some(last) = file.metadata().ok().and_then(|meta| meta.len().checked_sub(1)) else { return false };
    let mut byte = [b'\n'];
    file.read_exact_at(&mut byte, last).is_ok() && byte != *b"\n"
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}
