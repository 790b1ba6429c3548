//! A private folder: no other user can read its files or place files in it.
//!
//! The folder is opened and checked once. After that its files are reached through the descriptor and never
//! by path, so an attacker who puts a link or another folder in its place gains nothing. Files may be lost in
//! a crash: none is synced.

mod sweep;

pub use sweep::{SweepLimits, sweep_leftover_folders};

use super::permissions::{FilePermissions, FolderVerdict};
use super::{FileReadError, FileWriteError, WriteStep};
use rustix::fs::{AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, Stat};
use std::fs::{DirBuilder, File};
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// An opened folder that only we can read and write.
#[derive(Debug)]
pub struct PrivateFolder {
    directory: OwnedFd,
    path: PathBuf,
}

/// Error of opening a private folder or using its files.
#[derive(Debug, thiserror::Error)]
pub enum PrivateFolderError {
    /// A file in the folder cannot be written.
    #[error(transparent)]
    Write(#[from] FileWriteError),
    /// The folder is accessible to other users, or a file in it cannot be read.
    #[error(transparent)]
    Refused(#[from] FileReadError),
}

impl PrivateFolder {
    /// Opens the folder at `path`, creating it and its parents when missing.
    ///
    /// # Errors
    /// When it is a symbolic link, belongs to another user, is writable by others, or cannot be created.
    pub fn open(path: &Path) -> Result<Self, PrivateFolderError> {
        let mut maker = DirBuilder::new();
        maker.mode(0o700);
        if let Some(above) = path.parent() {
            let made = maker.recursive(true).create(above);
            made.map_err(|error| FileWriteError::from_io(WriteStep::CreateDirectory, above, error))?;
        }
        match maker.recursive(false).create(path) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(FileWriteError::from_io(WriteStep::CreateDirectory, path, error).into()),
        }
        Self::open_existing(CWD, path, path)
    }

    /// Opens the existing folder `name` after checking its owner and mode.
    fn open_existing(at: impl AsFd, name: &Path, path: &Path) -> Result<Self, PrivateFolderError> {
        let path = path.to_owned();
        if is_link(&at, name) {
            return Err(FileReadError::Link { path }.into());
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&at, name, flags, Mode::empty());
        let directory = opened.map_err(|errno| FileReadError::from_errno(&path, errno))?;
        let stat = rustix::fs::fstat(&directory).map_err(|errno| FileReadError::from_errno(&path, errno))?;
        restrict_to_owner(&directory, &path, &stat)?;
        Ok(Self { directory, path })
    }

    /// Creates a new folder inside this one.
    ///
    /// # Errors
    /// When an entry of that name exists, or the folder cannot be created.
    pub fn create_subfolder(&self, name: &str) -> Result<Self, PrivateFolderError> {
        let path = self.path.join(name);
        let made = rustix::fs::mkdirat(&self.directory, name, Mode::from_raw_mode(0o700));
        made.map_err(|errno| FileWriteError::from_errno(WriteStep::CreateDirectory, &path, errno))?;
        Self::open_existing(&self.directory, Path::new(name), &path)
    }

    /// Takes an advisory lock that marks the folder as in use while this value lives. False if another
    /// process has it.
    pub fn try_lock(&self) -> bool {
        rustix::fs::flock(&self.directory, FlockOperation::NonBlockingLockExclusive).is_ok()
    }

    /// Writes a new file that only the owner can read; returns its path.
    ///
    /// # Errors
    /// When an entry of that name exists, even a link, or the file cannot be written whole; no partial file
    /// is left then.
    pub fn write_new(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, FileWriteError> {
        let path = self.path.join(name);
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.directory, name, flags, Mode::from_raw_mode(0o600));
        let mut file =
            File::from(opened.map_err(|errno| FileWriteError::from_errno(WriteStep::Create, &path, errno))?);
        match file.write_all(bytes) {
            Ok(()) => Ok(path),
            Err(error) => {
                self.remove_file(name);
                Err(FileWriteError::from_io(WriteStep::Write, &path, error))
            }
        }
    }

    /// Opens a file of the folder for reading.
    ///
    /// # Errors
    /// When the file does not exist, is a link or is not a regular file.
    pub fn open_file(&self, name: &str) -> Result<File, FileReadError> {
        let path = self.path.join(name);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.directory, name, flags, Mode::empty());
        let file = opened.map_err(|errno| FileReadError::from_errno(&path, errno))?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| FileReadError::from_errno(&path, errno))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(File::from(file)),
            kind => Err(FileReadError::not_regular(&path, kind)),
        }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn remove_file(&self, name: &str) {
        // A file that cannot be removed is swept later.
        let _gone = rustix::fs::unlinkat(&self.directory, name, AtFlags::empty());
    }
}

impl PrivateFolderError {
    /// Whether the folder, or the file that was opened in it, no longer exists.
    pub fn is_missing(&self) -> bool {
        let source = match self {
            Self::Write(FileWriteError::Io { source, .. })
            | Self::Refused(FileReadError::Io { source, .. }) => source,
            Self::Write(_) | Self::Refused(_) => return false,
        };
        source.kind() == std::io::ErrorKind::NotFound
    }
}

/// Whether `name` is a symbolic link, which opening with `DIRECTORY` would only report as "not a directory".
fn is_link(at: &impl AsFd, name: &Path) -> bool {
    let looked = rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW);
    looked.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

/// Rejects a folder that others own or may write to; removes read access for others.
fn restrict_to_owner(directory: &OwnedFd, path: &Path, stat: &Stat) -> Result<(), PrivateFolderError> {
    let (path, marks) = (path.to_owned(), FilePermissions::from_stat(stat));
    match marks.folder_verdict() {
        FolderVerdict::Private => Ok(()),
        FolderVerdict::Close => {
            let closed = rustix::fs::fchmod(directory, Mode::from_raw_mode(0o700));
            Ok(closed
                .map_err(|errno| FileWriteError::from_errno(WriteStep::CreateDirectory, &path, errno))?)
        }
        FolderVerdict::WritableByOthers => Err(FileReadError::OpenFolder { path, mode: marks.mode }.into()),
        FolderVerdict::Foreign => Err(FileReadError::Foreign { path, uid: marks.owner }.into()),
    }
}
