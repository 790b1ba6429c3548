//! Logs: lines of several writers stay whole, old ones go, and nothing is written through a link.

use mcparley_platform::file::{append, aside};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

#[test]
fn lines_are_added_for_the_owner_alone_in_a_folder_made_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs/one.jsonl");
    append(&path, "a\n", 100).unwrap();
    append(&path, "b\n", 100).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "a\nb\n");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
}

#[test]
fn a_log_that_has_grown_is_put_aside_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.jsonl");
    for line in ["first\n", "second\n", "third\n"] {
        append(&path, line, 5).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "third\n");
    assert_eq!(fs::read_to_string(aside(&path)).unwrap(), "second\n");
}

#[test]
fn nothing_is_written_through_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (target, path) = (folder.path().join("target"), folder.path().join("link"));
    fs::write(&target, "").unwrap();
    symlink(&target, &path).unwrap();
    append(&path, "x\n", 100).unwrap_err();
    assert_eq!(fs::read_to_string(&target).unwrap(), "");
}

#[test]
fn lines_of_many_writers_stay_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.jsonl");
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let path = &path;
            scope.spawn(move || {
                for _ in 0..100 {
                    append(path, &format!("{}\n", writer.to_string().repeat(200)), 1 << 30).unwrap();
                }
            });
        }
    });
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 800);
    assert!(
        text.lines().all(|line| line.len() == 200 && line.bytes().all(|byte| byte == line.as_bytes()[0]))
    );
}
