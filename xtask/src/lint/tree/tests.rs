//! Tests of the rules for source files.

use std::path::Path;

use super::{check_source, check_tree};
use crate::error::ChoreError;

fn findings(text: &str) -> Vec<String> {
    check_source(Path::new("a.rs"), text).iter().map(ToString::to_string).collect()
}

#[test]
fn valid_file_has_no_findings() {
    assert_eq!(findings("//! Says what it is for.\nfn main() {}\n"), Vec::<String>::new());
}

#[test]
fn file_without_module_comment_is_reported() {
    assert_eq!(
        findings("\n\n\n//! Too late.\n"),
        ["a.rs: does not open with `//!`: say what the file is for"]
    );
}

#[test]
fn file_of_501_lines_is_reported_and_one_of_500_is_not() {
    let text = |lines: usize| format!("//! Long.\n{}", "\n".repeat(lines - 1));
    assert_eq!(findings(&text(500)), Vec::<String>::new());
    assert_eq!(findings(&text(501)), ["a.rs: has 501 lines, more than 500: split it by idea"]);
}

#[test]
fn allow_attribute_is_reported_with_its_line() {
    let text = format!("//! Lax.\n#{}(dead_code)]\n#!{}(dead_code)]\n", "[allow", "[allow");
    let message = "write `expect` with a reason instead of `allow`";
    assert_eq!(findings(&text), [format!("a.rs:2: {message}"), format!("a.rs:3: {message}")]);
}

#[test]
fn build_output_and_hidden_folders_are_skipped() {
    let root = tempfile::tempdir().unwrap();
    for folder in ["target/debug", ".tools/src", "crates/a"] {
        std::fs::create_dir_all(root.path().join(folder)).unwrap();
        std::fs::write(root.path().join(folder).join("x.rs"), "fn main() {}\n").unwrap();
    }
    let Err(ChoreError::Tree(found)) = check_tree(root.path()) else { panic!("nothing was found") };
    let found: Vec<_> = found.iter().map(|finding| finding.path.clone()).collect();
    assert_eq!(found, [Path::new("crates/a/x.rs")]);
}
