//! Reads a file within a size limit, and reports its ownership.
//!
//! Type, size and owner are taken from the opened descriptor, never from the path again: between two lookups
//! of a path another file may be put there.

mod error;

pub use error::FileReadError;

use super::permissions::FilePermissions;
use rustix::fs::{CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// The whole text of a file, and whether its owner is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileText {
    /// The exact content of the file.
    pub text: String,
    /// Whether another user could have written the file.
    pub owner: Ownership,
}

/// Trust in a file by its owner and permission bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// The file belongs to us or to root, and is not world-writable.
    Trusted,
    /// The file belongs to neither us nor root.
    OtherOwner {
        /// The owner's user id.
        uid: u32,
    },
    /// Every user of the machine may write to the file.
    WorldWritable {
        /// The permission bits.
        mode: u32,
    },
}

/// Reads the text at `path`, following symbolic links; `None` if there is no file.
///
/// Never blocks on a FIFO or a device and never reads more than `limit` bytes.
pub fn read_text(path: &Path, limit: u64) -> Result<Option<FileText>, FileReadError> {
    let Some(file) = open_for_reading(CWD, path, path, OFlags::empty())? else {
        return Ok(None);
    };
    let (text, stat) = read_text_from(file, path, limit)?;
    let owner = FilePermissions::from_stat(&stat).ownership();
    Ok(Some(FileText { text, owner }))
}

/// Reads the bytes at `path`, which need not be UTF-8; otherwise like [`read_text`].
pub fn read_bytes(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, FileReadError> {
    match open_for_reading(CWD, path, path, OFlags::empty())? {
        Some(file) => read_bytes_from(file, path, limit).map(|(bytes, _)| Some(bytes)),
        None => Ok(None),
    }
}

/// Opens `name` relative to `directory`; `path` is the path for error messages.
pub(super) fn open_for_reading(
    directory: impl AsFd,
    name: &Path,
    path: &Path,
    flags: OFlags,
) -> Result<Option<OwnedFd>, FileReadError> {
    // Without NONBLOCK, opening a FIFO would wait for a writer that may never come.
    let flags = flags | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    match rustix::fs::openat(directory, name, flags, Mode::empty()) {
        Ok(file) => Ok(Some(file)),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(errno) => Err(FileReadError::from_errno(path, errno)),
    }
}

/// Reads the text of an opened file, with the `stat` of its descriptor.
pub(super) fn read_text_from(
    file: OwnedFd,
    path: &Path,
    limit: u64,
) -> Result<(String, Stat), FileReadError> {
    let (bytes, stat) = read_bytes_from(file, path, limit)?;
    Ok((decode_utf8(bytes, path)?, stat))
}

/// Decodes the bytes of the file at `path` as UTF-8.
pub(super) fn decode_utf8(bytes: Vec<u8>, path: &Path) -> Result<String, FileReadError> {
    String::from_utf8(bytes).map_err(|error| FileReadError::not_utf8(path, &error))
}

/// Reads the bytes of an opened file, which need not be UTF-8; otherwise like [`read_text_from`].
pub(super) fn read_bytes_from(
    file: OwnedFd,
    path: &Path,
    limit: u64,
) -> Result<(Vec<u8>, Stat), FileReadError> {
    let stat = rustix::fs::fstat(&file).map_err(|errno| FileReadError::from_errno(path, errno))?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    if kind != FileType::RegularFile {
        return Err(FileReadError::not_regular(path, kind));
    }
    let size = u64::try_from(stat.st_size).unwrap_or_default();
    let bytes = read_bounded(file, path, limit, size)?;
    Ok((bytes, stat))
}

fn read_bounded(file: OwnedFd, path: &Path, limit: u64, size: u64) -> Result<Vec<u8>, FileReadError> {
    // Capacity for the whole file and one more byte: it is then read at once instead of in ever larger
    // pieces.
    let room = size.min(limit).saturating_add(1);
    let mut bytes = Vec::with_capacity(usize::try_from(room).unwrap_or_default());
    // One byte more than allowed distinguishes a full file from one that is too large, also for a
    // file that grows while it is read.
    let read = File::from(file)
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|source| FileReadError::from_io(path, source))?;
    if read as u64 > limit {
        let path = path.to_owned();
        return Err(FileReadError::TooLarge { path, limit });
    }
    Ok(bytes)
}
