//! Records that lose nothing: rotated, shared, and whole after a torn line.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use mcparley_platform::file::Journal;

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

// H36
#[test]
fn old_records_are_put_aside_in_a_row_and_only_so_many_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/calls.jsonl");
    let journal = Journal::new(path.clone(), 10, 3);
    for number in 1..=6 {
        journal.append(&format!("record {number:04}\n")).unwrap();
    }
    assert_eq!(read(&path), "record 0006\n");
    let aside: Vec<String> = (1..=3).map(|number| read(&journal.predecessor(number))).collect();
    assert_eq!(aside, ["record 0005\n", "record 0004\n", "record 0003\n"]);
    assert!(!journal.predecessor(4).exists());
    for file in [&path, &journal.predecessor(1)] {
        assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

// H36
#[test]
fn a_line_that_was_cut_off_spoils_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    std::fs::write(&path, "{\"n\":1}\n{\"n\":2,\"to").unwrap();
    Journal::new(path.clone(), 1000, 3).append("{\"n\":3}\n").unwrap();
    assert_eq!(read(&path), "{\"n\":1}\n{\"n\":2,\"to\n{\"n\":3}\n");
}

// H36
#[test]
fn a_link_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (folder.path().join("calls.jsonl"), folder.path().join("target"));
    symlink(&target, &path).unwrap();
    assert!(Journal::new(path, 1000, 3).append("line\n").is_err());
    assert!(!target.exists());
}

// H36
#[test]
fn many_writers_lose_no_line_while_files_are_put_aside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let journal = Journal::new(path.clone(), 2000, 50);
            scope.spawn(move || {
                (0..200).for_each(|number| journal.append(&format!("{writer} {number:03}\n")).unwrap());
            });
        }
    });
    let journal = Journal::new(path.clone(), 2000, 50);
    let mut files: Vec<_> = (1..=50).rev().map(|number| journal.predecessor(number)).collect();
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
