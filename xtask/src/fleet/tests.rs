//! Tests of when a set counts as installed.

use std::path::Path;

use super::npm::parse_usable_path;
use super::{PackageSet, remove_folder};
use crate::error::ChoreError;

const PINNED: PackageSet = PackageSet { name: "one", pins: &["pin"], witness: "witness", install: count };

/// A fake installer that appends a line to a file next to the folder.
fn count(_: &PackageSet, folder: &Path) -> Result<(), ChoreError> {
    std::fs::write(folder.join("witness"), "").unwrap();
    let counted = folder.with_extension("count");
    let before = std::fs::read_to_string(&counted).unwrap_or_default();
    std::fs::write(counted, before + "x").unwrap();
    Ok(())
}

fn times(folder: &Path) -> usize {
    std::fs::read_to_string(folder.with_extension("count")).unwrap().len()
}

#[test]
fn set_is_reinstalled_only_when_pins_interpreter_or_path_change() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("one");
    let update = || PINNED.install_if_stale(home.path(), &folder).unwrap();
    std::fs::write(home.path().join("pin"), "1").unwrap();
    update();
    update();
    assert_eq!(times(&folder), 1);
    std::fs::write(home.path().join("pin"), "2").unwrap();
    update();
    assert_eq!(times(&folder), 2);
    std::fs::remove_file(folder.join("witness")).unwrap();
    update();
    assert_eq!(times(&folder), 3);
    let elsewhere = home.path().join("two");
    std::fs::rename(&folder, &elsewhere).unwrap();
    PINNED.install_if_stale(home.path(), &elsewhere).unwrap();
    assert_eq!(times(&elsewhere), 1);
}

#[test]
fn failed_installation_leaves_no_stamp_and_is_removed() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("one");
    std::fs::write(home.path().join("pin"), "1").unwrap();
    let failing = PackageSet {
        install: |_, folder| {
            std::fs::write(folder.join("half"), "").unwrap();
            Err(ChoreError::Missing { program: "node", hint: "install it" })
        },
        ..PINNED
    };
    let error = failing.install_if_stale(home.path(), &folder).unwrap_err();
    assert_eq!(error.to_string(), "`node` is missing or too old\nhint: install it");
    PINNED.install_if_stale(home.path(), &folder).unwrap();
    assert!(!folder.join("half").exists());
}

#[test]
fn removing_missing_folder_is_no_error() {
    let home = tempfile::tempdir().unwrap();
    remove_folder(&home.path().join("nothing")).unwrap();
}

#[test]
fn too_old_node_is_rejected() {
    assert_eq!(parse_usable_path("20.20.2 /opt/my node/bin/node", 20), Some("/opt/my node/bin/node"));
    assert_eq!(parse_usable_path("18.19.0 /usr/bin/node", 20), None);
    assert_eq!(parse_usable_path("", 20), None);
}
