//! Tells whether a folder can be written to, without writing.

use rustix::fs::{Access, AtFlags, CWD};
use std::path::Path;

/// Whether files can be made in `folder`, or the folder itself, should it be missing.
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
    fn a_folder_that_can_be_made_counts_and_a_file_in_its_place_does_not() {
        let folder = tempfile::tempdir().unwrap();
        assert!(is_writable_folder(folder.path()));
        assert!(is_writable_folder(&folder.path().join("a/b")));
        let file = tempfile::NamedTempFile::new_in(folder.path()).unwrap();
        assert!(!is_writable_folder(file.path()));
        assert!(!is_writable_folder(&file.path().join("below")));
    }
}
