//! A file with a secret is read only if no other user can have read or written it.

use mcparley_platform::file::{FileReadError, SymlinkPolicy, read_private};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

fn secret(folder: &Path, mode: u32) -> PathBuf {
    let path = folder.join(format!("{mode:o}"));
    fs::write(&path, "secret").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    path
}

// H32 B98
#[test]
fn private_file_is_read_and_one_that_others_may_open_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for mode in [0o600, 0o400, 0o700] {
        let read = read_private(&secret(folder.path(), mode), 64, SymlinkPolicy::Refuse).unwrap().unwrap();
        assert_eq!(read.text, "secret", "{mode:o}");
        assert!(!format!("{read:?}").contains("secret"));
        assert!(read.modified.elapsed().unwrap().as_secs() < 600);
    }
    for mode in [0o644, 0o640, 0o604, 0o660, 0o620, 0o601] {
        let path = secret(folder.path(), mode);
        let error = read_private(&path, 64, SymlinkPolicy::Refuse).unwrap_err();
        assert!(matches!(error, FileReadError::Exposed { mode: found, .. } if found == mode), "{error:?}");
        assert_eq!(error.hint().unwrap(), format!("`chmod 600 {}`", path.display()));
    }
    assert_eq!(read_private(&folder.path().join("none"), 64, SymlinkPolicy::Refuse).unwrap(), None);
}

// H32 B98
#[test]
fn links_and_large_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = secret(folder.path(), 0o600);
    let link = folder.path().join("link");
    symlink(&path, &link).unwrap();
    let error = read_private(&link, 64, SymlinkPolicy::Refuse).unwrap_err();
    assert!(matches!(&error, FileReadError::Link { path } if *path == link), "{error:?}");
    assert_eq!(read_private(&link, 64, SymlinkPolicy::Follow).unwrap().unwrap().text, "secret");
    let error = read_private(&path, 5, SymlinkPolicy::Refuse).unwrap_err();
    assert!(matches!(error, FileReadError::TooLarge { limit: 5, .. }), "{error:?}");
    let error = read_private(folder.path(), 64, SymlinkPolicy::Refuse).unwrap_err();
    assert!(matches!(error, FileReadError::NotRegular { .. }), "{error:?}");
}

// H32 B98
#[test]
fn file_of_another_user_is_refused() {
    // Only root can change the owner of a file; elsewhere the unit tests of ownership show the rule.
    let folder = tempfile::tempdir().unwrap();
    let path = secret(folder.path(), 0o600);
    if std::os::unix::fs::chown(&path, Some(12_345), None).is_err() {
        return;
    }
    let error = read_private(&path, 64, SymlinkPolicy::Refuse).unwrap_err();
    assert!(matches!(error, FileReadError::Foreign { uid: 12_345, .. }), "{error:?}");
}
