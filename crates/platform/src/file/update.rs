//! Changes one file as a whole: locked, written beside, synced, renamed.
//!
//! This is the only writer of the product. Finding and locking the place is done in `place`,
//! putting the bytes there in `replace`.

use super::place::{LOCK_LIMIT, Place};
use super::replace::{Previous, replace};
use super::{Creation, ReadError, WriteError};
use std::path::{Path, PathBuf};

/// What an update did, and to which file after following symbolic links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Updated {
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

/// Why an update did not happen.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError<E> {
    /// The current text cannot be read, so nothing may be put in its place.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The new text cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The caller's change said no.
    #[error(transparent)]
    Refused(E),
}

/// Replaces the text at `path` by what `change` makes of the current one (`None`: no file).
///
/// - A symbolic link is followed and kept; its target is replaced. A link to nothing creates its target.
/// - Updates of files in one directory exclude each other, between threads and between processes,
///   for at most [`LOCK_LIMIT`]. No lock file is left behind, and a killed holder frees the lock.
/// - Readers and crashes see the old text or the new one, never a mixture.
/// - Mode is kept, owner and group where the system lets us. Access control lists are not.
/// - Whenever this returns an error the file is byte for byte what it was, and directories made for
///   it are gone again. The exception is [`super::Step::SyncDirectory`], which comes after the rename.
///
/// `change` runs under the lock and must not update another file of the same directory.
pub fn update<E>(
    path: &Path,
    creation: Creation,
    limit: u64,
    change: impl FnOnce(Option<&str>) -> Result<String, E>,
) -> Result<Updated, UpdateError<E>> {
    let mut place = Place::lock(path, creation, LOCK_LIMIT)?;
    let current = place.read(limit)?;
    let (old, previous) = current.unzip();
    let new = change(old.as_deref()).map_err(UpdateError::Refused)?;

    let path = place.path();
    if old.as_ref() == Some(&new) {
        return Ok(Updated::Unchanged { path });
    }
    if new.len() as u64 > limit {
        return Err(WriteError::TooLarge { path, limit }.into());
    }
    replace(&place, new.as_bytes(), previous.map(Previous::of), creation)?;
    place.keep_directories();
    Ok(match old {
        Some(_) => Updated::Replaced { path },
        None => Updated::Created { path },
    })
}

impl Updated {
    /// The file that was looked at, after following symbolic links.
    pub fn path(&self) -> &Path {
        match self {
            Self::Unchanged { path } | Self::Created { path } | Self::Replaced { path } => path,
        }
    }
}

impl<E> UpdateError<E> {
    /// What a person can do about it; a refusal's hint is the caller's own.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Read(error) => error.hint(),
            Self::Write(error) => error.hint(),
            Self::Refused(_) => None,
        }
    }
}
