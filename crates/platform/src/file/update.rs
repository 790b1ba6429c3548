//! Updates one file as a whole: lock, temporary file, sync, rename.
//!
//! This is the only writer of the product. `locked_entry` resolves and locks the directory entry,
//! `replace` does the atomic write.

use super::locked_entry::{LOCK_LIMIT, LockedEntry};
use super::replace::{PreviousAttributes, replace_file};
use super::{Creation, FileReadError, FileWriteError};
use std::path::{Path, PathBuf};

/// The outcome of an update, with the path after following symbolic links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateOutcome {
    /// The new text was the old text; the file was not written.
    Unchanged {
        /// The file.
        path: PathBuf,
    },
    /// There was no file before.
    Created {
        /// The file.
        path: PathBuf,
    },
    /// The file has a new text.
    Replaced {
        /// The file.
        path: PathBuf,
    },
}

/// Error of an update; the file is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum FileUpdateError<E> {
    /// The current text cannot be read, so it must not be replaced.
    #[error(transparent)]
    Read(#[from] FileReadError),
    /// The new text cannot be written.
    #[error(transparent)]
    Write(#[from] FileWriteError),
    /// The caller's `change` returned an error.
    #[error(transparent)]
    Refused(E),
}

/// Updates the text at `path` to the result of `change`, which gets the current text (`None`: no file).
///
/// - A symbolic link is followed and kept; its target is replaced. A link to nothing creates its target.
/// - Updates of files in one directory exclude each other, between threads and between processes,
///   for at most [`LOCK_LIMIT`]. No lock file is left behind, and a killed holder frees the lock.
/// - Readers and crashes see the old text or the new one, never a mixture.
/// - Mode is kept, owner and group where the system permits it. Access control lists are not.
/// - After an error the file is byte for byte the same as before, and directories created for it are removed
///   again. The exception is [`super::WriteStep::SyncDirectory`], which comes after the rename.
///
/// `change` runs under the lock and must not update another file of the same directory.
pub fn update_file<E>(
    path: &Path,
    creation: Creation,
    limit: u64,
    change: impl FnOnce(Option<&str>) -> Result<String, E>,
) -> Result<UpdateOutcome, FileUpdateError<E>> {
    let mut place = LockedEntry::lock_path(path, creation, LOCK_LIMIT)?;
    let current = place.read_text(limit)?;
    let (old, previous) = current.unzip();
    let new = change(old.as_deref()).map_err(FileUpdateError::Refused)?;

    let path = place.path();
    if old.as_ref() == Some(&new) {
        return Ok(UpdateOutcome::Unchanged { path });
    }
    if new.len() as u64 > limit {
        return Err(FileWriteError::TooLarge { path, limit }.into());
    }
    replace_file(&place, new.as_bytes(), previous.map(PreviousAttributes::from_stat), creation)?;
    place.keep_created_directories();
    Ok(match old {
        Some(_) => UpdateOutcome::Replaced { path },
        None => UpdateOutcome::Created { path },
    })
}

impl UpdateOutcome {
    /// The path of the file, after following symbolic links.
    pub fn path(&self) -> &Path {
        match self {
            Self::Unchanged { path } | Self::Created { path } | Self::Replaced { path } => path,
        }
    }
}

impl<E> FileUpdateError<E> {
    /// The next step for the user; the hint for a refusal is the caller's own.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Read(error) => error.hint(),
            Self::Write(error) => error.hint(),
            Self::Refused(_) => None,
        }
    }
}
