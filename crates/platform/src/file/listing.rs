//! Lists the files of a drop-in directory such as `managed-settings.d`.

use super::FileReadError;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// Lists the entries of `path` with names ending in `suffix`, sorted by name; empty if there is no directory.
///
/// Hidden names are left out, as a shell's `*` does. A directory with more than `limit` entries is an
/// error: a partial listing could omit the file with the deny rule.
pub fn list_dir(path: &Path, suffix: &str, limit: usize) -> Result<Vec<PathBuf>, FileReadError> {
    let entries = match std::fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(FileReadError::from_io(path, error)),
    };
    let mut found = Vec::new();
    for (seen, entry) in entries.enumerate() {
        if seen == limit {
            let path = path.to_owned();
            return Err(FileReadError::TooMany { path, limit });
        }
        let entry = entry.map_err(|source| FileReadError::from_io(path, source))?;
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
