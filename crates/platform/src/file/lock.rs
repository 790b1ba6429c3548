//! An advisory lock file that excludes other processes and tasks.
//!
//! The lock is `flock` on a file of its own, which stays: removing it would let two holders in. The kernel
//! releases the lock when its holder dies, so a lock is never stale.

use super::{FileWriteError, WriteStep};
use rustix::fs::{FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::fs::DirBuilder;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Backoff between two attempts, from the first to the second value, so that a released lock is taken soon.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));

/// An acquired lock, held until this value is dropped.
#[derive(Debug)]
pub struct FileLock {
    file: OwnedFd,
}

/// A contender for the lock file; each value contends separately, also within one process.
#[derive(Debug)]
pub struct LockFile {
    path: PathBuf,
    pause: Duration,
}

/// Waits up to `limit` for the lock at `path`; creates the file, and the folders above it, when missing.
///
/// # Errors
/// [`FileWriteError::Busy`] on timeout; any other error of the system.
pub fn acquire_lock(path: &Path, limit: Duration) -> Result<FileLock, FileWriteError> {
    let deadline = Instant::now() + limit;
    let mut wanted = LockFile::new(path);
    loop {
        if let Some(lock) = wanted.try_acquire()? {
            return Ok(lock);
        }
        if Instant::now() >= deadline {
            return Err(FileWriteError::Busy { directory: path.to_owned(), waited: limit });
        }
        std::thread::sleep(wanted.next_backoff());
    }
}

impl LockFile {
    /// Creates a contender for the lock at `path`, without touching the file system.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), pause: PAUSES.0 }
    }

    /// Takes the lock if it is free, without waiting.
    ///
    /// # Errors
    /// Any error of the system except that the lock is held.
    pub fn try_acquire(&self) -> Result<Option<FileLock>, FileWriteError> {
        let file = self.open_lock_file()?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            // If the file was removed by hand meanwhile, other processes would lock a new one.
            Ok(()) if self.is_same_file(&file) => Ok(Some(FileLock { file })),
            Ok(()) | Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(None),
            Err(errno) => Err(FileWriteError::from_errno(WriteStep::Lock, &self.path, errno)),
        }
    }

    /// Returns the next pause between attempts: exponential backoff up to 20 ms.
    pub fn next_backoff(&mut self) -> Duration {
        let pause = self.pause;
        self.pause = PAUSES.1.min(pause * 2);
        pause
    }

    fn open_lock_file(&self) -> Result<OwnedFd, FileWriteError> {
        if let Some(folder) = self.path.parent() {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|error| FileWriteError::from_io(WriteStep::CreateDirectory, folder, error))?;
        }
        let flags = OFlags::CREATE | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::open(&self.path, flags, Mode::from_raw_mode(0o600))
            .map_err(|errno| FileWriteError::from_errno(WriteStep::Lock, &self.path, errno))
    }

    fn is_same_file(&self, file: &OwnedFd) -> bool {
        let identity = |stat: Result<Stat, Errno>| stat.ok().map(|stat| (stat.st_dev, stat.st_ino));
        let named = identity(rustix::fs::lstat(&self.path));
        named.is_some() && named == identity(rustix::fs::fstat(file))
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // A child that was forked meanwhile and has not executed its program yet would keep the lock
        // otherwise.
        // Should unlocking fail, closing the descriptor does it.
        rustix::fs::flock(&self.file, FlockOperation::Unlock).unwrap_or_default();
    }
}
