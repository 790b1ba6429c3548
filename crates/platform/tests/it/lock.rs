//! A lock of its own file: one holder among threads and processes, and none that outlives its death.

use mcparley_platform::file::{LockFile, WriteError, lock};
use mcparley_testkit::example;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(20);

/// Another process that holds the lock.
fn holder(path: &Path) -> Child {
    let mut child = Command::new(example("writer"))
        .arg("hold")
        .arg(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "held\n");
    child
}

#[test]
fn threads_exclude_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("locks/one");
    let inside = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let _held = lock(&path, LONG).unwrap();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    std::thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

// F81
#[test]
fn who_waits_too_long_is_told_that_it_is_busy_and_steals_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one");
    let mut other = holder(&path);
    let limit = Duration::from_millis(100);
    let error = lock(&path, limit).unwrap_err();
    assert!(matches!(&error, WriteError::Busy { waited, .. } if *waited == limit), "{error:?}");
    assert!(lock(&folder.path().join("two"), Duration::ZERO).is_ok());
    assert!(other.try_wait().unwrap().is_none());
    drop(other.stdin.take());
    other.wait().unwrap();
    lock(&path, LONG).unwrap();
}

// F82
#[test]
fn a_killed_holder_frees_the_lock_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one");
    let mut other = holder(&path);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| lock(&path, LONG).map(|_held| Instant::now()).unwrap());
        other.kill().unwrap();
        other.wait().unwrap();
        let killed = Instant::now();
        let taken = waiting.join().unwrap().saturating_duration_since(killed);
        println!("taken {taken:?} after the kill");
        assert!(taken <= Duration::from_millis(100), "{taken:?}");
    });
}

#[test]
fn after_a_lock_file_was_removed_the_new_one_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one");
    let first = lock(&path, LONG).unwrap();
    fs::remove_file(&path).unwrap();
    let second = lock(&path, LONG).unwrap();
    drop(first);
    assert!(LockFile::new(&path).try_take().unwrap().is_none());
    drop(second);
    assert!(LockFile::new(&path).try_take().unwrap().is_some());
}

// B100
#[test]
fn a_link_in_the_place_of_the_lock_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, victim) = (folder.path().join("one"), folder.path().join("victim"));
    symlink(&victim, &path).unwrap();
    assert!(matches!(lock(&path, LONG), Err(WriteError::LinkLoop { .. })));
    assert!(!victim.exists());
}
