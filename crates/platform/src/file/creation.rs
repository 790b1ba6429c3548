//! Permission modes of files and directories that we create.

/// The modes of files and directories that an update has to create.
///
/// The process's umask can only remove bits. A file that exists already keeps its own mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Creation {
    /// Mode of a new file.
    pub file_mode: u32,
    /// Mode of a new directory above it.
    pub dir_mode: u32,
}

impl Creation {
    /// For the owner only: all files below the home directory, because they may hold tokens.
    pub const PRIVATE: Self = Self { file_mode: 0o600, dir_mode: 0o700 };

    /// Readable by all users: files that belong to a project and go into version control.
    pub const SHARED: Self = Self { file_mode: 0o644, dir_mode: 0o755 };
}
