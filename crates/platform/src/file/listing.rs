//! Lists the files of a drop-in directory such as `managed-settings.d`.

use super::ReadError;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// The entries of `path` whose names end with `suffix`, sorted by name; none if there is no directory.
///
/// Hidden names are left out, as a shell's `*` does. Looking at more than `limit` entries is an
/// error: half a drop-in directory could be the half without the rule that forbids something.
pub fn list_dir(path: &Path, suffix: &str, limit: usize) -> Result<Vec<PathBuf>, ReadError> {
    let entries = match std::fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(ReadError::io(path, error)),
    };
    let mut found = Vec::new();
    for (seen, entry) in entries.enumerate() {
        if seen == limit {
            let path = path.to_owned();
            return Err(ReadError::TooMany { path, limit });
        }
        let entry = entry.map_err(|source| ReadError::io(path, source))?;
        if is_wanted(&entry.file_name(), suffix) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

fn is_wanted(name: &OsStr, suffix: &str) -> bool {
    let name = name.as_encoded_bytes();
    name.ends_with(suffix.as_bytes()) && !name.starts_with(b".")
}
