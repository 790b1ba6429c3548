//! A file with secrets is updated for its owner only, never through a symlink, and a damaged one is kept as a
//! backup.

use crate::kept::names;
use mcparley_platform::file::{
    FileReadError, FileUpdateError, PrivateChange, check_private_folder, update_private,
};
use std::convert::Infallible;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

const LIMIT: u64 = 64;

fn put(path: &Path, bytes: &[u8]) -> Result<Option<PathBuf>, FileUpdateError<Infallible>> {
    update_private(path, LIMIT, |_| Ok(PrivateChange::Replace(bytes.to_owned())))
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

// H29 H32
#[test]
fn private_update_writes_for_the_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/secret");
    put(&path, b"\xff one").unwrap();
    put(&path, b"\xff two").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"\xff two");
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert_eq!(names(path.parent().unwrap()), ["secret"]);
}

// H32 B98 B100
#[test]
fn links_and_files_open_to_others_are_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("secret"), folder.path().join("link"));
    put(&path, b"old").unwrap();
    symlink(&path, &link).unwrap();
    let error = put(&link, b"new").unwrap_err();
    assert!(matches!(&error, FileUpdateError::Read(FileReadError::Link { .. })), "{error:?}");
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    let error = put(&path, b"new").unwrap_err();
    assert!(matches!(&error, FileUpdateError::Read(FileReadError::Exposed { .. })), "{error:?}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
}

#[test]
fn backup_keeps_bytes_and_mode_of_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret");
    let replace = |content: &[u8]| {
        let change = PrivateChange::SetAside { ending: ".damaged".to_owned(), content: content.to_owned() };
        update_private(&path, LIMIT, |_| Ok::<_, Infallible>(change)).unwrap()
    };
    assert_eq!(replace(b"first"), None);
    let aside = replace(b"second").unwrap();
    assert_eq!(fs::read(&aside).unwrap(), b"first");
    assert_eq!(fs::read(&path).unwrap(), b"second");
    assert_eq!((mode(&path), mode(&aside)), (0o600, 0o600));
    assert_eq!(names(folder.path()), ["secret", "secret.damaged"]);
}

#[test]
fn file_is_unchanged_when_the_change_keeps_it_or_is_too_large() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/secret");
    let kept = update_private(&path, LIMIT, |old| {
        assert_eq!(old, None);
        Ok::<_, Infallible>(PrivateChange::Keep)
    });
    assert_eq!(kept.unwrap(), None);
    assert!(put(&path, &[b'x'; LIMIT as usize + 1]).is_err());
    assert!(names(folder.path()).is_empty());
}

// H32
#[test]
fn a_folder_others_may_write_to_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (mode, is_fine) in [(0o700, true), (0o755, true), (0o770, false), (0o702, false), (0o1777, false)] {
        fs::set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
        let checked = check_private_folder(folder.path());
        assert_eq!(checked.is_ok(), is_fine, "{mode:o}");
        if let Err(error) = checked {
            assert_eq!(error.hint().unwrap(), format!("`chmod 700 {}`", folder.path().display()));
        }
    }
    check_private_folder(&folder.path().join("none")).unwrap();
}
