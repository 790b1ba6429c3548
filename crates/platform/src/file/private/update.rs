//! Changes a file that holds secrets: as `update` does, for the owner alone, and never through a link.

use super::is_private;
use crate::file::place::{LOCK_LIMIT, Place};
use crate::file::replace::{Previous, replace};
use crate::file::{Creation, ReadError, Step, UpdateError, WriteError};
use rustix::fs::AtFlags;
use rustix::io::Errno;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What becomes of the file.
#[derive(Clone, PartialEq, Eq)]
pub enum Change {
    /// It stays as it is.
    Keep,
    /// It has this content from now on.
    Replace(Vec<u8>),
    /// The same, and what was there stays beside it under its name with this ending.
    SetAside {
        /// What is added to the file's name.
        ending: String,
        /// The new content.
        content: Vec<u8>,
    },
}

/// Replaces the bytes at `path` by what `change` makes of the current ones (`None`: no file).
///
/// Locks, syncs and renames as [`crate::file::update`] does, with the same promises. A file that is a link, or
/// that others may open, is refused before `change` sees it. Returns where the old file was set aside.
///
/// `change` runs under the lock and must not update another file of the same directory.
pub fn update_private<E>(
    path: &Path,
    limit: u64,
    change: impl FnOnce(Option<&[u8]>) -> Result<Change, E>,
) -> Result<Option<PathBuf>, UpdateError<E>> {
    let mut place = Place::lock(path, Creation::PRIVATE, LOCK_LIMIT)?;
    if !place.is_at(path) {
        return Err(ReadError::Link { path: path.to_owned() }.into());
    }
    let (old, stat) = place.read_bytes(limit)?.unzip();
    if let Some(stat) = &stat {
        is_private(path, stat)?;
    }
    let (content, ending) = match change(old.as_deref()).map_err(UpdateError::Refused)? {
        Change::Keep => return Ok(None),
        Change::Replace(content) => (content, None),
        Change::SetAside { ending, content } => (content, Some(ending)),
    };
    if content.len() as u64 > limit {
        return Err(WriteError::TooLarge { path: place.path(), limit }.into());
    }
    let aside = ending.filter(|_| old.is_some()).map(|ending| set_aside(&place, &ending)).transpose()?;
    replace(&place, &content, stat.map(Previous::of), Creation::PRIVATE)?;
    place.keep_directories();
    Ok(aside)
}

/// A second name for the old file, so that it is never missing, not even between two steps.
fn set_aside(place: &Place, ending: &str) -> Result<PathBuf, WriteError> {
    let mut name = OsString::from(place.name());
    name.push(ending);
    let aside = place.parent().join(&name);
    let (old, aside_name) = (place.name(), Path::new(&name));
    match rustix::fs::linkat(place, old, place, aside_name, AtFlags::empty()) {
        // The same bytes were set aside before.
        Ok(()) | Err(Errno::EXIST) => Ok(aside),
        // Not every file system knows second names.
        Err(_) => match rustix::fs::renameat(place, old, place, aside_name) {
            Ok(()) => Ok(aside),
            Err(errno) => Err(WriteError::of(Step::Replace, &aside, errno)),
        },
    }
}

impl std::fmt::Debug for Change {
    /// Not the content: it is somebody's secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Keep => "Keep",
            Self::Replace(_) => "Replace",
            Self::SetAside { .. } => "SetAside",
        })
    }
}
