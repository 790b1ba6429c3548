//! Files that nobody else reads, in a folder that nobody else made, within their limit.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::*;

fn piece<'p>(handle: &'p Handle, bytes: &'p [u8]) -> Piece<'p> {
    Piece { handle, extension: "txt", bytes }
}

fn read(store: &FileStore, handle: &Handle) -> String {
    let mut buffer = [0; 100];
    let length = store.read(handle, 0, &mut buffer).unwrap();
    String::from_utf8(buffer[..length].to_vec()).unwrap()
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

// R2 B99
#[test]
fn what_is_kept_is_private_and_named_by_nobody_but_us() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("cache/results");
    for origin in ["../../etc/x", "con", &"x".repeat(4096), "a\0b", "~/.ssh/id"] {
        let store = FileStore::new(folder.clone());
        let handle = Handle::new(origin);
        let path = store.keep(&piece(&handle, b"text")).unwrap().unwrap();
        assert_eq!(path.parent().unwrap().parent().unwrap(), folder, "{origin}");
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
        assert!(name.len() < 50 && name.starts_with("result-") && name.bytes().all(is_plain), "{name}");
        assert_eq!((mode(&path), mode(path.parent().unwrap()), mode(&folder)), (0o600, 0o700, 0o700));
        assert_eq!(read(&store, &handle), "text");
        let other = FileStore::new(folder.clone());
        assert!(matches!(other.read(&handle, 0, &mut [0; 4]), Err(StoreError::Gone)), "of another host");
    }
}

#[test]
fn nothing_is_made_before_something_is_kept() {
    let root = tempfile::tempdir().unwrap();
    let store = FileStore::new(root.path().join("results"));
    store.tidy();
    assert!(!root.path().join("results").exists());
}

// B100
#[test]
fn a_folder_that_is_a_link_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let (target, link) = (root.path().join("target"), root.path().join("results"));
    std::fs::create_dir(&target).unwrap();
    symlink(&target, &link).unwrap();
    let handle = Handle::new("it");
    let error = FileStore::new(link).keep(&piece(&handle, b"text")).unwrap_err();
    assert!(error.to_string().ends_with("is a symbolic link"), "{error}");
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);
}

#[test]
fn a_folder_that_was_cleared_away_is_made_again() {
    let root = tempfile::tempdir().unwrap();
    let store = FileStore::new(root.path().join("results"));
    let (one, other) = (Handle::new("it"), Handle::new("it"));
    assert_ne!(one, other);
    store.keep(&piece(&one, b"one")).unwrap();
    std::fs::remove_dir_all(root.path().join("results")).unwrap();
    assert!(matches!(store.read(&one, 0, &mut [0; 4]), Err(StoreError::Gone)));
    store.keep(&piece(&other, b"other")).unwrap();
    assert_eq!(read(&store, &other), "other");
}

#[test]
fn one_session_has_a_limit_and_nothing_of_it_is_removed() {
    let root = tempfile::tempdir().unwrap();
    let store = FileStore::with_limit(root.path().join("results"), 10);
    let (one, other) = (Handle::new("it"), Handle::new("it"));
    store.keep(&piece(&one, b"12345678")).unwrap();
    let error = store.keep(&piece(&other, b"123")).unwrap_err();
    assert!(matches!(error, StoreError::Crowded { limit: 10 }));
    assert_eq!(read(&store, &one), "12345678");
    store.keep(&piece(&other, b"12")).unwrap();
}
