//! Writes what can be deleted at any time: whole, for the owner alone, and never synced.
//!
//! Losing such a file costs a moment, so there is no lock: of two writers the later wins.

use super::{Step, WriteError};
use rustix::fs::{CWD, Mode, OFlags};
use std::fs::{DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Told apart from the files themselves, so that what a killed writer left is found again.
const TEMPORARY: &str = ".part";

/// Puts `text` into the file, in place of what was there. Readers see the old text or the new one.
///
/// # Errors
/// A [`WriteError`]; the old text is still there then.
pub fn store(path: &Path, text: &str) -> Result<(), WriteError> {
    if let Some(folder) = path.parent() {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|error| WriteError::io(Step::CreateDirectory, folder, error))?;
    }
    let beside = temporary(path);
    let written = write(&beside, text).and_then(|()| rename(&beside, path));
    if written.is_err() {
        remove(&beside);
    }
    written
}

/// What was stored, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The text.
    pub text: String,
    /// When it was written.
    pub written: SystemTime,
}

/// Reads what [`store`] wrote, `limit` bytes of it at most; nothing, if it cannot be read.
#[must_use]
pub fn recall(path: &Path, limit: u64) -> Option<Stored> {
    let file = super::read::open(CWD, path, path, OFlags::empty()).ok().flatten()?;
    let (text, stat) = super::read::text_of(file, path, limit).ok()?;
    // Less than a second, whatever type it has here.
    let written = Duration::new(u64::try_from(stat.st_mtime).ok()?, stat.st_mtime_nsec as u32);
    Some(Stored { text, written: UNIX_EPOCH.checked_add(written)? })
}

/// Removes what [`store`] wrote. What is not there is as good as removed.
pub fn discard(path: &Path) {
    remove(path);
}

/// Removes the files of `folder` that were written longest ago, until `most` are left. What cannot be removed stays.
pub fn prune(folder: &Path, most: usize) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let written = |path: &Path| path.symlink_metadata().and_then(|meta| meta.modified());
    let mut files: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .map(|path| (written(&path).unwrap_or(SystemTime::UNIX_EPOCH), path))
        .collect();
    files.sort();
    for (_, path) in files.iter().take(files.len().saturating_sub(most)) {
        remove(path);
    }
}

/// A name of its own for every write, of this process and of all others.
fn temporary(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}-{count}{TEMPORARY}", std::process::id()));
    PathBuf::from(name)
}

fn write(path: &Path, text: &str) -> Result<(), WriteError> {
    // What stands here was left by a killed process that had our number; nobody else uses the name.
    remove(path);
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(path, flags, Mode::from_raw_mode(0o600));
    let mut file = File::from(opened.map_err(|errno| WriteError::of(Step::Create, path, errno))?);
    file.write_all(text.as_bytes()).map_err(|error| WriteError::io(Step::Write, path, error))
}

fn rename(from: &Path, to: &Path) -> Result<(), WriteError> {
    rustix::fs::rename(from, to).map_err(|errno| WriteError::of(Step::Replace, to, errno))
}

fn remove(path: &Path) {
    // What is not there, or cannot be removed, is in nobody's way.
    let _gone = rustix::fs::unlink(path);
}

#[cfg(test)]
mod tests {
    //! Whole files, private, and not too many.
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn text_of(path: &Path) -> String {
        crate::file::read(path, 1_000).unwrap().unwrap().text
    }

    #[test]
    fn what_is_stored_is_whole_private_and_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/file.json");
        store(&path, "one").unwrap();
        store(&path, "two").unwrap();
        assert_eq!(text_of(&path), "two");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(path.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    // B100
    #[test]
    fn a_link_in_the_place_of_the_file_is_replaced_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, victim) = (folder.path().join("file"), folder.path().join("victim"));
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        store(&path, "text").unwrap();
        assert!(!victim.exists());
        assert_eq!(text_of(&path), "text");
    }

    #[test]
    fn what_is_recalled_was_written_when_the_file_says() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        assert_eq!(recall(&path, 100), None);
        store(&path, "text").unwrap();
        let written = path.metadata().unwrap().modified().unwrap();
        assert_eq!(recall(&path, 100), Some(Stored { text: "text".to_owned(), written }));
        assert_eq!(recall(&path, 3), None);
    }

    #[test]
    fn the_oldest_go_first_when_there_are_too_many() {
        let folder = tempfile::tempdir().unwrap();
        for (name, age) in [("old", 300), ("older", 400), ("new", 100)] {
            let path = folder.path().join(name);
            store(&path, name).unwrap();
            let then = SystemTime::now() - std::time::Duration::from_secs(age);
            File::options().write(true).open(&path).unwrap().set_modified(then).unwrap();
        }
        prune(folder.path(), 1);
        let left: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(left, ["new"]);
    }
}
