//! Garbage collection: removes folders that ended processes left behind, the oldest first.
//!
//! A folder that a living process [has locked](PrivateFolder::try_lock) is never touched, however old or
//! large it is.

use super::PrivateFolder;
use rustix::fs::{AtFlags, Dir, FileType};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Age, size and count limits of a sweep.
#[derive(Clone, Copy, Debug)]
pub struct SweepLimits {
    /// Folders that were modified longer ago are removed.
    pub age: Duration,
    /// Total size that the remaining folders may have.
    pub bytes: u64,
    /// Number of folders inspected per sweep; the others wait for the next one.
    pub folders: usize,
}

/// Removes subfolders of `path` until the rest is within the limits. A folder that cannot be read or removed
/// stays.
pub fn sweep_leftover_folders(path: &Path, allowed: SweepLimits) {
    // A sweep must not create the folder.
    if path.symlink_metadata().is_err() {
        return;
    }
    let Ok(folder) = PrivateFolder::open(path) else { return };
    let mut left: Vec<LeftoverFolder> = folder.leftover_folders(allowed.folders);
    left.sort_by_key(|left| left.changed);
    let mut total: u64 = left.iter().map(|left| left.bytes).sum();
    for left in left {
        let is_old = left.changed.elapsed().is_ok_and(|since| since > allowed.age);
        // An empty folder may be about to be locked by its new owner.
        let is_too_much = total > allowed.bytes && left.bytes > 0;
        if (is_old || is_too_much) && folder.remove_subfolder(&left.name) {
            total = total.saturating_sub(left.bytes);
        }
    }
}

/// A subfolder that an ended process left behind.
struct LeftoverFolder {
    name: String,
    changed: SystemTime,
    bytes: u64,
}

impl PrivateFolder {
    fn leftover_folders(&self, most: usize) -> Vec<LeftoverFolder> {
        let names = self.entry_names(most);
        names.into_iter().filter_map(|name| self.inspect_subfolder(name)).collect()
    }

    /// Age and size of the subfolder `name`; `None` if it is not a folder of ours.
    fn inspect_subfolder(&self, name: String) -> Option<LeftoverFolder> {
        let inner = Self::open_existing(&self.directory, Path::new(&name), &self.path.join(&name)).ok()?;
        let changed = rustix::fs::fstat(&inner.directory).ok()?.st_mtime;
        let sizes = inner.entry_names(usize::MAX).into_iter().filter_map(|file| {
            let stat = rustix::fs::statat(&inner.directory, &file, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            u64::try_from(stat.st_size).ok()
        });
        let bytes = sizes.sum();
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(changed).unwrap_or(0));
        Some(LeftoverFolder { name, changed, bytes })
    }

    /// Removes the subfolder `name` with its files, unless a process has locked it.
    fn remove_subfolder(&self, name: &str) -> bool {
        let Ok(inner) = Self::open_existing(&self.directory, Path::new(name), &self.path.join(name)) else {
            return false;
        };
        if !inner.try_lock() {
            return false;
        }
        inner.entry_names(usize::MAX).iter().for_each(|file| inner.remove_file(file));
        rustix::fs::unlinkat(&self.directory, name, AtFlags::REMOVEDIR).is_ok()
    }

    /// Names of the entries in the folder, limited to `most`.
    fn entry_names(&self, most: usize) -> Vec<String> {
        let Ok(entries) = Dir::read_from(&self.directory) else { return Vec::new() };
        let names = entries.filter_map(Result::ok).filter(|entry| entry.file_type() != FileType::Symlink);
        let names = names.filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
        names.filter(|name| name != "." && name != "..").take(most).collect()
    }
}
