//! When a set counts as installed.

use std::path::Path;

use super::npm::path_of_usable;
use super::{Set, remove};
use crate::error::ChoreError;

const PINNED: Set = Set { name: "one", pins: &["pin"], witness: "witness", install: count };

/// Installs by adding a line to a file beside the folder.
fn count(_: &Set, folder: &Path) -> Result<(), ChoreError> {
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
fn a_set_is_installed_once_until_its_pins_its_interpreter_or_its_place_change() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("one");
    let update = || PINNED.bring_up_to_date(home.path(), &folder).unwrap();
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
    PINNED.bring_up_to_date(home.path(), &elsewhere).unwrap();
    assert_eq!(times(&elsewhere), 1);
}

#[test]
fn a_failed_installation_leaves_no_stamp_and_what_was_half_done_is_removed() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("one");
    std::fs::write(home.path().join("pin"), "1").unwrap();
    let failing = Set {
        install: |_, folder| {
            std::fs::write(folder.join("half"), "").unwrap();
            Err(ChoreError::Missing { program: "node", hint: "install it" })
        },
        ..PINNED
    };
    let error = failing.bring_up_to_date(home.path(), &folder).unwrap_err();
    assert_eq!(error.to_string(), "`node` is missing or too old\nhint: install it");
    PINNED.bring_up_to_date(home.path(), &folder).unwrap();
    assert!(!folder.join("half").exists());
}

#[test]
fn removing_what_is_not_there_is_no_error() {
    let home = tempfile::tempdir().unwrap();
    remove(&home.path().join("nothing")).unwrap();
}

#[test]
fn only_a_new_enough_node_will_do() {
    assert_eq!(path_of_usable("20.20.2 /opt/my node/bin/node", 20), Some("/opt/my node/bin/node"));
    assert_eq!(path_of_usable("18.19.0 /usr/bin/node", 20), None);
    assert_eq!(path_of_usable("", 20), None);
}
