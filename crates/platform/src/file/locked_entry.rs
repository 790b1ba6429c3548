//! Resolves the path of an update to its directory entry and locks the directory.
//!
//! The lock is `flock` on the directory itself: it needs no lock file that could be left behind or deleted by
//! hand, it survives the rename of the target, and the kernel releases it when its holder dies. Each update
//! opens the directory again, so threads exclude each other too.

mod fresh;

use super::read::{decode_utf8, open_for_reading, read_bytes_from};
use super::{Creation, FileReadError, FileWriteError, WriteStep};
use fresh::CreatedDirectories;
use rustix::fs::{CWD, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Timeout for waiting on other writers of the same directory.
///
/// Far longer than any update takes, so that only a writer that hangs is ever reported.
pub const LOCK_LIMIT: Duration = Duration::from_secs(30);

/// Limit on symbolic links that are followed, as in Linux itself.
const MAX_LINKS: usize = 40;

/// Backoff between two attempts to lock, from the first to the second value.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));

/// A directory entry that is locked against other updates while this value lives.
#[derive(Debug)]
pub(super) struct LockedEntry {
    // Dropped first, so that unused directories are removed while their lock is still held.
    fresh: CreatedDirectories,
    directory: OwnedFd,
    parent: PathBuf,
    name: OsString,
}

impl LockedEntry {
    /// Locks the entry that `path` resolves to, creating the directories above it.
    pub(super) fn lock_path(
        path: &Path,
        creation: Creation,
        limit: Duration,
    ) -> Result<Self, FileWriteError> {
        let deadline = Instant::now() + limit;
        let mut fresh = CreatedDirectories::default();
        loop {
            let target = resolve_links(path)?;
            let (parent, name) = split_parent_and_name(&target)?;
            fresh.create_missing(&parent, creation.dir_mode)?;
            if let Some(directory) = open_directory(&parent)? {
                wait_for_lock(&directory, &parent, deadline, limit)?;
                // While we waited, the link may have been changed or the directory replaced.
                if resolve_links(path)? == target && is_same_directory(&parent, &directory) {
                    return Ok(Self { fresh, directory, parent, name });
                }
            }
            if Instant::now() >= deadline {
                return Err(busy_error(&parent, limit));
            }
        }
    }

    /// Reads the current text with the `stat` of its descriptor; `None` if there is no file.
    pub(super) fn read_text(&self, limit: u64) -> Result<Option<(String, Stat)>, FileReadError> {
        match self.read_bytes(limit)? {
            Some((bytes, stat)) => decode_utf8(bytes, &self.path()).map(|text| Some((text, stat))),
            None => Ok(None),
        }
    }

    /// Reads the current bytes, which need not be UTF-8; otherwise like [`Self::read_text`].
    pub(super) fn read_bytes(&self, limit: u64) -> Result<Option<(Vec<u8>, Stat)>, FileReadError> {
        let path = self.path();
        let name = Path::new(&self.name);
        match open_for_reading(&self.directory, name, &path, OFlags::NOFOLLOW)? {
            Some(file) => read_bytes_from(file, &path, limit).map(Some),
            None => Ok(None),
        }
    }

    /// Whether the entry is at `path` itself, and not behind a symbolic link.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        path.file_name() == Some(&self.name) && parent_of(path) == self.parent
    }

    /// The path of the file, after following symbolic links.
    pub(super) fn path(&self) -> PathBuf {
        self.parent.join(&self.name)
    }

    /// The last component of [`Self::path`].
    pub(super) fn name(&self) -> &Path {
        Path::new(&self.name)
    }

    /// The directory of the file, for messages.
    pub(super) fn parent(&self) -> &Path {
        &self.parent
    }

    /// Keeps the directories that were created for this entry.
    pub(super) fn keep_created_directories(&mut self) {
        self.fresh.keep_all();
    }
}

impl AsFd for LockedEntry {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }
}

/// Follows `path` to the entry that is not a symbolic link; that entry need not exist.
fn resolve_links(path: &Path) -> Result<PathBuf, FileWriteError> {
    let mut current = path.to_owned();
    for _ in 0..MAX_LINKS {
        match rustix::fs::readlink(&current, Vec::new()) {
            Ok(target) => {
                let target = bytes_to_os(target.into_bytes());
                current = parent_of(&current).join(target);
            }
            // Not a link; not there; or below an entry that is not a directory, which creating the
            // directories reports better.
            Err(Errno::INVAL | Errno::NOENT | Errno::NOTDIR) => return Ok(current),
            Err(errno) => return Err(FileWriteError::from_errno(WriteStep::Resolve, &current, errno)),
        }
    }
    let path = path.to_owned();
    Err(FileWriteError::LinkLoop { path })
}

fn bytes_to_os(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

fn split_parent_and_name(target: &Path) -> Result<(PathBuf, OsString), FileWriteError> {
    match target.file_name() {
        Some(name) => Ok((parent_of(target).to_owned(), name.to_owned())),
        None => Err(FileWriteError::NoName { path: target.to_owned() }),
    }
}

fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    }
}

/// Opens the directory; `None` if another process has just removed it.
fn open_directory(parent: &Path) -> Result<Option<OwnedFd>, FileWriteError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match rustix::fs::openat(CWD, parent, flags, Mode::empty()) {
        Ok(directory) => Ok(Some(directory)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(FileWriteError::from_errno(WriteStep::Lock, parent, errno)),
    }
}

fn wait_for_lock(
    directory: &OwnedFd,
    parent: &Path,
    deadline: Instant,
    limit: Duration,
) -> Result<(), FileWriteError> {
    let mut pause = PAUSES.0;
    loop {
        match rustix::fs::flock(directory, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            Err(errno) => return Err(FileWriteError::from_errno(WriteStep::Lock, parent, errno)),
        }
        if Instant::now() >= deadline {
            return Err(busy_error(parent, limit));
        }
        std::thread::sleep(pause);
        pause = PAUSES.1.min(pause * 2);
    }
}

fn busy_error(parent: &Path, waited: Duration) -> FileWriteError {
    FileWriteError::Busy { directory: parent.to_owned(), waited }
}

fn is_same_directory(parent: &Path, directory: &OwnedFd) -> bool {
    let identity = |stat: io::Result<Stat>| stat.ok().map(|stat| (stat.st_dev, stat.st_ino));
    let named = identity(rustix::fs::stat(parent).map_err(Into::into));
    let held = identity(rustix::fs::fstat(directory).map_err(Into::into));
    named.is_some() && named == held
}

#[cfg(test)]
mod tests;
