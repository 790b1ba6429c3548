//! Finds the directory entry an update is about and locks its directory.
//!
//! The lock is `flock` on the directory itself: it needs no file of its own that could be left behind
//! or deleted by a tidy person, it survives the rename of the target, and the kernel frees it when
//! its holder dies. Each update opens the directory anew, so threads exclude each other too.

mod fresh;

use super::read::{bytes_of, open, text_from};
use super::{Creation, ReadError, Step, WriteError};
use fresh::FreshDirectories;
use rustix::fs::{CWD, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long an update waits for other writers of the same directory.
///
/// Far longer than any update takes, so that only a writer that hangs is ever reported.
pub const LOCK_LIMIT: Duration = Duration::from_secs(30);

/// As many as Linux follows itself.
const MAX_LINKS: usize = 40;

/// Pauses between two attempts to lock grow from the first to the second.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));

/// A directory entry nobody else updates while this value lives.
#[derive(Debug)]
pub(super) struct Place {
    // Dropped first, so that unused directories disappear while their lock is still held.
    fresh: FreshDirectories,
    directory: OwnedFd,
    parent: PathBuf,
    name: OsString,
}

impl Place {
    /// Locks the place `path` leads to, creating the directories above it.
    pub(super) fn lock(path: &Path, creation: Creation, limit: Duration) -> Result<Self, WriteError> {
        let deadline = Instant::now() + limit;
        let mut fresh = FreshDirectories::default();
        loop {
            let target = resolve(path)?;
            let (parent, name) = split(&target)?;
            fresh.create(&parent, creation.dir_mode)?;
            if let Some(directory) = open_directory(&parent)? {
                wait_for_lock(&directory, &parent, deadline, limit)?;
                // While we waited the link may have been turned or the directory swapped.
                if resolve(path)? == target && leads_to(&parent, &directory) {
                    return Ok(Self { fresh, directory, parent, name });
                }
            }
            if Instant::now() >= deadline {
                return Err(busy(&parent, limit));
            }
        }
    }

    /// The current text and what its descriptor says; `None` if there is no file.
    pub(super) fn read(&self, limit: u64) -> Result<Option<(String, Stat)>, ReadError> {
        match self.read_bytes(limit)? {
            Some((bytes, stat)) => text_from(bytes, &self.path()).map(|text| Some((text, stat))),
            None => Ok(None),
        }
    }

    /// Like [`Self::read`], for what need not be text.
    pub(super) fn read_bytes(&self, limit: u64) -> Result<Option<(Vec<u8>, Stat)>, ReadError> {
        let path = self.path();
        let name = Path::new(&self.name);
        match open(&self.directory, name, &path, OFlags::NOFOLLOW)? {
            Some(file) => bytes_of(file, &path, limit).map(Some),
            None => Ok(None),
        }
    }

    /// Whether the file stands where `path` says, and not behind a symbolic link.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        path.file_name() == Some(&self.name) && parent_of(path) == self.parent
    }

    /// The file, after following symbolic links.
    pub(super) fn path(&self) -> PathBuf {
        self.parent.join(&self.name)
    }

    /// The last component of [`Self::path`].
    pub(super) fn name(&self) -> &Path {
        Path::new(&self.name)
    }

    /// Where the file stands, for messages.
    pub(super) fn parent(&self) -> &Path {
        &self.parent
    }

    /// Keeps the directories that were created for this place.
    pub(super) fn keep_directories(&mut self) {
        self.fresh.keep();
    }
}

impl AsFd for Place {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }
}

/// Follows `path` to the entry that is not a symbolic link; that entry need not exist.
fn resolve(path: &Path) -> Result<PathBuf, WriteError> {
    let mut current = path.to_owned();
    for _ in 0..MAX_LINKS {
        match rustix::fs::readlink(&current, Vec::new()) {
            Ok(target) => {
                let target = bytes_to_os(target.into_bytes());
                current = parent_of(&current).join(target);
            }
            // Not a link; not there; or below something that is not a directory, which creating the
            // directories will say better.
            Err(Errno::INVAL | Errno::NOENT | Errno::NOTDIR) => return Ok(current),
            Err(errno) => return Err(WriteError::of(Step::Resolve, &current, errno)),
        }
    }
    let path = path.to_owned();
    Err(WriteError::LinkLoop { path })
}

fn bytes_to_os(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

fn split(target: &Path) -> Result<(PathBuf, OsString), WriteError> {
    match target.file_name() {
        Some(name) => Ok((parent_of(target).to_owned(), name.to_owned())),
        None => Err(WriteError::NoName { path: target.to_owned() }),
    }
}

fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    }
}

/// `None` if the directory has just been removed by somebody else.
fn open_directory(parent: &Path) -> Result<Option<OwnedFd>, WriteError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match rustix::fs::openat(CWD, parent, flags, Mode::empty()) {
        Ok(directory) => Ok(Some(directory)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(WriteError::of(Step::Lock, parent, errno)),
    }
}

fn wait_for_lock(
    directory: &OwnedFd,
    parent: &Path,
    deadline: Instant,
    limit: Duration,
) -> Result<(), WriteError> {
    let mut pause = PAUSES.0;
    loop {
        match rustix::fs::flock(directory, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            Err(errno) => return Err(WriteError::of(Step::Lock, parent, errno)),
        }
        if Instant::now() >= deadline {
            return Err(busy(parent, limit));
        }
        std::thread::sleep(pause);
        pause = PAUSES.1.min(pause * 2);
    }
}

fn busy(parent: &Path, waited: Duration) -> WriteError {
    WriteError::Busy { directory: parent.to_owned(), waited }
}

fn leads_to(parent: &Path, directory: &OwnedFd) -> bool {
    let identity = |stat: io::Result<Stat>| stat.ok().map(|stat| (stat.st_dev, stat.st_ino));
    let named = identity(rustix::fs::stat(parent).map_err(Into::into));
    let held = identity(rustix::fs::fstat(directory).map_err(Into::into));
    named.is_some() && named == held
}

#[cfg(test)]
mod tests;
