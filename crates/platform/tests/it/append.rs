//! Logs: lines of several writers stay whole, old files are rotated away, and symlinks are not followed.

use mcparley_platform::file::{append_log_lines, rotated_log_path};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

#[test]
fn log_lines_are_readable_by_the_owner_only_and_folders_are_created() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs/one.jsonl");
    append_log_lines(&path, "a\n", 100).unwrap();
    append_log_lines(&path, "b\n", 100).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "a\nb\n");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
}

#[test]
fn log_over_its_limit_is_rotated_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.jsonl");
    for line in ["first\n", "second\n", "third\n"] {
        append_log_lines(&path, line, 5).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "third\n");
    assert_eq!(fs::read_to_string(rotated_log_path(&path)).unwrap(), "second\n");
}

#[test]
fn log_is_not_written_through_a_symlink() {
    let folder = tempfile::tempdir().unwrap();
    let (target, path) = (folder.path().join("target"), folder.path().join("link"));
    fs::write(&target, "").unwrap();
    symlink(&target, &path).unwrap();
    append_log_lines(&path, "x\n", 100).unwrap_err();
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
                    append_log_lines(path, &format!("{}\n", writer.to_string().repeat(200)), 1 << 30)
                        .unwrap();
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
