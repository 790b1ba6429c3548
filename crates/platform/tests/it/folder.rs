//! A private folder is accessible to us only, and folders left by ended processes are swept.

use mcparley_platform::file::{
    FileReadError, FileWriteError, PrivateFolder, PrivateFolderError, SweepLimits, sweep_leftover_folders,
};
use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

// B99 B100 H23
#[test]
fn new_file_is_private_and_never_overwrites_another() {
    let root = tempfile::tempdir().unwrap();
    let folder = PrivateFolder::open(&root.path().join("deep/results")).unwrap();
    let inner = folder.create_subfolder("one").unwrap();
    let path = inner.write_new("a.txt", b"text").unwrap();
    assert_eq!((mode(folder.path()), mode(inner.path()), mode(&path)), (0o700, 0o700, 0o600));
    let mut text = String::new();
    inner.open_file("a.txt").unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "text");
    assert!(inner.write_new("a.txt", b"other").is_err());
    assert!(folder.create_subfolder("one").is_err());
    let victim = root.path().join("victim");
    symlink(&victim, inner.path().join("b.txt")).unwrap();
    assert!(inner.write_new("b.txt", b"text").is_err());
    assert!(!victim.exists());
    assert!(inner.open_file("b.txt").is_err());
}

// B100
#[test]
fn folder_that_is_a_symlink_or_writable_by_others_is_refused_and_a_readable_one_is_closed() {
    let root = tempfile::tempdir().unwrap();
    let (target, link) = (root.path().join("target"), root.path().join("link"));
    fs::create_dir(&target).unwrap();
    symlink(&target, &link).unwrap();
    assert!(matches!(
        PrivateFolder::open(&link).unwrap_err(),
        PrivateFolderError::Refused(FileReadError::Link { .. })
    ));
    let dangling = root.path().join("dangling");
    symlink(root.path().join("nowhere"), &dangling).unwrap();
    assert!(matches!(
        PrivateFolder::open(&dangling).unwrap_err(),
        PrivateFolderError::Refused(FileReadError::Link { .. })
    ));
    chmod(&target, 0o777);
    assert!(matches!(
        PrivateFolder::open(&target).unwrap_err(),
        PrivateFolderError::Refused(FileReadError::OpenFolder { .. })
    ));
    chmod(&target, 0o755);
    PrivateFolder::open(&target).unwrap();
    assert_eq!(mode(&target), 0o700);
    // Replacing the path by a link later does not redirect the opened folder.
    let folder = PrivateFolder::open(&target).unwrap();
    fs::rename(&target, root.path().join("moved")).unwrap();
    symlink(root.path().join("elsewhere"), &target).unwrap();
    folder.write_new("a.txt", b"text").unwrap();
    assert_eq!(names(&root.path().join("moved")), ["a.txt"]);
}

// B100
#[test]
fn folder_of_another_user_is_refused() {
    if !crate::support::is_root() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(root.path(), Some(12_345), None).unwrap();
    let error = PrivateFolder::open(root.path()).unwrap_err();
    assert!(
        matches!(error, PrivateFolderError::Refused(FileReadError::Foreign { uid: 12_345, .. })),
        "{error:?}"
    );
}

#[test]
fn what_is_gone_says_so() {
    let root = tempfile::tempdir().unwrap();
    let folder = PrivateFolder::open(&root.path().join("results")).unwrap();
    fs::remove_dir(folder.path()).unwrap();
    let error: PrivateFolderError = folder.write_new("a.txt", b"text").unwrap_err().into();
    assert!(error.is_missing(), "{error:?}");
    assert!(!PrivateFolderError::from(FileWriteError::NoName { path: root.path().to_owned() }).is_missing());
}

/// Creates folders with one file of 100 bytes each and the given age in days.
fn left(root: &Path, folders: &[(&str, u32)]) {
    let folder = PrivateFolder::open(root).unwrap();
    for (name, days) in folders {
        let inner = folder.create_subfolder(name).unwrap();
        inner.write_new("a.txt", &[b'a'; 100]).unwrap();
        let then = SystemTime::now() - DAY * *days;
        fs::File::open(inner.path()).unwrap().set_modified(then).unwrap();
    }
}

// B99
#[test]
fn sweep_removes_old_folders_and_then_the_oldest_over_the_size_limit() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("results");
    let allowed = SweepLimits { age: DAY * 7, bytes: 250, folders: 100 };
    sweep_leftover_folders(&path, allowed);
    assert!(!path.exists(), "looking makes nothing");
    left(&path, &[("ancient", 30), ("old", 8), ("one", 3), ("two", 2), ("three", 1)]);
    fs::write(path.join("file"), "not a folder").unwrap();
    symlink(root.path(), path.join("link")).unwrap();
    sweep_leftover_folders(&path, allowed);
    assert_eq!(names(&path), ["file", "link", "three", "two"]);
}

#[test]
fn sweep_keeps_locked_folders_however_old() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("results");
    left(&path, &[("old", 30)]);
    let folder = PrivateFolder::open(&path).unwrap();
    let used = folder.create_subfolder("used").unwrap();
    assert!(used.try_lock());
    used.write_new("a.txt", b"text").unwrap();
    let then = SystemTime::now() - DAY * 30;
    fs::File::open(used.path()).unwrap().set_modified(then).unwrap();
    let nothing = SweepLimits { age: DAY, bytes: 0, folders: 100 };
    sweep_leftover_folders(&path, nothing);
    assert_eq!(names(&path), ["used"]);
    drop(used);
    sweep_leftover_folders(&path, nothing);
    assert!(names(&path).is_empty());
}
