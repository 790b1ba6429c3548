//! Updates a file that holds secrets: like `update`, but readable by the owner only and never through a link.

use super::check_private;
use crate::file::locked_entry::{LOCK_LIMIT, LockedEntry};
use crate::file::replace::{PreviousAttributes, replace_file};
use crate::file::{Creation, FileReadError, FileUpdateError, FileWriteError, WriteStep};
use rustix::fs::AtFlags;
use rustix::io::Errno;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The change that an update makes to a private file.
#[derive(Clone, PartialEq, Eq)]
pub enum PrivateChange {
    /// Keeps the file as it is.
    Keep,
    /// Replaces the content of the file.
    Replace(Vec<u8>),
    /// Replaces the content, and keeps the old file as a backup with this ending added to its name.
    SetAside {
        /// The suffix of the backup's name.
        ending: String,
        /// The new content.
        content: Vec<u8>,
    },
}

/// Replaces the bytes at `path` by the result of `change`, which gets the current ones (`None`: no file).
///
/// Locks, syncs and renames as [`crate::file::update_file`] does, with the same guarantees. A file that is a
/// link, or that others may open, is refused before `change` sees it. Returns the path of the backup, if one
/// was made.
///
/// `change` runs under the lock and must not update another file of the same directory.
pub fn update_private<E>(
    path: &Path,
    limit: u64,
    change: impl FnOnce(Option<&[u8]>) -> Result<PrivateChange, E>,
) -> Result<Option<PathBuf>, FileUpdateError<E>> {
    let mut place = LockedEntry::lock_path(path, Creation::PRIVATE, LOCK_LIMIT)?;
    if !place.is_at(path) {
        return Err(FileReadError::Link { path: path.to_owned() }.into());
    }
    let (old, stat) = place.read_bytes(limit)?.unzip();
    if let Some(stat) = &stat {
        check_private(path, stat)?;
    }
    let (content, ending) = match change(old.as_deref()).map_err(FileUpdateError::Refused)? {
        PrivateChange::Keep => return Ok(None),
        PrivateChange::Replace(content) => (content, None),
        PrivateChange::SetAside { ending, content } => (content, Some(ending)),
    };
    if content.len() as u64 > limit {
        return Err(FileWriteError::TooLarge { path: place.path(), limit }.into());
    }
    let aside = ending.filter(|_| old.is_some()).map(|ending| back_up_file(&place, &ending)).transpose()?;
    replace_file(&place, &content, stat.map(PreviousAttributes::from_stat), Creation::PRIVATE)?;
    place.keep_created_directories();
    Ok(aside)
}

/// Hard-links the old file to its backup name, so that it is never missing, not even between two steps.
fn back_up_file(place: &LockedEntry, ending: &str) -> Result<PathBuf, FileWriteError> {
    let mut name = OsString::from(place.name());
    name.push(ending);
    let aside = place.parent().join(&name);
    let (old, aside_name) = (place.name(), Path::new(&name));
    match rustix::fs::linkat(place, old, place, aside_name, AtFlags::empty()) {
        // A backup of the same bytes exists already.
        Ok(()) | Err(Errno::EXIST) => Ok(aside),
        // Some file systems have no hard links.
        Err(_) => match rustix::fs::renameat(place, old, place, aside_name) {
            Ok(()) => Ok(aside),
            Err(errno) => Err(FileWriteError::from_errno(WriteStep::Replace, &aside, errno)),
        },
    }
}

impl std::fmt::Debug for PrivateChange {
    /// Omits the content, which is a secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Keep => "Keep",
            Self::Replace(_) => "Replace",
            Self::SetAside { .. } => "SetAside",
        })
    }
}
