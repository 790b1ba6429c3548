//! Lock files: one holder among threads and processes, and none that outlives its process.

use mcparley_platform::file::{FileWriteError, LockFile, acquire_lock};
use mcparley_testkit::example_path;
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
    let mut child = Command::new(example_path("writer"))
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
                    let _held = acquire_lock(&path, LONG).unwrap();
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
fn lock_timeout_is_busy_and_does_not_steal_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one");
    let mut other = holder(&path);
    let limit = Duration::from_millis(100);
    let error = acquire_lock(&path, limit).unwrap_err();
    assert!(matches!(&error, FileWriteError::Busy { waited, .. } if *waited == limit), "{error:?}");
    assert!(acquire_lock(&folder.path().join("two"), Duration::ZERO).is_ok());
    assert!(other.try_wait().unwrap().is_none());
    drop(other.stdin.take());
    other.wait().unwrap();
    acquire_lock(&path, LONG).unwrap();
}

// F82
#[test]
fn a_killed_holder_frees_the_lock_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one");
    let mut other = holder(&path);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| acquire_lock(&path, LONG).map(|_held| Instant::now()).unwrap());
        other.kill().unwrap();
        other.wait().unwrap();
        let killed = Instant::now();
        let taken = waiting.join().unwrap().saturating_duration_since(killed);
        println!("taken {taken:?} after the kill");
        assert!(taken <= Duration::from_millis(100), "{taken:?}");
    });
}

#[test]
fn removed_lock_file_is_replaced_by_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one");
    let first = acquire_lock(&path, LONG).unwrap();
    fs::remove_file(&path).unwrap();
    let second = acquire_lock(&path, LONG).unwrap();
    drop(first);
    assert!(LockFile::new(&path).try_acquire().unwrap().is_none());
    drop(second);
    assert!(LockFile::new(&path).try_acquire().unwrap().is_some());
}

// B100
#[test]
fn symlink_at_the_lock_path_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, victim) = (folder.path().join("one"), folder.path().join("victim"));
    symlink(&victim, &path).unwrap();
    assert!(matches!(acquire_lock(&path, LONG), Err(FileWriteError::LinkLoop { .. })));
    assert!(!victim.exists());
}
