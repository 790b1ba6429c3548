//! Cache files: written atomically, readable by the owner only, never synced, and safe to delete at any time.
//!
//! Losing such a file only costs the time to compute it again, so there is no lock: of two writers the later
//! wins.

use super::{FileWriteError, WriteStep};
use rustix::fs::{CWD, Mode, OFlags};
use std::fs::{DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Suffix of temporary files, so that files left by a killed writer can be recognized.
const TEMPORARY: &str = ".part";

/// Writes `text` to the cache file atomically. Readers see the old text or the new one.
///
/// # Errors
/// A [`FileWriteError`]; the old text is kept then.
pub fn store_cache_file(path: &Path, text: &str) -> Result<(), FileWriteError> {
    if let Some(folder) = path.parent() {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|error| FileWriteError::from_io(WriteStep::CreateDirectory, folder, error))?;
    }
    let beside = temporary_path(path);
    let written = write_new_file(&beside, text).and_then(|()| rename_file(&beside, path));
    if written.is_err() {
        remove_file(&beside);
    }
    written
}

/// The text of a cache file, and its age.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedText {
    /// The text of the file.
    pub text: String,
    /// Modification time of the file.
    pub written: SystemTime,
}

/// Reads a file that [`store_cache_file`] wrote; `None` if it is longer than `limit` bytes or cannot be read.
#[must_use]
pub fn read_cache_file(path: &Path, limit: u64) -> Option<CachedText> {
    let file = super::read::open_for_reading(CWD, path, path, OFlags::empty()).ok().flatten()?;
    let (text, stat) = super::read::read_text_from(file, path, limit).ok()?;
    // Less than a second, so it fits whichever type the field has on this architecture.
    let written = Duration::new(u64::try_from(stat.st_mtime).ok()?, stat.st_mtime_nsec as u32);
    Some(CachedText { text, written: UNIX_EPOCH.checked_add(written)? })
}

/// Removes a file that [`store_cache_file`] wrote. A file that does not exist is no error.
pub fn remove_cache_file(path: &Path) {
    remove_file(path);
}

/// Removes the oldest files of `folder` until `most` are left. A file that cannot be removed stays.
pub fn prune_cache_folder(folder: &Path, most: usize) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let written = |path: &Path| path.symlink_metadata().and_then(|meta| meta.modified());
    let mut files: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .map(|path| (written(&path).unwrap_or(SystemTime::UNIX_EPOCH), path))
        .collect();
    files.sort();
    for (_, path) in files.iter().take(files.len().saturating_sub(most)) {
        remove_file(path);
    }
}

/// Returns a temporary name that is unique to this write, across all processes.
fn temporary_path(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}-{count}{TEMPORARY}", std::process::id()));
    PathBuf::from(name)
}

fn write_new_file(path: &Path, text: &str) -> Result<(), FileWriteError> {
    // A file of this name was left by a killed process with our process id; no other process uses the name.
    remove_file(path);
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(path, flags, Mode::from_raw_mode(0o600));
    let mut file =
        File::from(opened.map_err(|errno| FileWriteError::from_errno(WriteStep::Create, path, errno))?);
    file.write_all(text.as_bytes()).map_err(|error| FileWriteError::from_io(WriteStep::Write, path, error))
}

fn rename_file(from: &Path, to: &Path) -> Result<(), FileWriteError> {
    rustix::fs::rename(from, to).map_err(|errno| FileWriteError::from_errno(WriteStep::Replace, to, errno))
}

fn remove_file(path: &Path) {
    // A file that does not exist, or cannot be removed, does no harm.
    let _gone = rustix::fs::unlink(path);
}

#[cfg(test)]
mod tests {
    //! Cache files are written whole, private, and pruned.
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn text_of(path: &Path) -> String {
        crate::file::read_text(path, 1_000).unwrap().unwrap().text
    }

    #[test]
    fn cache_file_is_written_whole_and_private_without_temporary_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/file.json");
        store_cache_file(&path, "one").unwrap();
        store_cache_file(&path, "two").unwrap();
        assert_eq!(text_of(&path), "two");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(path.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    // B100
    #[test]
    fn symlink_at_the_cache_path_is_replaced_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, victim) = (folder.path().join("file"), folder.path().join("victim"));
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        store_cache_file(&path, "text").unwrap();
        assert!(!victim.exists());
        assert_eq!(text_of(&path), "text");
    }

    #[test]
    fn cached_text_is_read_with_its_modification_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        assert_eq!(read_cache_file(&path, 100), None);
        store_cache_file(&path, "text").unwrap();
        let written = path.metadata().unwrap().modified().unwrap();
        assert_eq!(read_cache_file(&path, 100), Some(CachedText { text: "text".to_owned(), written }));
        assert_eq!(read_cache_file(&path, 3), None);
    }

    #[test]
    fn prune_removes_the_oldest_files_first() {
        let folder = tempfile::tempdir().unwrap();
        for (name, age) in [("old", 300), ("older", 400), ("new", 100)] {
            let path = folder.path().join(name);
            store_cache_file(&path, name).unwrap();
            let then = SystemTime::now() - std::time::Duration::from_secs(age);
            File::options().write(true).open(&path).unwrap().set_modified(then).unwrap();
        }
        prune_cache_folder(folder.path(), 1);
        let left: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(left, ["new"]);
    }
}
