//! Why a file cannot be read, with what a person can do about it.

use rustix::fs::FileType;
use rustix::io::Errno;
use std::io;
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

/// Why a file or directory cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The user may not read it.
    #[error("no permission to read `{}`", path.display())]
    Denied {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// It is a directory, a FIFO, a device or a socket.
    #[error("`{}` is {kind}, not a file", path.display())]
    NotRegular {
        /// The path.
        path: PathBuf,
        /// What it is, with its article.
        kind: &'static str,
    },
    /// It has more bytes than the caller allows.
    #[error("`{}` is larger than {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit.
        limit: u64,
    },
    /// It is not text.
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
    /// It holds a secret and belongs to somebody else.
    #[error("`{}` belongs to user {uid}, neither you nor root", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The owner.
        uid: u32,
    },
    /// It holds a secret and others may open it.
    #[error("`{}` is open to other users (mode {mode:o})", path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A folder of secrets in which others may put files.
    #[error("other users may write to the folder `{}` (mode {mode:o})", path.display())]
    OpenFolder {
        /// The folder.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// It holds a secret and is a symbolic link.
    #[error("`{}` is a symbolic link", path.display())]
    Link {
        /// The path.
        path: PathBuf,
    },
    /// Anything else the system says.
    #[error("cannot read `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

impl ReadError {
    /// What a person can do about it.
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

    pub(in crate::file) fn of(path: &Path, errno: Errno) -> Self {
        // Opening a socket as a file answers with "no such device".
        if errno == Errno::NXIO {
            return Self::not_regular(path, FileType::Socket);
        }
        Self::io(path, errno.into())
    }

    pub(in crate::file) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        if source.kind() == io::ErrorKind::PermissionDenied {
            return Self::Denied { path, source };
        }
        Self::Io { path, source }
    }

    pub(in crate::file) fn not_regular(path: &Path, kind: FileType) -> Self {
        let path = path.to_owned();
        let kind = name_of(kind);
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

fn name_of(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "a directory",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::RegularFile | FileType::Symlink | FileType::Unknown => "something else",
    }
}
