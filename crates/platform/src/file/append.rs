//! Adds lines to a log. A log may lose its oldest lines; it must never grow without end or hold up its writer.

use super::{Step, WriteError};
use rustix::fs::{Mode, OFlags};
use std::fs::{DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Adds `lines` to the file, for the owner alone. Several processes may do so at once: each call's lines stay
/// together. Nothing is synced.
///
/// A file of more than `limit` bytes is put aside first, as `<name>.1`, in the place of the one put aside before.
///
/// # Errors
/// A [`WriteError`]; whatever is a symbolic link at the end of the path is refused.
pub fn append(path: &Path, lines: &str, limit: u64) -> Result<(), WriteError> {
    if let Some(folder) = path.parent() {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|error| WriteError::io(Step::CreateDirectory, folder, error))?;
    }
    put_aside(path, limit);
    let flags = OFlags::APPEND | OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(path, flags, Mode::from_raw_mode(0o600));
    let mut file = File::from(opened.map_err(|errno| WriteError::of(Step::Create, path, errno))?);
    // One write, so that the lines of two writers never mix.
    file.write_all(lines.as_bytes()).map_err(|error| WriteError::io(Step::Write, path, error))
}

#[expect(
    clippy::disallowed_methods,
    reason = "a log that is put aside twice at once loses nothing but old lines"
)]
fn put_aside(path: &Path, limit: u64) {
    if path.symlink_metadata().is_ok_and(|meta| meta.len() > limit) {
        // Should another process have been faster, there is nothing left to do.
        let _gone = std::fs::rename(path, aside(path));
    }
}

/// Where a log is put aside.
pub fn aside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".1");
    PathBuf::from(name)
}
