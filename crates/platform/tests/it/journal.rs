//! Journals lose no line: rotated, shared, and intact after a torn line.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use mcparley_platform::file::JournalFile;

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

// H36
#[test]
fn journal_is_rotated_and_keeps_a_limited_number_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/calls.jsonl");
    let journal = JournalFile::new(path.clone(), 10, 3);
    for number in 1..=6 {
        journal.append_lines(&format!("record {number:04}\n")).unwrap();
    }
    assert_eq!(read(&path), "record 0006\n");
    let aside: Vec<String> = (1..=3).map(|number| read(&journal.rotated_path(number))).collect();
    assert_eq!(aside, ["record 0005\n", "record 0004\n", "record 0003\n"]);
    assert!(!journal.rotated_path(4).exists());
    for file in [&path, &journal.rotated_path(1)] {
        assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

// H36
#[test]
fn torn_line_does_not_damage_the_next_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    std::fs::write(&path, "{\"n\":1}\n{\"n\":2,\"to").unwrap();
    JournalFile::new(path.clone(), 1000, 3).append_lines("{\"n\":3}\n").unwrap();
    assert_eq!(read(&path), "{\"n\":1}\n{\"n\":2,\"to\n{\"n\":3}\n");
}

// H36
#[test]
fn a_link_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (folder.path().join("calls.jsonl"), folder.path().join("target"));
    symlink(&target, &path).unwrap();
    assert!(JournalFile::new(path, 1000, 3).append_lines("line\n").is_err());
    assert!(!target.exists());
}

// H36
#[test]
fn many_writers_lose_no_line_during_rotation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let journal = JournalFile::new(path.clone(), 2000, 50);
            scope.spawn(move || {
                (0..200).for_each(|number| journal.append_lines(&format!("{writer} {number:03}\n")).unwrap());
            });
        }
    });
    let journal = JournalFile::new(path.clone(), 2000, 50);
    let mut files: Vec<_> = (1..=50).rev().map(|number| journal.rotated_path(number)).collect();
    files.push(path);
    let text: String = files.iter().filter_map(|file| std::fs::read_to_string(file).ok()).collect();
    let mut lines: Vec<&str> = text.lines().collect();
    for writer in 0..8 {
        let own = lines.iter().filter(|line| line.starts_with(&format!("{writer} "))).copied();
        assert!(own.is_sorted(), "in order");
    }
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 1600);
}
