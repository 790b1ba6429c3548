//! Reads one text file, bounded, and says whose it is.
//!
//! Every question is asked of the opened descriptor, never of the path again: between two looks at a
//! path somebody may put another file there.

mod error;

pub use error::ReadError;

use super::marks::Marks;
use rustix::fs::{CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// The whole text of a file and the verdict on who could have written it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The content, exactly as it stands in the file.
    pub text: String,
    /// Whether someone else could have put it there.
    pub owner: Ownership,
}

/// Who could have written a file, as its descriptor tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// It belongs to us or to root, and not everyone may write to it.
    Trusted,
    /// It belongs to neither us nor root.
    OtherOwner {
        /// The owner.
        uid: u32,
    },
    /// Every user of the machine may write to it.
    WorldWritable {
        /// Its permission bits.
        mode: u32,
    },
}

/// Reads the text at `path`, following symbolic links; `None` if there is nothing.
///
/// Never blocks on a FIFO or a device and never reads more than `limit` bytes.
pub fn read(path: &Path, limit: u64) -> Result<Option<Text>, ReadError> {
    let Some(file) = open(CWD, path, path, OFlags::empty())? else {
        return Ok(None);
    };
    let (text, stat) = text_of(file, path, limit)?;
    let owner = Marks::of(&stat).ownership();
    Ok(Some(Text { text, owner }))
}

/// Reads the bytes at `path`, for what is no text; otherwise like [`read`].
pub fn read_bytes(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, ReadError> {
    match open(CWD, path, path, OFlags::empty())? {
        Some(file) => bytes_of(file, path, limit).map(|(bytes, _)| Some(bytes)),
        None => Ok(None),
    }
}

/// Opens `name` relative to `directory`; `path` is what messages call it.
pub(super) fn open(
    directory: impl AsFd,
    name: &Path,
    path: &Path,
    flags: OFlags,
) -> Result<Option<OwnedFd>, ReadError> {
    // Without NONBLOCK opening a FIFO waits for a writer, who may never come.
    let flags = flags | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    match rustix::fs::openat(directory, name, flags, Mode::empty()) {
        Ok(file) => Ok(Some(file)),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(errno) => Err(ReadError::of(path, errno)),
    }
}

/// The text behind an opened file, and what the descriptor says about it.
pub(super) fn text_of(file: OwnedFd, path: &Path, limit: u64) -> Result<(String, Stat), ReadError> {
    let (bytes, stat) = bytes_of(file, path, limit)?;
    Ok((text_from(bytes, path)?, stat))
}

/// The text the bytes of the file at `path` are.
pub(super) fn text_from(bytes: Vec<u8>, path: &Path) -> Result<String, ReadError> {
    String::from_utf8(bytes).map_err(|error| ReadError::not_utf8(path, &error))
}

/// Like [`text_of`], for what need not be text.
pub(super) fn bytes_of(file: OwnedFd, path: &Path, limit: u64) -> Result<(Vec<u8>, Stat), ReadError> {
    let stat = rustix::fs::fstat(&file).map_err(|errno| ReadError::of(path, errno))?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    if kind != FileType::RegularFile {
        return Err(ReadError::not_regular(path, kind));
    }
    let size = u64::try_from(stat.st_size).unwrap_or_default();
    let bytes = bounded(file, path, limit, size)?;
    Ok((bytes, stat))
}

fn bounded(file: OwnedFd, path: &Path, limit: u64, size: u64) -> Result<Vec<u8>, ReadError> {
    // Room for all of it and for the end: then it is read at once instead of in ever larger pieces.
    let room = size.min(limit).saturating_add(1);
    let mut bytes = Vec::with_capacity(usize::try_from(room).unwrap_or_default());
    // One byte more than allowed tells a full file from one that is too large, and also holds for a
    // file that grows while it is read.
    let read = File::from(file)
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|source| ReadError::io(path, source))?;
    if read as u64 > limit {
        let path = path.to_owned();
        return Err(ReadError::TooLarge { path, limit });
    }
    Ok(bytes)
}
