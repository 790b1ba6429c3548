//! Private files in a private folder, within the limit of a session.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::*;

fn piece<'p>(handle: &'p ResultHandle, bytes: &'p [u8]) -> ResultPayload<'p> {
    ResultPayload { handle, extension: "txt", bytes }
}

fn read(store: &FileStore, handle: &ResultHandle) -> String {
    let mut buffer = [0; 100];
    let length = store.read_bytes(handle, 0, &mut buffer).unwrap();
    String::from_utf8(buffer[..length].to_vec()).unwrap()
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

// R2 B99
#[test]
fn stored_files_are_private_and_have_generated_names() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("cache/results");
    for origin in ["../../etc/x", "con", &"x".repeat(4096), "a\0b", "~/.ssh/id"] {
        let store = FileStore::new(folder.clone());
        let handle = ResultHandle::new(origin);
        let path = store.store_result(&piece(&handle, b"text")).unwrap().unwrap();
        assert_eq!(path.parent().unwrap().parent().unwrap(), folder, "{origin}");
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
        assert!(name.len() < 50 && name.starts_with("result-") && name.bytes().all(is_plain), "{name}");
        assert_eq!((mode(&path), mode(path.parent().unwrap()), mode(&folder)), (0o600, 0o700, 0o700));
        assert_eq!(read(&store, &handle), "text");
        let other = FileStore::new(folder.clone());
        assert!(
            matches!(other.read_bytes(&handle, 0, &mut [0; 4]), Err(StoreError::NotFound)),
            "of another host"
        );
    }
}

#[test]
fn folder_is_created_with_the_first_result() {
    let root = tempfile::tempdir().unwrap();
    let store = FileStore::new(root.path().join("results"));
    store.remove_old_results();
    assert!(!root.path().join("results").exists());
}

// B100
#[test]
fn folder_that_is_a_symlink_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let (target, link) = (root.path().join("target"), root.path().join("results"));
    std::fs::create_dir(&target).unwrap();
    symlink(&target, &link).unwrap();
    let handle = ResultHandle::new("it");
    let error = FileStore::new(link).store_result(&piece(&handle, b"text")).unwrap_err();
    assert!(error.to_string().ends_with("is a symbolic link"), "{error}");
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);
}

#[test]
fn deleted_folder_is_created_again() {
    let root = tempfile::tempdir().unwrap();
    let store = FileStore::new(root.path().join("results"));
    let (one, other) = (ResultHandle::new("it"), ResultHandle::new("it"));
    assert_ne!(one, other);
    store.store_result(&piece(&one, b"one")).unwrap();
    std::fs::remove_dir_all(root.path().join("results")).unwrap();
    assert!(matches!(store.read_bytes(&one, 0, &mut [0; 4]), Err(StoreError::NotFound)));
    store.store_result(&piece(&other, b"other")).unwrap();
    assert_eq!(read(&store, &other), "other");
}

#[test]
fn session_limit_rejects_new_results_and_keeps_old_ones() {
    let root = tempfile::tempdir().unwrap();
    let store = FileStore::with_limit(root.path().join("results"), 10);
    let (one, other) = (ResultHandle::new("it"), ResultHandle::new("it"));
    store.store_result(&piece(&one, b"12345678")).unwrap();
    let error = store.store_result(&piece(&other, b"123")).unwrap_err();
    assert!(matches!(error, StoreError::Full { limit: 10 }));
    assert_eq!(read(&store, &one), "12345678");
    store.store_result(&piece(&other, b"12")).unwrap();
}
