//! A disk that is really full.

use crate::kept::names;
use crate::update::put;
use mcparley_platform::file::{FileUpdateError, FileWriteError, PrivateFolder};
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags};
use std::fs;
use std::path::Path;

// F73
#[test]
fn full_disk_leaves_the_old_file_and_no_temporary_files() {
    let folder = tempfile::tempdir().unwrap();
    // Mounting takes root and its capabilities.
    if !crate::support::is_root() {
        return;
    }
    mount_small_disk(folder.path()).unwrap();
    let path = folder.path().join("servers.json");
    put(&path, "old").unwrap();
    fs::write(folder.path().join("filler"), vec![0; 48 * 1024]).unwrap();

    let error = put(&path, &"x".repeat(30_000)).unwrap_err();

    assert!(matches!(error, FileUpdateError::Write(FileWriteError::Full { .. })), "{error:?}");
    assert!(error.hint().is_some());
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names(folder.path()), ["filler", "servers.json"]);
    rustix::mount::unmount(folder.path(), UnmountFlags::DETACH).unwrap();
}

// F74
#[test]
fn new_file_on_a_full_disk_leaves_no_partial_file() {
    let folder = tempfile::tempdir().unwrap();
    if !crate::support::is_root() {
        return;
    }
    mount_small_disk(folder.path()).unwrap();
    let results = PrivateFolder::open(&folder.path().join("results")).unwrap();

    let error = results.write_new("large.txt", &[b'x'; 100_000]).unwrap_err();

    assert!(matches!(error, FileWriteError::Full { .. }), "{error:?}");
    assert!(names(results.path()).is_empty());
    results.write_new("small.txt", b"there is room again").unwrap();
    rustix::mount::unmount(folder.path(), UnmountFlags::DETACH).unwrap();
}

/// Runs in a mount namespace of this thread only, which removes the disk when it ends.
#[expect(unsafe_code, reason = "leaving a namespace is marked unsafe as a whole")]
fn mount_small_disk(path: &Path) -> rustix::io::Result<()> {
    // SAFETY: mounts and the working directory do not affect memory safety; descriptors stay.
    unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWNS) }?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change("/", private)?;
    rustix::mount::mount("none", path, "tmpfs", MountFlags::empty(), c"size=64k")
}
