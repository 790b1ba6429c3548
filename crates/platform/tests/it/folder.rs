//! A folder of our own is ours alone, and what ended processes left in it goes.

use mcparley_platform::file::{Allowance, Folder, FolderError, ReadError, WriteError, sweep};
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
fn a_new_file_is_for_the_owner_alone_and_never_over_another() {
    let root = tempfile::tempdir().unwrap();
    let folder = Folder::open(&root.path().join("deep/results")).unwrap();
    let inner = folder.make("one").unwrap();
    let path = inner.write_new("a.txt", b"text").unwrap();
    assert_eq!((mode(folder.path()), mode(inner.path()), mode(&path)), (0o700, 0o700, 0o600));
    let mut text = String::new();
    inner.read("a.txt").unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "text");
    assert!(inner.write_new("a.txt", b"other").is_err());
    assert!(folder.make("one").is_err());
    let victim = root.path().join("victim");
    symlink(&victim, inner.path().join("b.txt")).unwrap();
    assert!(inner.write_new("b.txt", b"text").is_err());
    assert!(!victim.exists());
    assert!(inner.read("b.txt").is_err());
}

// B100
#[test]
fn a_folder_that_is_a_link_or_open_to_others_is_refused_and_one_that_can_be_seen_is_closed() {
    let root = tempfile::tempdir().unwrap();
    let (target, link) = (root.path().join("target"), root.path().join("link"));
    fs::create_dir(&target).unwrap();
    symlink(&target, &link).unwrap();
    assert!(matches!(Folder::open(&link).unwrap_err(), FolderError::Refused(ReadError::Link { .. })));
    let dangling = root.path().join("dangling");
    symlink(root.path().join("nowhere"), &dangling).unwrap();
    assert!(matches!(Folder::open(&dangling).unwrap_err(), FolderError::Refused(ReadError::Link { .. })));
    chmod(&target, 0o777);
    assert!(matches!(Folder::open(&target).unwrap_err(), FolderError::Refused(ReadError::OpenFolder { .. })));
    chmod(&target, 0o755);
    Folder::open(&target).unwrap();
    assert_eq!(mode(&target), 0o700);
    // A place that somebody else swaps for a link later leads nowhere new.
    let folder = Folder::open(&target).unwrap();
    fs::rename(&target, root.path().join("moved")).unwrap();
    symlink(root.path().join("elsewhere"), &target).unwrap();
    folder.write_new("a.txt", b"text").unwrap();
    assert_eq!(names(&root.path().join("moved")), ["a.txt"]);
}

// B100
#[test]
fn a_folder_of_somebody_else_is_refused() {
    if !crate::support::is_root() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(root.path(), Some(12_345), None).unwrap();
    let error = Folder::open(root.path()).unwrap_err();
    assert!(matches!(error, FolderError::Refused(ReadError::Foreign { uid: 12_345, .. })), "{error:?}");
}

#[test]
fn what_is_gone_says_so() {
    let root = tempfile::tempdir().unwrap();
    let folder = Folder::open(&root.path().join("results")).unwrap();
    fs::remove_dir(folder.path()).unwrap();
    let error: FolderError = folder.write_new("a.txt", b"text").unwrap_err().into();
    assert!(error.is_missing(), "{error:?}");
    assert!(!FolderError::from(WriteError::NoName { path: root.path().to_owned() }).is_missing());
}

/// Folders with one file of 100 bytes each, so many days old.
fn left(root: &Path, folders: &[(&str, u32)]) {
    let folder = Folder::open(root).unwrap();
    for (name, days) in folders {
        let inner = folder.make(name).unwrap();
        inner.write_new("a.txt", &[b'a'; 100]).unwrap();
        let then = SystemTime::now() - DAY * *days;
        fs::File::open(inner.path()).unwrap().set_modified(then).unwrap();
    }
}

// B99
#[test]
fn what_is_old_goes_and_of_the_rest_the_oldest_beyond_the_allowance() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("results");
    let allowed = Allowance { age: DAY * 7, bytes: 250, folders: 100 };
    sweep(&path, allowed);
    assert!(!path.exists(), "looking makes nothing");
    left(&path, &[("ancient", 30), ("old", 8), ("one", 3), ("two", 2), ("three", 1)]);
    fs::write(path.join("file"), "not a folder").unwrap();
    symlink(root.path(), path.join("link")).unwrap();
    sweep(&path, allowed);
    assert_eq!(names(&path), ["file", "link", "three", "two"]);
}

#[test]
fn what_is_in_use_stays_however_old() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("results");
    left(&path, &[("old", 30)]);
    let folder = Folder::open(&path).unwrap();
    let used = folder.make("used").unwrap();
    assert!(used.hold());
    used.write_new("a.txt", b"text").unwrap();
    let then = SystemTime::now() - DAY * 30;
    fs::File::open(used.path()).unwrap().set_modified(then).unwrap();
    let nothing = Allowance { age: DAY, bytes: 0, folders: 100 };
    sweep(&path, nothing);
    assert_eq!(names(&path), ["used"]);
    drop(used);
    sweep(&path, nothing);
    assert!(names(&path).is_empty());
}
