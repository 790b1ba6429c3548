//! Atomic write: replaces a file by temporary file, sync and rename, so that readers see the old content or
//! the new one.

use super::locked_entry::LockedEntry;
use super::{Creation, FileWriteError, WriteStep};
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Owner and mode that the new file inherits from the one it replaces.
#[derive(Clone, Copy, Debug)]
pub(super) struct PreviousAttributes {
    mode: u32,
    uid: u32,
    gid: u32,
}

impl PreviousAttributes {
    /// Takes the attributes from the `stat` of the old file.
    pub(super) fn from_stat(stat: Stat) -> Self {
        Self { mode: stat.st_mode & 0o7777, uid: stat.st_uid, gid: stat.st_gid }
    }
}

/// Writes `bytes` to a temporary file, syncs it, and renames it over the target.
pub(super) fn replace_file(
    place: &LockedEntry,
    bytes: &[u8],
    previous: Option<PreviousAttributes>,
    creation: Creation,
) -> Result<(), FileWriteError> {
    // A replacement stays closed to others until it has the old file's owner.
    let mode = previous.map_or(creation.file_mode, |_| 0o600);
    let temporary = TemporaryFile::create(place, Mode::from_raw_mode(mode))?;
    temporary.write_and_sync(bytes, previous)?;
    temporary.rename_into_place()?;
    sync_directory(place)
}

/// A temporary file beside the target, removed on drop unless it was renamed.
#[derive(Debug)]
struct TemporaryFile<'place> {
    place: &'place LockedEntry,
    name: PathBuf,
    file: File,
}

impl<'place> TemporaryFile<'place> {
    fn create(place: &'place LockedEntry, mode: Mode) -> Result<Self, FileWriteError> {
        let name = temporary_name(place.name());
        let failed =
            |errno| FileWriteError::from_errno(WriteStep::Create, &place.parent().join(&name), errno);
        // The name is fixed and we hold the lock, so a file of this name was left by a killed writer.
        match rustix::fs::unlinkat(place, &name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(failed(errno)),
        }
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(place, &name, flags, mode).map_err(failed)?;
        let file = File::from(file);
        Ok(Self { place, name, file })
    }

    fn write_and_sync(
        &self,
        bytes: &[u8],
        previous: Option<PreviousAttributes>,
    ) -> Result<(), FileWriteError> {
        let failed = |source| FileWriteError::from_io(WriteStep::Write, &self.place.path(), source);
        (&self.file).write_all(bytes).map_err(failed)?;
        if let Some(previous) = previous {
            copy_owner_and_mode(&self.file, previous).map_err(|errno| failed(errno.into()))?;
        }
        self.file.sync_all().map_err(failed)
    }

    fn rename_into_place(self) -> Result<(), FileWriteError> {
        let target = self.place.name();
        rustix::fs::renameat(self.place, &self.name, self.place, target)
            .map_err(|errno| FileWriteError::from_errno(WriteStep::Replace, &self.place.path(), errno))
    }
}

impl Drop for TemporaryFile<'_> {
    fn drop(&mut self) {
        // After the rename there is no file of this name, and we still hold the lock. If removing
        // fails, the next update removes it.
        rustix::fs::unlinkat(self.place, &self.name, AtFlags::empty()).unwrap_or_default();
    }
}

fn temporary_name(target: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(target);
    name.push(".mcparley-tmp");
    PathBuf::from(name)
}

fn copy_owner_and_mode(file: &File, previous: PreviousAttributes) -> Result<(), Errno> {
    let fresh = rustix::fs::fstat(file)?;
    let uid = (fresh.st_uid != previous.uid).then(|| Uid::from_raw(previous.uid));
    let gid = (fresh.st_gid != previous.gid).then(|| Gid::from_raw(previous.gid));
    let mut mode = previous.mode;
    // Only root may change the owner, but a member may change the group.
    let kept = rustix::fs::fchown(file, uid, gid).or_else(|_| rustix::fs::fchown(file, None, gid));
    if kept.is_err() {
        // The group bits were meant for another group: ours gets the bits of all other users.
        mode = (mode & !0o070) | ((mode & 0o007) << 3);
    }
    // Last, because changing the owner clears the special bits.
    rustix::fs::fchmod(file, Mode::from_raw_mode(mode))
}

fn sync_directory(place: &LockedEntry) -> Result<(), FileWriteError> {
    match rustix::fs::fsync(place) {
        // Some network and user-space file systems cannot sync a directory and need not.
        Ok(()) | Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        Err(errno) => Err(FileWriteError::from_errno(WriteStep::SyncDirectory, place.parent(), errno)),
    }
}
