//! Reads a file that holds a secret, if nobody else can have read or written it.
//!
//! Changing one is done in `update`.

mod update;

pub use update::{Change, update_private};

use super::ReadError;
use super::marks::Marks;
use super::read::{bytes_of, open, text_from};
use rustix::fs::{CWD, OFlags, Stat};
use rustix::io::Errno;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The text of a file that belongs to us, or to root, alone.
#[derive(Clone, PartialEq, Eq)]
pub struct Private {
    /// The content, exactly as it stands in the file.
    pub text: String,
    /// When it was written last.
    pub modified: SystemTime,
}

/// What becomes of a path that is a symbolic link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// The file it leads to is read, and judged.
    Follow,
    /// It is refused: whoever made it may not be who made the file.
    Refuse,
}

/// Reads the text at `path`; `None` if there is nothing.
///
/// Otherwise like [`super::read`]. What the descriptor says decides, so nobody can exchange the file between
/// the look and the reading.
pub fn read_private(path: &Path, limit: u64, links: Links) -> Result<Option<Private>, ReadError> {
    let Some((bytes, stat)) = private(path, limit, links)? else { return Ok(None) };
    let text = text_from(bytes, path)?;
    Ok(Some(Private { text, modified: modified(&stat) }))
}

/// Reads the bytes at `path`, for what need not be text; links are refused. Otherwise like [`read_private`].
pub fn read_private_bytes(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, ReadError> {
    Ok(private(path, limit, Links::Refuse)?.map(|(bytes, _)| bytes))
}

/// Refuses a folder of secrets that others could put their own files into. One that is not there is fine.
pub fn check_private_folder(path: &Path) -> Result<(), ReadError> {
    let stat = match rustix::fs::stat(path) {
        Ok(stat) => stat,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
        Err(errno) => return Err(ReadError::of(path, errno)),
    };
    let (path, marks) = (path.to_owned(), Marks::of(&stat));
    match (marks.is_trusted_owner(), marks.is_writable_by_others()) {
        (false, _) => Err(ReadError::Foreign { path, uid: marks.owner }),
        (true, true) => Err(ReadError::OpenFolder { path, mode: marks.mode }),
        (true, false) => Ok(()),
    }
}

fn private(path: &Path, limit: u64, links: Links) -> Result<Option<(Vec<u8>, Stat)>, ReadError> {
    let flags = match links {
        Links::Follow => OFlags::empty(),
        Links::Refuse => OFlags::NOFOLLOW,
    };
    let file = match open(CWD, path, path, flags) {
        Ok(Some(file)) => file,
        Ok(None) => return Ok(None),
        Err(ReadError::Io { source, path })
            if links == Links::Refuse && Errno::from_io_error(&source) == Some(Errno::LOOP) =>
        {
            return Err(ReadError::Link { path });
        }
        Err(error) => return Err(error),
    };
    let (bytes, stat) = bytes_of(file, path, limit)?;
    is_private(path, &stat)?;
    Ok(Some((bytes, stat)))
}

fn is_private(path: &Path, stat: &Stat) -> Result<(), ReadError> {
    let (path, marks) = (path.to_owned(), Marks::of(stat));
    match (marks.is_trusted_owner(), marks.is_private()) {
        (false, _) => Err(ReadError::Foreign { path, uid: marks.owner }),
        (true, false) => Err(ReadError::Exposed { path, mode: marks.mode }),
        (true, true) => Ok(()),
    }
}

/// Times before the epoch, and those the system cannot tell, count as the epoch.
fn modified(stat: &Stat) -> SystemTime {
    let seconds = u64::try_from(stat.st_mtime).unwrap_or(0);
    let nanos = u32::try_from(stat.st_mtime_nsec).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos.min(999_999_999))
}

impl std::fmt::Debug for Private {
    /// Not the text: it is somebody's secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Private").field("modified", &self.modified).finish_non_exhaustive()
    }
}
