//! Drop-in directories are listed in order and whole.

use mcparley_platform::file::{FileReadError, list_dir};
use std::fs;

#[test]
fn only_visible_names_with_the_suffix_are_listed_in_order() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["20-b.json", "10-a.json", ".hidden.json", "notes.txt", "z.json~"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    let expected = vec![folder.path().join("10-a.json"), folder.path().join("20-b.json")];
    assert_eq!(list_dir(folder.path(), ".json", 10).unwrap(), expected);
}

#[test]
fn missing_directory_lists_as_empty() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("managed-settings.d");
    assert!(list_dir(&missing, ".json", 10).unwrap().is_empty());
}

#[test]
fn too_many_entries_are_an_error_and_no_partial_listing() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..4 {
        fs::write(folder.path().join(format!("{number}.json")), "").unwrap();
    }
    assert_eq!(list_dir(folder.path(), ".json", 4).unwrap().len(), 4);
    let error = list_dir(folder.path(), ".json", 3).unwrap_err();
    assert!(matches!(error, FileReadError::TooMany { limit: 3, .. }), "{error:?}");
}
