//! A failed update leaves all files byte for byte as they were.

use crate::kept::names;
use crate::support::new_tag;
use crate::update::{LIMIT, put};
use mcparley_platform::file::{Creation, FileUpdateError, FileWriteError, update_file};
use mcparley_testkit::example_path;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

#[derive(Debug, thiserror::Error)]
#[error("line 3, column 7: expected `,`")]
struct Damaged;

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

// F77
#[test]
fn a_refused_change_touches_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("servers.json");
    fs::write(&path, "{ trunca").unwrap();
    let error = update_file(&path, Creation::PRIVATE, LIMIT, |_| Err(Damaged)).unwrap_err();
    assert!(matches!(error, FileUpdateError::Refused(Damaged)));
    assert_eq!(error.to_string(), "line 3, column 7: expected `,`");
    assert_eq!(fs::read_to_string(&path).unwrap(), "{ trunca");
    assert_eq!(names(folder.path()), ["servers.json"]);
}

#[test]
fn a_refused_change_leaves_no_new_directories() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/servers.json");
    update_file(&path, Creation::PRIVATE, LIMIT, |_| Err(Damaged)).unwrap_err();
    assert!(names(folder.path()).is_empty());
}

// F77
#[test]
fn a_file_that_cannot_be_read_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("servers.json");
    let too_large = vec![b'x'; LIMIT as usize + 1];
    for bytes in [b"\xff\xfe".to_vec(), too_large] {
        fs::write(&path, &bytes).unwrap();
        let error = put(&path, "new").unwrap_err();
        assert!(matches!(error, FileUpdateError::Read(_)), "{error:?}");
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
    let error = put(folder.path(), "new").unwrap_err();
    assert!(error.to_string().ends_with("is a directory, not a file"));
}

#[test]
fn text_over_the_read_limit_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("servers.json");
    put(&path, "old").unwrap();
    let error = put(&path, &"x".repeat(LIMIT as usize + 1)).unwrap_err();
    let expected = format!("the new text of `{}` is larger than {LIMIT} bytes", path.display());
    assert_eq!(error.to_string(), expected);
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
}

#[test]
fn links_in_a_circle_and_paths_without_a_name_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let circle = folder.path().join("circle");
    symlink("circle", &circle).unwrap();
    let error = put(&circle, "new").unwrap_err();
    assert!(matches!(error, FileUpdateError::Write(FileWriteError::LinkLoop { .. })), "{error:?}");
    let error = put(Path::new("/"), "new").unwrap_err();
    assert!(matches!(error, FileUpdateError::Write(FileWriteError::NoName { .. })), "{error:?}");
}

#[test]
fn directory_behind_a_dangling_link_is_an_error_and_no_endless_wait() {
    let folder = tempfile::tempdir().unwrap();
    symlink("nowhere", folder.path().join("dir")).unwrap();
    let error = put(&folder.path().join("dir/servers.json"), "new").unwrap_err();
    let expected = format!("cannot create directory `{}/dir`", folder.path().display());
    assert_eq!(error.to_string(), expected);
}

// F75
#[test]
fn without_permission_the_error_names_the_file_and_the_cause() {
    let folder = tempfile::tempdir().unwrap();
    open_to_all(folder.path(), 0o755);
    let home = folder.path().join("home");
    fs::create_dir(&home).unwrap();
    fs::write(home.join("servers.json"), "old").unwrap();
    open_to_all(&home.join("servers.json"), 0o644);
    open_to_all(&home, 0o555);

    for (name, expected) in [
        ("servers.json", "error: no permission to create `"),
        ("new.json", "error: no permission to create `"),
        ("a/b.json", "error: no permission to create directory `"),
    ] {
        let output = write_as_nobody(folder.path(), &home.join(name));
        assert_eq!(output.status.code(), Some(1), "{name}");
        let text = stderr(&output);
        assert!(text.starts_with(expected), "{name}: {text}");
        assert!(text.contains("hint: check who owns it"), "{name}: {text}");
    }
    assert_eq!(fs::read_to_string(home.join("servers.json")).unwrap(), "old");
    assert_eq!(names(&home), ["servers.json"]);
    open_to_all(&home, 0o755);
}

fn open_to_all(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Root may write anywhere, so the writer runs as a user without permission. It is copied to a folder that
/// this user can reach.
fn write_as_nobody(folder: &Path, file: &Path) -> Output {
    let writer = folder.join(new_tag("writer"));
    fs::copy(example_path("writer"), &writer).unwrap();
    let mut command = Command::new(&writer);
    command.arg("set").arg(file).arg("new");
    if rustix::process::geteuid().is_root() {
        command.uid(65_534).gid(65_534);
    }
    command.output().unwrap()
}

// F73
#[test]
fn file_size_limit_leaves_the_old_file_and_no_temporary_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("servers.json");
    fs::write(&path, "old").unwrap();
    // The signal that comes with the limit would end the process before it could clean up.
    let output = Command::new("/bin/sh")
        .args(["-c", r#"trap "" XFSZ; ulimit -f 2; exec "$0" set "$1" "$2""#])
        .arg(example_path("writer"))
        .arg(&path)
        .arg("x".repeat(50_000))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let expected = format!("error: no space left to write `{}`", path.display());
    assert!(stderr(&output).starts_with(&expected), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names(folder.path()), ["servers.json"]);
}
