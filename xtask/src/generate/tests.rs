//! Tests that stale pages are found, and that writing updates them.

use std::fs;
use std::path::{Path, PathBuf};

use super::{DriftKind, GeneratedPage, MARK, PageDrift, apply_drifts, find_drifts, render_pages};

fn page(name: &str, body: &str) -> GeneratedPage {
    GeneratedPage::markdown(name, body)
}

fn drift(path: &str, kind: DriftKind) -> PageDrift {
    PageDrift { path: PathBuf::from(path), kind }
}

#[test]
fn missing_stale_and_superfluous_pages_are_all_listed() {
    let root = tempfile::tempdir().unwrap();
    apply_drifts(root.path(), &[page("same.md", "a"), page("changed.md", "a"), page("gone.md", "a")])
        .unwrap();

    let now = [page("same.md", "a"), page("changed.md", "b"), page("new.md", "a")];

    assert_eq!(
        find_drifts(root.path(), &now).unwrap(),
        [
            drift("docs/reference/changed.md", DriftKind::Stale),
            drift("docs/reference/new.md", DriftKind::Missing),
            drift("docs/reference/gone.md", DriftKind::Superfluous),
        ]
    );
}

#[test]
fn check_writes_no_file() {
    let root = tempfile::tempdir().unwrap();
    find_drifts(root.path(), &[page("new.md", "a")]).unwrap();
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

#[test]
fn writing_removes_all_drift() {
    let root = tempfile::tempdir().unwrap();
    apply_drifts(root.path(), &[page("changed.md", "a"), page("gone.md", "a")]).unwrap();
    let now = [page("changed.md", "b"), page("new.md", "a")];

    assert_eq!(apply_drifts(root.path(), &now).unwrap().len(), 3);

    assert_eq!(find_drifts(root.path(), &now).unwrap(), []);
    assert!(!root.path().join("docs/reference/gone.md").exists());
}

#[test]
fn handwritten_page_is_left_unchanged() {
    let root = tempfile::tempdir().unwrap();
    let by_hand = root.path().join("docs/reference/notes.md");
    fs::create_dir_all(by_hand.parent().unwrap()).unwrap();
    fs::write(&by_hand, "# Notes\n").unwrap();

    assert_eq!(apply_drifts(root.path(), &[]).unwrap(), []);

    assert_eq!(fs::read_to_string(by_hand).unwrap(), "# Notes\n");
}

#[test]
fn a_page_with_other_line_ends_is_stale() {
    let root = tempfile::tempdir().unwrap();
    let page = page("a.md", "a");
    apply_drifts(root.path(), std::slice::from_ref(&page)).unwrap();
    fs::write(root.path().join(&page.path), page.text.replace('\n', "\r\n")).unwrap();
    assert_eq!(find_drifts(root.path(), &[page]).unwrap(), [drift("docs/reference/a.md", DriftKind::Stale)]);
}

#[test]
fn every_page_carries_the_mark_at_its_top() {
    for page in render_pages().unwrap() {
        let marked = page.text.lines().take(super::TOP_LINES).any(|line| line.contains(MARK));
        assert!(marked, "{}", page.path.display());
    }
}

#[test]
fn every_page_has_unique_path_and_renders_deterministically() {
    let (once, twice) = (render_pages().unwrap(), render_pages().unwrap());
    let mut paths: Vec<&Path> = once.iter().map(|page| page.path.as_path()).collect();
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), once.len());
    for (first, second) in once.iter().zip(&twice) {
        assert_eq!(first.text, second.text);
    }
}
