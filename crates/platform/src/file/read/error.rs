//! Error of reading a file, with a hint for the user.

use rustix::fs::FileType;
use rustix::io::Errno;
use std::io;
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

/// Error of reading a file or directory.
#[derive(Debug, thiserror::Error)]
pub enum FileReadError {
    /// The user has no permission to read the file.
    #[error("no permission to read `{}`", path.display())]
    Denied {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The path is a directory, a FIFO, a device or a socket.
    #[error("`{}` is {kind}, not a file", path.display())]
    NotRegular {
        /// The path.
        path: PathBuf,
        /// The kind of file, with its article.
        kind: &'static str,
    },
    /// The file has more bytes than the caller allows.
    #[error("`{}` is larger than {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit.
        limit: u64,
    },
    /// The file is not UTF-8.
    #[error("`{}` is not UTF-8 at line {line}, column {column}", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// Line of the first bad byte, from 1.
        line: usize,
        /// Column of the first bad byte in characters, from 1.
        column: usize,
    },
    /// A directory has more entries than the caller allows.
    #[error("`{}` has more than {limit} entries", path.display())]
    TooMany {
        /// The directory.
        path: PathBuf,
        /// The limit.
        limit: usize,
    },
    /// The file holds a secret and belongs to another user.
    #[error("`{}` belongs to user {uid}, neither you nor root", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The owner.
        uid: u32,
    },
    /// The file holds a secret and other users may open it.
    #[error("`{}` is open to other users (mode {mode:o})", path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A folder of secrets is writable by other users.
    #[error("other users may write to the folder `{}` (mode {mode:o})", path.display())]
    OpenFolder {
        /// The folder.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The file holds a secret and is a symbolic link.
    #[error("`{}` is a symbolic link", path.display())]
    Link {
        /// The path.
        path: PathBuf,
    },
    /// Any other error of the system.
    #[error("cannot read `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl FileReadError {
    /// The next step for the user, if there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Denied { path, .. } => Some(format!("check who owns it: `ls -ld {}`", path.display())),
            Self::NotRegular { path, .. } => Some(format!("put a regular file at `{}`", path.display())),
            Self::NotUtf8 { .. } => Some("save the file with UTF-8 encoding".to_owned()),
            Self::Exposed { path, .. } => Some(format!("`chmod 600 {}`", path.display())),
            Self::OpenFolder { path, .. } => Some(format!("`chmod 700 {}`", path.display())),
            Self::TooLarge { .. }
            | Self::TooMany { .. }
            | Self::Foreign { .. }
            | Self::Link { .. }
            | Self::Io { .. } => None,
        }
    }

    /// The file or directory the error is about.
    pub fn path(&self) -> &Path {
        match self {
            Self::Denied { path, .. }
            | Self::NotRegular { path, .. }
            | Self::TooLarge { path, .. }
            | Self::NotUtf8 { path, .. }
            | Self::TooMany { path, .. }
            | Self::Foreign { path, .. }
            | Self::Exposed { path, .. }
            | Self::OpenFolder { path, .. }
            | Self::Link { path }
            | Self::Io { path, .. } => path,
        }
    }

    pub(in crate::file) fn from_errno(path: &Path, errno: Errno) -> Self {
        // Opening a socket as a file fails with "no such device".
        if errno == Errno::NXIO {
            return Self::not_regular(path, FileType::Socket);
        }
        Self::from_io(path, errno.into())
    }

    pub(in crate::file) fn from_io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        if source.kind() == io::ErrorKind::PermissionDenied {
            return Self::Denied { path, source };
        }
        Self::Io { path, source }
    }

    pub(in crate::file) fn not_regular(path: &Path, kind: FileType) -> Self {
        let path = path.to_owned();
        let kind = describe_kind(kind);
        Self::NotRegular { path, kind }
    }

    pub(super) fn not_utf8(path: &Path, error: &FromUtf8Error) -> Self {
        let good = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes().get(..good).unwrap_or_default());
        let line = text.matches('\n').count() + 1;
        let column = text.chars().rev().take_while(|&c| c != '\n').count() + 1;
        let path = path.to_owned();
        Self::NotUtf8 { path, line, column }
    }
}

fn describe_kind(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "a directory",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::RegularFile | FileType::Symlink | FileType::Unknown => "something else",
    }
}
