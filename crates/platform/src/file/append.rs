//! Appends lines to a log with size-based rotation. A log may lose its oldest lines; it must never grow
//! without end or block its writer.

use super::{FileWriteError, WriteStep};
use rustix::fs::{Mode, OFlags};
use std::fs::{DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Appends `lines` to the log file, which only the owner can read.
///
/// Several processes may do so at once: each call's lines stay together. The file is not synced.
/// A file of more than `limit` bytes is first rotated to `<name>.1`, which replaces the previous one.
///
/// # Errors
/// A [`FileWriteError`]; a symbolic link at the end of the path is refused.
pub fn append_log_lines(path: &Path, lines: &str, limit: u64) -> Result<(), FileWriteError> {
    if let Some(folder) = path.parent() {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|error| FileWriteError::from_io(WriteStep::CreateDirectory, folder, error))?;
    }
    rotate_log(path, limit);
    let flags = OFlags::APPEND | OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(path, flags, Mode::from_raw_mode(0o600));
    let mut file =
        File::from(opened.map_err(|errno| FileWriteError::from_errno(WriteStep::Create, path, errno))?);
    // A single write, so that the lines of two writers never mix.
    file.write_all(lines.as_bytes()).map_err(|error| FileWriteError::from_io(WriteStep::Write, path, error))
}

#[expect(
    clippy::disallowed_methods,
    reason = "a log that is put aside twice at once loses nothing but old lines"
)]
fn rotate_log(path: &Path, limit: u64) {
    if path.symlink_metadata().is_ok_and(|meta| meta.len() > limit) {
        // If another process has rotated the file already, nothing is left to do.
        let _gone = std::fs::rename(path, rotated_log_path(path));
    }
}

/// The path to which a full log is rotated.
pub fn rotated_log_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".1");
    PathBuf::from(name)
}
