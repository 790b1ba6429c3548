//! A folder of our own: what stands in it nobody else reads, and nobody else put there.
//!
//! It is opened and judged once. After that its files are reached through the descriptor and never by path, so whoever
//! puts a link or another folder in its place gains nothing (B100). What is written can be lost; nothing is synced.

mod sweep;

pub use sweep::{Allowance, sweep};

use super::marks::{FolderVerdict, Marks};
use super::{ReadError, Step, WriteError};
use rustix::fs::{AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, Stat};
use std::fs::{DirBuilder, File};
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// An opened folder that belongs to us alone.
#[derive(Debug)]
pub struct Folder {
    directory: OwnedFd,
    path: PathBuf,
}

/// Why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Something in it cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// It is not ours alone, or something in it cannot be read.
    #[error(transparent)]
    Refused(#[from] ReadError),
}

impl Folder {
    /// Opens the folder at `path`; makes it, and those above it, when missing.
    ///
    /// # Errors
    /// When it is a symbolic link, belongs to somebody else or lets others write to it, or cannot be made.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let mut maker = DirBuilder::new();
        maker.mode(0o700);
        if let Some(above) = path.parent() {
            let made = maker.recursive(true).create(above);
            made.map_err(|error| WriteError::io(Step::CreateDirectory, above, error))?;
        }
        match maker.recursive(false).create(path) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(WriteError::io(Step::CreateDirectory, path, error).into()),
        }
        Self::existing(CWD, path, path)
    }

    /// Opens the folder `name`, if it is ours alone.
    fn existing(at: impl AsFd, name: &Path, path: &Path) -> Result<Self, FolderError> {
        let path = path.to_owned();
        if is_link(&at, name) {
            return Err(ReadError::Link { path }.into());
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&at, name, flags, Mode::empty());
        let directory = opened.map_err(|errno| ReadError::of(&path, errno))?;
        let stat = rustix::fs::fstat(&directory).map_err(|errno| ReadError::of(&path, errno))?;
        is_ours_alone(&directory, &path, &stat)?;
        Ok(Self { directory, path })
    }

    /// Makes a new folder inside this one.
    ///
    /// # Errors
    /// When there is something of that name, or it cannot be made.
    pub fn make(&self, name: &str) -> Result<Self, FolderError> {
        let path = self.path.join(name);
        let made = rustix::fs::mkdirat(&self.directory, name, Mode::from_raw_mode(0o700));
        made.map_err(|errno| WriteError::of(Step::CreateDirectory, &path, errno))?;
        Self::existing(&self.directory, Path::new(name), &path)
    }

    /// Shows other processes, for as long as this value lives, that the folder is in use. False if one uses it.
    pub fn hold(&self) -> bool {
        rustix::fs::flock(&self.directory, FlockOperation::NonBlockingLockExclusive).is_ok()
    }

    /// Writes a new file, for the owner alone; gives its path.
    ///
    /// # Errors
    /// When there is something of that name, be it a link, or it cannot be written whole; nothing is left then.
    pub fn write_new(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, WriteError> {
        let path = self.path.join(name);
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.directory, name, flags, Mode::from_raw_mode(0o600));
        let mut file = File::from(opened.map_err(|errno| WriteError::of(Step::Create, &path, errno))?);
        match file.write_all(bytes) {
            Ok(()) => Ok(path),
            Err(error) => {
                self.remove_file(name);
                Err(WriteError::io(Step::Write, &path, error))
            }
        }
    }

    /// Opens a file of the folder for reading.
    ///
    /// # Errors
    /// When it is not there, is a link or something else that is no file.
    pub fn read(&self, name: &str) -> Result<File, ReadError> {
        let path = self.path.join(name);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.directory, name, flags, Mode::empty());
        let file = opened.map_err(|errno| ReadError::of(&path, errno))?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| ReadError::of(&path, errno))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(File::from(file)),
            kind => Err(ReadError::not_regular(&path, kind)),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn remove_file(&self, name: &str) {
        // What is not there, or cannot be removed, is swept away later.
        let _gone = rustix::fs::unlinkat(&self.directory, name, AtFlags::empty());
    }
}

impl FolderError {
    /// Whether the folder, or what was looked for in it, is not there any more.
    pub fn is_missing(&self) -> bool {
        let source = match self {
            Self::Write(WriteError::Io { source, .. }) | Self::Refused(ReadError::Io { source, .. }) => {
                source
            }
            Self::Write(_) | Self::Refused(_) => return false,
        };
        source.kind() == std::io::ErrorKind::NotFound
    }
}

/// Whether `name` is a link, which opening with `DIRECTORY` would only call "not a directory".
fn is_link(at: &impl AsFd, name: &Path) -> bool {
    let looked = rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW);
    looked.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

/// Refuses what others made or may write to; what they may only look at is closed.
fn is_ours_alone(directory: &OwnedFd, path: &Path, stat: &Stat) -> Result<(), FolderError> {
    let (path, marks) = (path.to_owned(), Marks::of(stat));
    match marks.folder_verdict() {
        FolderVerdict::Private => Ok(()),
        FolderVerdict::Close => {
            let closed = rustix::fs::fchmod(directory, Mode::from_raw_mode(0o700));
            Ok(closed.map_err(|errno| WriteError::of(Step::CreateDirectory, &path, errno))?)
        }
        FolderVerdict::WritableByOthers => Err(ReadError::OpenFolder { path, mode: marks.mode }.into()),
        FolderVerdict::Foreign => Err(ReadError::Foreign { path, uid: marks.owner }.into()),
    }
}
