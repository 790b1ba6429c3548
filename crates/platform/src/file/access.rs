//! Checks whether a folder is writable, without writing to it.

use rustix::fs::{Access, AtFlags, CWD};
use std::path::Path;

/// Whether files can be created in `folder`, or the folder itself if it is missing.
pub fn is_writable_folder(folder: &Path) -> bool {
    let nearest = folder.ancestors().find(|folder| folder.symlink_metadata().is_ok());
    let may_write = |folder: &Path| {
        let wanted = Access::WRITE_OK | Access::EXEC_OK;
        rustix::fs::accessat(CWD, folder, wanted, AtFlags::EACCESS).is_ok()
    };
    nearest.is_some_and(|folder| folder.is_dir() && may_write(folder))
}

#[cfg(test)]
mod tests {
    use super::is_writable_folder;

    // F75
    #[test]
    fn folder_that_can_be_created_is_writable_and_a_file_is_not() {
        let folder = tempfile::tempdir().unwrap();
        assert!(is_writable_folder(folder.path()));
        assert!(is_writable_folder(&folder.path().join("a/b")));
        let file = tempfile::NamedTempFile::new_in(folder.path()).unwrap();
        assert!(!is_writable_folder(file.path()));
        assert!(!is_writable_folder(&file.path().join("below")));
    }
}
