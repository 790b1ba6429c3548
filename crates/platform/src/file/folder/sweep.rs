//! Removes what ended processes left behind: the folders of a folder, the oldest first.
//!
//! A folder that a living process [holds](Folder::hold) is never touched, however old or large it is.

use super::Folder;
use rustix::fs::{AtFlags, Dir, FileType};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// What may stay.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// Whatever was changed longer ago goes.
    pub age: Duration,
    /// What all of it may take up.
    pub bytes: u64,
    /// How many folders are looked at; the others wait for the next time.
    pub folders: usize,
}

/// Removes folders of `path` until what is left is allowed. What cannot be read or removed stays.
pub fn sweep(path: &Path, allowed: Allowance) {
    // Looking must not make it.
    if path.symlink_metadata().is_err() {
        return;
    }
    let Ok(folder) = Folder::open(path) else { return };
    let mut left: Vec<Left> = folder.left(allowed.folders);
    left.sort_by_key(|left| left.changed);
    let mut total: u64 = left.iter().map(|left| left.bytes).sum();
    for left in left {
        let is_old = left.changed.elapsed().is_ok_and(|since| since > allowed.age);
        // An empty one may be about to be held.
        let is_too_much = total > allowed.bytes && left.bytes > 0;
        if (is_old || is_too_much) && folder.remove(&left.name) {
            total = total.saturating_sub(left.bytes);
        }
    }
}

/// A folder that somebody left.
struct Left {
    name: String,
    changed: SystemTime,
    bytes: u64,
}

impl Folder {
    fn left(&self, most: usize) -> Vec<Left> {
        let names = self.names(most);
        names.into_iter().filter_map(|name| self.look_at(name)).collect()
    }

    /// What is in the folder `name`; nothing if it is none, or not ours.
    fn look_at(&self, name: String) -> Option<Left> {
        let inner = Self::existing(&self.directory, Path::new(&name), &self.path.join(&name)).ok()?;
        let changed = rustix::fs::fstat(&inner.directory).ok()?.st_mtime;
        let sizes = inner.names(usize::MAX).into_iter().filter_map(|file| {
            let stat = rustix::fs::statat(&inner.directory, &file, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            u64::try_from(stat.st_size).ok()
        });
        let bytes = sizes.sum();
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(changed).unwrap_or(0));
        Some(Left { name, changed, bytes })
    }

    /// Removes the folder `name` with its files, unless somebody holds it.
    fn remove(&self, name: &str) -> bool {
        let Ok(inner) = Self::existing(&self.directory, Path::new(name), &self.path.join(name)) else {
            return false;
        };
        if !inner.hold() {
            return false;
        }
        inner.names(usize::MAX).iter().for_each(|file| inner.remove_file(file));
        rustix::fs::unlinkat(&self.directory, name, AtFlags::REMOVEDIR).is_ok()
    }

    /// Names of what is in it, at most so many.
    fn names(&self, most: usize) -> Vec<String> {
        let Ok(entries) = Dir::read_from(&self.directory) else { return Vec::new() };
        let names = entries.filter_map(Result::ok).filter(|entry| entry.file_type() != FileType::Symlink);
        let names = names.filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
        names.filter(|name| name != "." && name != "..").take(most).collect()
    }
}
