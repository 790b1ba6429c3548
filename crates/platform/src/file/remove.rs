//! Removes a file under the lock of its directory, if its text is still the expected one.

use super::locked_entry::{LOCK_LIMIT, LockedEntry};
use super::{Creation, FileUpdateError, FileWriteError, WriteStep};
use rustix::fs::AtFlags;
use rustix::io::Errno;
use std::convert::Infallible;
use std::path::Path;

/// Removes the file at `path` if `is_expected` accepts its text; returns whether it is gone.
///
/// A symbolic link stays, and its target is removed. A file that does not exist counts as gone.
///
/// # Errors
/// A [`FileUpdateError`]; the file is unchanged then.
pub fn remove_file_if(
    path: &Path,
    limit: u64,
    is_expected: impl FnOnce(&str) -> bool,
) -> Result<bool, FileUpdateError<Infallible>> {
    let place = LockedEntry::lock_path(path, Creation::PRIVATE, LOCK_LIMIT)?;
    let Some((text, _)) = place.read_text(limit)? else { return Ok(true) };
    if !is_expected(&text) {
        return Ok(false);
    }
    match rustix::fs::unlinkat(&place, place.name(), AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(errno) => Err(FileWriteError::from_errno(WriteStep::Remove, &place.path(), errno).into()),
    }
}

/// Removes these folders, each only if it is empty, the innermost first.
pub fn remove_empty_folders<'f>(folders: impl DoubleEndedIterator<Item = &'f Path>) {
    for folder in folders.rev() {
        // A folder that is not empty, and with it its parents, belongs to another program by now.
        if std::fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    //! Files are removed only while they hold the expected text.
    use super::*;

    #[test]
    fn file_with_another_text_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        super::super::store_cache_file(&path, "other").unwrap();
        assert!(!remove_file_if(&path, 100, |text| text == "ours").unwrap());
        assert!(path.exists());
        assert!(remove_file_if(&path, 100, |text| text == "other").unwrap());
        assert!(!path.exists());
        assert!(remove_file_if(&path, 100, |_| false).unwrap(), "a missing file counts as gone");
    }

    #[test]
    fn link_stays_and_its_target_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (link, target) = (folder.path().join("link"), folder.path().join("target"));
        super::super::store_cache_file(&target, "ours").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(remove_file_if(&link, 100, |text| text == "ours").unwrap());
        assert!(link.symlink_metadata().is_ok() && !target.exists());
    }

    #[test]
    fn only_empty_folders_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (outer, inner) = (folder.path().join("outer"), folder.path().join("outer/inner"));
        std::fs::create_dir_all(&inner).unwrap();
        super::super::store_cache_file(&outer.join("kept"), "text").unwrap();
        remove_empty_folders([outer.as_path(), inner.as_path()].into_iter());
        assert!(outer.exists() && !inner.exists());
    }
}
