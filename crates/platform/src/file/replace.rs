//! Puts new content in the place of a file, so that every reader sees the old one or the new one whole.

use super::place::Place;
use super::{Creation, Step, WriteError};
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What the new file has to inherit from the one it replaces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Previous {
    mode: u32,
    uid: u32,
    gid: u32,
}

impl Previous {
    /// What `stat` says about the old file.
    pub(super) fn of(stat: Stat) -> Self {
        Self { mode: stat.st_mode & 0o7777, uid: stat.st_uid, gid: stat.st_gid }
    }
}

/// Writes `bytes` beside the place, syncs it, and renames it into the place.
pub(super) fn replace(
    place: &Place,
    bytes: &[u8],
    previous: Option<Previous>,
    creation: Creation,
) -> Result<(), WriteError> {
    // What replaces a file stays closed to others until it has the old file's owner.
    let mode = previous.map_or(creation.file_mode, |_| 0o600);
    let temporary = Temporary::create(place, Mode::from_raw_mode(mode))?;
    temporary.fill(bytes, previous)?;
    temporary.rename()?;
    sync_directory(place)
}

/// A file beside the target that is removed again unless it takes the target's place.
#[derive(Debug)]
struct Temporary<'place> {
    place: &'place Place,
    name: PathBuf,
    file: File,
}

impl<'place> Temporary<'place> {
    fn create(place: &'place Place, mode: Mode) -> Result<Self, WriteError> {
        let name = temporary_name(place.name());
        let failed = |errno| WriteError::of(Step::Create, &place.parent().join(&name), errno);
        // The name is fixed and we hold the lock, so what stands here was left by a killed writer.
        match rustix::fs::unlinkat(place, &name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(failed(errno)),
        }
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(place, &name, flags, mode).map_err(failed)?;
        let file = File::from(file);
        Ok(Self { place, name, file })
    }

    fn fill(&self, bytes: &[u8], previous: Option<Previous>) -> Result<(), WriteError> {
        let failed = |source| WriteError::io(Step::Write, &self.place.path(), source);
        (&self.file).write_all(bytes).map_err(failed)?;
        if let Some(previous) = previous {
            inherit(&self.file, previous).map_err(|errno| failed(errno.into()))?;
        }
        self.file.sync_all().map_err(failed)
    }

    fn rename(self) -> Result<(), WriteError> {
        let target = self.place.name();
        rustix::fs::renameat(self.place, &self.name, self.place, target)
            .map_err(|errno| WriteError::of(Step::Replace, &self.place.path(), errno))
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        // After the rename there is nothing under this name, and we still hold the lock. If removing
        // fails the next update removes it.
        rustix::fs::unlinkat(self.place, &self.name, AtFlags::empty()).unwrap_or_default();
    }
}

fn temporary_name(target: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(target);
    name.push(".mcparley-tmp");
    PathBuf::from(name)
}

fn inherit(file: &File, previous: Previous) -> Result<(), Errno> {
    let fresh = rustix::fs::fstat(file)?;
    let uid = (fresh.st_uid != previous.uid).then(|| Uid::from_raw(previous.uid));
    let gid = (fresh.st_gid != previous.gid).then(|| Gid::from_raw(previous.gid));
    let mut mode = previous.mode;
    // Only root may give a file away, but a member may pass it to its group.
    let kept = rustix::fs::fchown(file, uid, gid).or_else(|_| rustix::fs::fchown(file, None, gid));
    if kept.is_err() {
        // The group bits were meant for another group: ours gets what everybody has.
        mode = (mode & !0o070) | ((mode & 0o007) << 3);
    }
    // Last, because changing the owner clears the special bits.
    rustix::fs::fchmod(file, Mode::from_raw_mode(mode))
}

fn sync_directory(place: &Place) -> Result<(), WriteError> {
    match rustix::fs::fsync(place) {
        // Some network and user-space file systems cannot sync a directory and need not.
        Ok(()) | Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        Err(errno) => Err(WriteError::of(Step::SyncDirectory, place.parent(), errno)),
    }
}
