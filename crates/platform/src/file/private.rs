//! Reads a file that holds a secret, after checking that no other user can have read or written it.
//!
//! Such a file is changed in `update`.

mod update;

pub use update::{PrivateChange, update_private};

use super::FileReadError;
use super::permissions::FilePermissions;
use super::read::{decode_utf8, open_for_reading, read_bytes_from};
use rustix::fs::{CWD, OFlags, Stat};
use rustix::io::Errno;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The text of a file that only we, or root, can access.
#[derive(Clone, PartialEq, Eq)]
pub struct PrivateText {
    /// The exact content of the file.
    pub text: String,
    /// The last modification time.
    pub modified: SystemTime,
}

/// The handling of a path that is a symbolic link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymlinkPolicy {
    /// The target is read, and its owner and mode are checked.
    Follow,
    /// A link is an error: its creator may not be the owner of the file.
    Refuse,
}

/// Reads the secret text at `path`; `None` if there is no file.
///
/// Otherwise like [`super::read_text`]. Owner and mode are taken from the opened descriptor, so the file
/// cannot be exchanged between check and read.
pub fn read_private(
    path: &Path,
    limit: u64,
    links: SymlinkPolicy,
) -> Result<Option<PrivateText>, FileReadError> {
    let Some((bytes, stat)) = read_private_with_stat(path, limit, links)? else { return Ok(None) };
    let text = decode_utf8(bytes, path)?;
    Ok(Some(PrivateText { text, modified: modification_time(&stat) }))
}

/// Reads the bytes at `path`, which need not be UTF-8; links are refused. Otherwise like [`read_private`].
pub fn read_private_bytes(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, FileReadError> {
    Ok(read_private_with_stat(path, limit, SymlinkPolicy::Refuse)?.map(|(bytes, _)| bytes))
}

/// Rejects a folder of secrets in which other users could place files. A missing folder is fine.
pub fn check_private_folder(path: &Path) -> Result<(), FileReadError> {
    let stat = match rustix::fs::stat(path) {
        Ok(stat) => stat,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
        Err(errno) => return Err(FileReadError::from_errno(path, errno)),
    };
    let (path, marks) = (path.to_owned(), FilePermissions::from_stat(&stat));
    match (marks.is_trusted_owner(), marks.is_writable_by_others()) {
        (false, _) => Err(FileReadError::Foreign { path, uid: marks.owner }),
        (true, true) => Err(FileReadError::OpenFolder { path, mode: marks.mode }),
        (true, false) => Ok(()),
    }
}

fn read_private_with_stat(
    path: &Path,
    limit: u64,
    links: SymlinkPolicy,
) -> Result<Option<(Vec<u8>, Stat)>, FileReadError> {
    let flags = match links {
        SymlinkPolicy::Follow => OFlags::empty(),
        SymlinkPolicy::Refuse => OFlags::NOFOLLOW,
    };
    let file = match open_for_reading(CWD, path, path, flags) {
        Ok(Some(file)) => file,
        Ok(None) => return Ok(None),
        Err(FileReadError::Io { source, path })
            if links == SymlinkPolicy::Refuse && Errno::from_io_error(&source) == Some(Errno::LOOP) =>
        {
            return Err(FileReadError::Link { path });
        }
        Err(error) => return Err(error),
    };
    let (bytes, stat) = read_bytes_from(file, path, limit)?;
    check_private(path, &stat)?;
    Ok(Some((bytes, stat)))
}

fn check_private(path: &Path, stat: &Stat) -> Result<(), FileReadError> {
    let (path, marks) = (path.to_owned(), FilePermissions::from_stat(stat));
    match (marks.is_trusted_owner(), marks.is_private()) {
        (false, _) => Err(FileReadError::Foreign { path, uid: marks.owner }),
        (true, false) => Err(FileReadError::Exposed { path, mode: marks.mode }),
        (true, true) => Ok(()),
    }
}

/// The modification time. Times before the epoch, and invalid ones, count as the epoch.
fn modification_time(stat: &Stat) -> SystemTime {
    let seconds = u64::try_from(stat.st_mtime).unwrap_or(0);
    let nanos = u32::try_from(stat.st_mtime_nsec).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos.min(999_999_999))
}

impl std::fmt::Debug for PrivateText {
    /// Omits the text, which is a secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PrivateText").field("modified", &self.modified).finish_non_exhaustive()
    }
}
