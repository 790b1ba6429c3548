//! Why a file cannot be written, with what a person can do about it.

use rustix::io::Errno;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why a file cannot be written. Unless the step is [`Step::SyncDirectory`], the old file is untouched.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The path has no last component to create.
    #[error("`{}` does not name a file", path.display())]
    NoName {
        /// The path.
        path: PathBuf,
    },
    /// Its symbolic links never end.
    #[error("`{}` goes through too many symbolic links", path.display())]
    LinkLoop {
        /// The path.
        path: PathBuf,
    },
    /// Others held the lock for as long as we were willing to wait.
    #[error("`{}` stayed locked by another process for {waited:?}", directory.display())]
    Busy {
        /// The locked directory, or the lock's own file.
        directory: PathBuf,
        /// How long we waited.
        waited: Duration,
    },
    /// The user may not, or the file system is read-only.
    #[error("no permission to {step} `{}`", path.display())]
    Denied {
        /// What was not permitted.
        step: Step,
        /// On what.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The disk, the quota or the process's file-size limit is used up.
    #[error("no space left to {step} `{}`", path.display())]
    Full {
        /// What needed the space.
        step: Step,
        /// On what.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The new text is larger than the caller would read back.
    #[error("the new text of `{}` is larger than {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit.
        limit: u64,
    },
    /// Anything else the system says.
    #[error("cannot {step} `{}`", path.display())]
    Io {
        /// What did not work.
        step: Step,
        /// On what.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

/// One step of an update, as a verb for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Following the symbolic links.
    Resolve,
    /// Creating a directory above the file.
    CreateDirectory,
    /// Opening and locking the directory, or a lock's own file.
    Lock,
    /// Creating the temporary file beside the target.
    Create,
    /// Writing, syncing and describing the temporary file.
    Write,
    /// Putting the temporary file in the target's place.
    Replace,
    /// Making the new name durable; the new text is already in place.
    SyncDirectory,
}

impl WriteError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Busy { .. } => {
                Some("another process is writing there; try again when it has ended".to_owned())
            }
            Self::Denied { path, source, .. } if is_read_only(source) => {
                Some(format!("the file system of `{}` is mounted read-only", path.display()))
            }
            // What is not there yet has no owner; the folder it would stand in has.
            Self::Denied { step: Step::Create | Step::CreateDirectory, path, .. } => {
                Some(format!("check who owns it: `ls -ld {}`", path.parent().unwrap_or(path).display()))
            }
            Self::Denied { path, .. } => Some(format!("check who owns it: `ls -ld {}`", path.display())),
            Self::Full { path, .. } => {
                Some(format!("free some space: `df -h {}`", path.parent().unwrap_or(path).display()))
            }
            Self::LinkLoop { path } => Some(format!("look at it: `namei {}`", path.display())),
            Self::NoName { .. } | Self::TooLarge { .. } | Self::Io { .. } => None,
        }
    }

    pub(super) fn of(step: Step, path: &Path, errno: Errno) -> Self {
        Self::io(step, path, errno.into())
    }

    pub(super) fn io(step: Step, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match Errno::from_io_error(&source) {
            Some(Errno::ACCESS | Errno::PERM | Errno::ROFS) => Self::Denied { step, path, source },
            Some(Errno::NOSPC | Errno::DQUOT | Errno::FBIG) => Self::Full { step, path, source },
            Some(Errno::LOOP) => Self::LinkLoop { path },
            Some(_) | None => Self::Io { step, path, source },
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Resolve => "follow",
            Self::CreateDirectory => "create directory",
            Self::Lock => "lock",
            Self::Create => "create",
            Self::Write => "write",
            Self::Replace => "replace",
            Self::SyncDirectory => "sync directory",
        })
    }
}

fn is_read_only(source: &io::Error) -> bool {
    Errno::from_io_error(source) == Some(Errno::ROFS)
}

#[cfg(test)]
mod tests;
