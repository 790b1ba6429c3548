//! Decides from owner and permission bits which other users could have written or could read a file.
//!
//! Pure on purpose: only root can change the owner of a file, so every rule is a row of a table test that
//! needs no file.

use rustix::fs::Stat;

use super::Ownership;

/// Owner and permission bits of a file or folder, with our own user id.
#[derive(Clone, Copy, Debug)]
pub(super) struct FilePermissions {
    pub(super) owner: u32,
    pub(super) mode: u32,
    us: u32,
}

/// The check result for a folder that must be accessible to us only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FolderVerdict {
    /// Only we can access the folder.
    Private,
    /// Other users may list the folder; that access has to be removed.
    Close,
    /// Other users may write to the folder, and may have done so.
    WritableByOthers,
    /// Another user created the folder, root included.
    Foreign,
}

impl FilePermissions {
    pub(super) fn from_stat(stat: &Stat) -> Self {
        Self { owner: stat.st_uid, mode: stat.st_mode & 0o7777, us: rustix::process::geteuid().as_raw() }
    }

    /// Whether the file belongs to us or to root, which has access to all files anyway.
    pub(super) fn is_trusted_owner(self) -> bool {
        self.owner == self.us || self.owner == 0
    }

    /// Whether only the owner has any access.
    pub(super) fn is_private(self) -> bool {
        self.mode & 0o077 == 0
    }

    /// Whether group or others may write to the file.
    pub(super) fn is_writable_by_others(self) -> bool {
        self.mode & 0o022 != 0
    }

    /// Whether another user could have written the file.
    pub(super) fn ownership(self) -> Ownership {
        if !self.is_trusted_owner() {
            return Ownership::OtherOwner { uid: self.owner };
        }
        match self.mode & 0o002 {
            0 => Ownership::Trusted,
            _ => Ownership::WorldWritable { mode: self.mode },
        }
    }

    /// Checks whether a folder can be used as a private one.
    pub(super) fn folder_verdict(self) -> FolderVerdict {
        if self.owner != self.us {
            return FolderVerdict::Foreign;
        }
        match (self.is_writable_by_others(), self.is_private()) {
            (true, _) => FolderVerdict::WritableByOthers,
            (false, false) => FolderVerdict::Close,
            (false, true) => FolderVerdict::Private,
        }
    }
}

#[cfg(test)]
mod tests;
