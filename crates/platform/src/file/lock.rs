//! Keeps processes and tasks from doing the same thing at once, by a file that means nothing else.
//!
//! The lock is `flock` on a file of its own, which stays: removing it would let two holders in. The kernel
//! frees the lock when its holder dies, so nobody ever has to judge whether a lock is stale.

use super::{Step, WriteError};
use rustix::fs::{FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::fs::DirBuilder;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Pauses between two attempts grow from the first to the second, so that a freed lock is found at once.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));

/// A lock that is held while this value lives.
#[derive(Debug)]
pub struct Lock {
    file: OwnedFd,
}

/// A lock somebody wants; each value is a contender of its own, within one process too.
#[derive(Debug)]
pub struct LockFile {
    path: PathBuf,
    pause: Duration,
}

/// Waits for the lock at `path`, for at most `limit`; makes the file, and the folders above it, when missing.
///
/// # Errors
/// [`WriteError::Busy`] when others held it all the time; anything else the system says.
pub fn lock(path: &Path, limit: Duration) -> Result<Lock, WriteError> {
    let deadline = Instant::now() + limit;
    let mut wanted = LockFile::new(path);
    loop {
        if let Some(lock) = wanted.try_take()? {
            return Ok(lock);
        }
        if Instant::now() >= deadline {
            return Err(WriteError::Busy { directory: path.to_owned(), waited: limit });
        }
        std::thread::sleep(wanted.pause());
    }
}

impl LockFile {
    /// The lock at `path`. Touches nothing yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), pause: PAUSES.0 }
    }

    /// Takes the lock if nobody has it, without waiting.
    ///
    /// # Errors
    /// Anything but "somebody has it".
    pub fn try_take(&self) -> Result<Option<Lock>, WriteError> {
        let file = self.open()?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            // Should a tidy person have removed the file, others would lock another one.
            Ok(()) if self.leads_to(&file) => Ok(Some(Lock { file })),
            Ok(()) | Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(None),
            Err(errno) => Err(WriteError::of(Step::Lock, &self.path, errno)),
        }
    }

    /// How long to wait before the next attempt: longer each time, but never long.
    pub fn pause(&mut self) -> Duration {
        let pause = self.pause;
        self.pause = PAUSES.1.min(pause * 2);
        pause
    }

    fn open(&self) -> Result<OwnedFd, WriteError> {
        if let Some(folder) = self.path.parent() {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|error| WriteError::io(Step::CreateDirectory, folder, error))?;
        }
        let flags = OFlags::CREATE | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::open(&self.path, flags, Mode::from_raw_mode(0o600))
            .map_err(|errno| WriteError::of(Step::Lock, &self.path, errno))
    }

    fn leads_to(&self, file: &OwnedFd) -> bool {
        let identity = |stat: Result<Stat, Errno>| stat.ok().map(|stat| (stat.st_dev, stat.st_ino));
        let named = identity(rustix::fs::lstat(&self.path));
        named.is_some() && named == identity(rustix::fs::fstat(file))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A child that was forked meanwhile and has not started its program yet would keep it otherwise.
        // Should unlocking fail, closing does it.
        rustix::fs::flock(&self.file, FlockOperation::Unlock).unwrap_or_default();
    }
}
