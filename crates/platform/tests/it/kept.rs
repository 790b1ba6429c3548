//! Properties that an update preserves: modes, owners, other names.

use crate::update::put;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// All names in a folder.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_mode_of_a_file_is_kept() {
    for mode in [0o600, 0o640, 0o644, 0o664, 0o755] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("servers.json");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        put(&path, "new").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, mode);
    }
}

#[test]
fn owner_and_group_are_kept_where_the_system_permits_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("servers.json");
    fs::write(&path, "old").unwrap();
    // Without root there is only our own owner to keep.
    if crate::support::is_root() {
        std::os::unix::fs::chown(&path, Some(65_534), Some(65_533)).unwrap();
    }
    let before = fs::metadata(&path).unwrap();
    put(&path, "new").unwrap();
    let after = fs::metadata(&path).unwrap();
    assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
}

// F72
#[test]
fn temporary_file_of_a_killed_writer_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("servers.json");
    fs::write(&path, "old").unwrap();
    let stale = folder.path().join(".servers.json.mcparley-tmp");
    fs::write(&stale, "half of a te").unwrap();
    put(&path, "new").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(names(folder.path()), ["servers.json"]);
}

#[test]
fn symlink_planted_at_the_temporary_name_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let victim = folder.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    let planted = folder.path().join(".servers.json.mcparley-tmp");
    std::os::unix::fs::symlink(&victim, &planted).unwrap();
    let path = folder.path().join("servers.json");
    put(&path, "new").unwrap();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    assert_eq!(names(folder.path()), ["servers.json", "victim"]);
}
