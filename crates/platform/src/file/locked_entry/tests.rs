//! Behavior while another writer holds the lock.

use super::{LockedEntry, open_directory};
use crate::file::{Creation, FileWriteError};
use rustix::fs::FlockOperation;
use std::time::Duration;

// F82
#[test]
fn a_lock_held_by_another_writer_is_reported_as_busy_with_the_directory() {
    let folder = tempfile::tempdir().unwrap();
    let held = open_directory(folder.path()).unwrap().unwrap();
    rustix::fs::flock(&held, FlockOperation::LockExclusive).unwrap();

    let path = folder.path().join("servers.json");
    let limit = Duration::from_millis(30);
    let error = LockedEntry::lock_path(&path, Creation::PRIVATE, limit).unwrap_err();

    let FileWriteError::Busy { directory, waited } = &error else {
        panic!("expected busy, got {error:?}");
    };
    assert_eq!(directory, folder.path());
    assert_eq!(*waited, limit);
    assert!(error.hint().is_some());

    drop(held);
    LockedEntry::lock_path(&path, Creation::PRIVATE, limit).unwrap();
}

#[test]
fn unused_locked_entry_leaves_no_directories() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/servers.json");
    let place = LockedEntry::lock_path(&path, Creation::PRIVATE, Duration::from_secs(1)).unwrap();
    assert!(folder.path().join("a/b").is_dir());
    drop(place);
    assert!(!folder.path().join("a").exists());
}
