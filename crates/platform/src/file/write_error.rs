//! Error of writing a file, with a hint for the user.

use rustix::io::Errno;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Error of writing a file. Unless the step is [`WriteStep::SyncDirectory`], the old file is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum FileWriteError {
    /// The path has no last component to create.
    #[error("`{}` does not name a file", path.display())]
    NoName {
        /// The path.
        path: PathBuf,
    },
    /// The path has more symbolic links than the limit.
    #[error("`{}` goes through too many symbolic links", path.display())]
    LinkLoop {
        /// The path.
        path: PathBuf,
    },
    /// Timeout: other processes held the lock for as long as we were willing to wait.
    #[error("`{}` stayed locked by another process for {waited:?}", directory.display())]
    Busy {
        /// The locked directory, or the lock's own file.
        directory: PathBuf,
        /// Time that we waited.
        waited: Duration,
    },
    /// The user has no permission, or the file system is read-only.
    #[error("no permission to {step} `{}`", path.display())]
    Denied {
        /// The step that was not permitted.
        step: WriteStep,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The disk, the quota or the process's file-size limit is used up.
    #[error("no space left to {step} `{}`", path.display())]
    Full {
        /// The step that needed the space.
        step: WriteStep,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The new text is larger than the limit at which the caller would read it back.
    #[error("the new text of `{}` is larger than {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit.
        limit: u64,
    },
    /// Any other error of the system.
    #[error("cannot {step} `{}`", path.display())]
    Io {
        /// The step that failed.
        step: WriteStep,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// One step of an update; displays as a verb for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteStep {
    /// Following the symbolic links.
    Resolve,
    /// Creating a directory above the file.
    CreateDirectory,
    /// Opening and locking the directory, or a lock's own file.
    Lock,
    /// Creating the temporary file beside the target.
    Create,
    /// Writing and syncing the temporary file, and setting its owner and mode.
    Write,
    /// Renaming the temporary file over the target.
    Replace,
    /// Removing the file.
    Remove,
    /// Syncing the directory, which makes the rename durable; the new text is already in place.
    SyncDirectory,
}

impl FileWriteError {
    /// The next step for the user, if there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Busy { .. } => Some("another process is writing there; try again later".to_owned()),
            Self::Denied { path, source, .. } if is_read_only(source) => {
                Some(format!("the file system of `{}` is mounted read-only", path.display()))
            }
            // A file that does not exist yet has no owner; its parent directory has.
            Self::Denied { step: WriteStep::Create | WriteStep::CreateDirectory, path, .. } => {
                Some(format!("check who owns it: `ls -ld {}`", path.parent().unwrap_or(path).display()))
            }
            Self::Denied { path, .. } => Some(format!("check who owns it: `ls -ld {}`", path.display())),
            Self::Full { path, .. } => {
                Some(format!("free some space: `df -h {}`", path.parent().unwrap_or(path).display()))
            }
            Self::LinkLoop { path } => Some(format!("inspect its links: `namei {}`", path.display())),
            Self::NoName { .. } | Self::TooLarge { .. } | Self::Io { .. } => None,
        }
    }

    pub(super) fn from_errno(step: WriteStep, path: &Path, errno: Errno) -> Self {
        Self::from_io(step, path, errno.into())
    }

    pub(super) fn from_io(step: WriteStep, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match Errno::from_io_error(&source) {
            Some(Errno::ACCESS | Errno::PERM | Errno::ROFS) => Self::Denied { step, path, source },
            Some(Errno::NOSPC | Errno::DQUOT | Errno::FBIG) => Self::Full { step, path, source },
            Some(Errno::LOOP) => Self::LinkLoop { path },
            Some(_) | None => Self::Io { step, path, source },
        }
    }
}

impl fmt::Display for WriteStep {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Resolve => "follow",
            Self::CreateDirectory => "create directory",
            Self::Lock => "lock",
            Self::Create => "create",
            Self::Write => "write",
            Self::Replace => "replace",
            Self::Remove => "remove",
            Self::SyncDirectory => "sync directory",
        })
    }
}

fn is_read_only(source: &io::Error) -> bool {
    Errno::from_io_error(source) == Some(Errno::ROFS)
}

#[cfg(test)]
mod tests;
