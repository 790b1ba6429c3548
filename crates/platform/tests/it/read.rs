//! The reader refuses input that is not bounded text, and reports the ownership of a file.

use mcparley_platform::file::{FileReadError, FileText, Ownership, read_text};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

const LIMIT: u64 = 64;

fn refusal(path: &Path) -> String {
    read_text(path, LIMIT).unwrap_err().to_string()
}

#[test]
fn a_text_of_our_own_is_read_whole_and_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("servers.json");
    // F78: a byte order mark and foreign line ends are up to the caller.
    fs::write(&path, "\u{feff}{}\r\n").unwrap();
    let expected = FileText { text: "\u{feff}{}\r\n".to_owned(), owner: Ownership::Trusted };
    assert_eq!(read_text(&path, LIMIT).unwrap(), Some(expected));
}

#[test]
fn missing_file_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let dangling = folder.path().join("dangling");
    symlink("nowhere", &dangling).unwrap();
    for path in [folder.path().join("missing"), file.join("below"), dangling] {
        assert_eq!(read_text(&path, LIMIT).unwrap(), None, "{}", path.display());
    }
}

#[test]
fn a_fifo_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &path,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let link = folder.path().join("link");
    symlink(&path, &link).unwrap();
    assert_eq!(refusal(&path), format!("`{}` is a FIFO, not a file", path.display()));
    assert_eq!(refusal(&link), format!("`{}` is a FIFO, not a file", link.display()));
}

#[test]
fn directories_devices_and_sockets_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let listener = UnixListener::bind(&socket).unwrap();
    let table = [(folder.path(), "a directory"), (Path::new("/dev/zero"), "a device"), (&socket, "a socket")];
    for (path, kind) in table {
        let expected = format!("`{}` is {kind}, not a file", path.display());
        assert_eq!(refusal(path), expected);
    }
    drop(listener);
}

#[test]
fn exactly_the_limit_is_read_and_one_byte_more_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("servers.json");
    fs::write(&path, "x".repeat(64)).unwrap();
    assert_eq!(read_text(&path, LIMIT).unwrap().unwrap().text.len(), 64);
    fs::write(&path, "x".repeat(65)).unwrap();
    let expected = format!("`{}` is larger than 64 bytes", path.display());
    assert_eq!(refusal(&path), expected);
}

// F77
#[test]
fn bytes_that_are_not_utf8_are_refused_with_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("servers.json");
    fs::write(&path, b"{\n  \"\xc3\xa4\": \"\xff\"\n}\n").unwrap();
    let error = read_text(&path, LIMIT).unwrap_err();
    let FileReadError::NotUtf8 { line, column, .. } = &error else {
        panic!("unexpected {error:?}");
    };
    assert_eq!((*line, *column), (2, 9));
    assert_eq!(error.path(), path);
    assert!(error.hint().is_some());
}

// B60
#[test]
fn a_file_everyone_may_write_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".mcp.json");
    fs::write(&path, "{}").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    let owner = read_text(&path, LIMIT).unwrap().unwrap().owner;
    assert_eq!(owner, Ownership::WorldWritable { mode: 0o666 });
}

// B60
#[test]
fn a_file_of_another_user_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".mcp.json");
    fs::write(&path, "{}").unwrap();
    assert_eq!(read_text(Path::new("/etc/passwd"), 1 << 20).unwrap().unwrap().owner, Ownership::Trusted);
    // Only root can make a file of another user.
    if crate::support::is_root() {
        std::os::unix::fs::chown(&path, Some(65_534), None).unwrap();
        let owner = read_text(&path, 1 << 20).unwrap().unwrap().owner;
        assert_eq!(owner, Ownership::OtherOwner { uid: 65_534 });
    }
}
