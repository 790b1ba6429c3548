//! The effects of an update on a file.

use mcparley_platform::file::{Creation, FileUpdateError, UpdateOutcome, update_file};
use std::convert::Infallible;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

pub(crate) const LIMIT: u64 = 1 << 16;

/// Puts `text` at `path`.
pub(crate) fn put(path: &Path, text: &str) -> Result<UpdateOutcome, FileUpdateError<Infallible>> {
    update_file(path, Creation::PRIVATE, LIMIT, |_| Ok(text.to_owned()))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_missing_file_is_created_with_its_directories_for_the_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/servers.json");
    let updated = update_file(&path, Creation::PRIVATE, LIMIT, |old| {
        assert_eq!(old, None);
        Ok::<_, Infallible>("{}\n".to_owned())
    });
    assert_eq!(updated.unwrap(), UpdateOutcome::Created { path: path.clone() });
    assert_eq!(fs::read_to_string(&path).unwrap(), "{}\n");
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&folder.path().join("a")), 0o700);
    assert_eq!(mode(&folder.path().join("a/b")), 0o700);
}

#[test]
fn a_shared_file_is_readable_as_far_as_the_umask_lets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/.mcp.json");
    update_file(&path, Creation::SHARED, LIMIT, |_| Ok::<_, Infallible>(String::new())).unwrap();
    // A plainly created file shows the umask without changing it.
    let plain = folder.path().join("plain");
    fs::write(&plain, "").unwrap();
    assert_eq!(mode(&path), 0o644 & mode(&plain));
}

#[test]
fn the_change_sees_the_current_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("servers.json");
    put(&path, "one").unwrap();
    let updated = update_file(&path, Creation::PRIVATE, LIMIT, |old| {
        Ok::<_, Infallible>(format!("{} two", old.unwrap()))
    });
    assert_eq!(updated.unwrap(), UpdateOutcome::Replaced { path: path.clone() });
    assert_eq!(fs::read_to_string(&path).unwrap(), "one two");
}

#[test]
fn the_same_text_is_not_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("servers.json");
    put(&path, "same").unwrap();
    let before = fs::metadata(&path).unwrap();
    let updated = put(&path, "same").unwrap();
    let after = fs::metadata(&path).unwrap();
    assert_eq!(updated, UpdateOutcome::Unchanged { path });
    assert_eq!(before.ino(), after.ino());
    assert_eq!(before.mtime_nsec(), after.mtime_nsec());
}

// F71
#[test]
fn threads_of_one_process_exclude_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("count");
    put(&path, "0").unwrap();
    let increment = || {
        update_file(&path, Creation::PRIVATE, LIMIT, |old| {
            let count: u32 = old.unwrap().parse().unwrap();
            Ok::<_, Infallible>((count + 1).to_string())
        })
        .unwrap();
    };
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..5).for_each(|_| increment()));
        }
    });
    assert_eq!(fs::read_to_string(&path).unwrap(), "40");
}

#[test]
fn a_chain_of_links_is_followed_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let dotfiles = folder.path().join("dotfiles");
    fs::create_dir(&dotfiles).unwrap();
    let target = dotfiles.join("claude.json");
    fs::write(&target, "old").unwrap();
    symlink("dotfiles/claude.json", folder.path().join("second")).unwrap();
    let first = folder.path().join("first");
    symlink("second", &first).unwrap();

    let updated = put(&first, "new").unwrap();

    assert_eq!(updated, UpdateOutcome::Replaced { path: target.clone() });
    assert_eq!(fs::read_to_string(&target).unwrap(), "new");
    assert!(target.symlink_metadata().unwrap().is_file());
    assert_eq!(fs::read_link(&first).unwrap(), Path::new("second"));
    let second = fs::read_link(folder.path().join("second")).unwrap();
    assert_eq!(second, Path::new("dotfiles/claude.json"));
}

#[test]
fn a_link_to_nothing_creates_its_target() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    symlink("target.json", &link).unwrap();
    let target = folder.path().join("target.json");
    assert_eq!(put(&link, "{}").unwrap(), UpdateOutcome::Created { path: target.clone() });
    assert_eq!(fs::read_to_string(&target).unwrap(), "{}");
    assert!(link.symlink_metadata().unwrap().is_symlink());
}
