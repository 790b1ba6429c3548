//! Decides, from owner and permission bits alone, who else could have written to a file or could read it.
//!
//! Pure on purpose: only root can give a file away, so every rule is a row of a table test that needs no file.

use rustix::fs::Stat;

use super::Ownership;

/// Owner and permission bits of a file or folder, and who we are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    pub(super) owner: u32,
    pub(super) mode: u32,
    us: u32,
}

/// What is to be done with a folder that is to be ours alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FolderVerdict {
    /// It is ours alone.
    Private,
    /// Others may look into it, which is to be forbidden.
    Close,
    /// Others may write to it, and may have.
    WritableByOthers,
    /// Somebody else made it, root included.
    Foreign,
}

impl Marks {
    pub(super) fn of(stat: &Stat) -> Self {
        Self { owner: stat.st_uid, mode: stat.st_mode & 0o7777, us: rustix::process::geteuid().as_raw() }
    }

    /// Whether it belongs to us or to root, who may do everything anyway.
    pub(super) fn is_trusted_owner(self) -> bool {
        self.owner == self.us || self.owner == 0
    }

    /// Whether nobody but its owner may do anything with it.
    pub(super) fn is_private(self) -> bool {
        self.mode & 0o077 == 0
    }

    /// Whether group or others may write to it.
    pub(super) fn is_writable_by_others(self) -> bool {
        self.mode & 0o022 != 0
    }

    /// Who could have written it.
    pub(super) fn ownership(self) -> Ownership {
        if !self.is_trusted_owner() {
            return Ownership::OtherOwner { uid: self.owner };
        }
        match self.mode & 0o002 {
            0 => Ownership::Trusted,
            _ => Ownership::WorldWritable { mode: self.mode },
        }
    }

    /// What is to be done with a folder like this before it is used as ours.
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
