//! Finds the program a name means.
//!
//! Done before the fork, because searching allocates, and with the server's own `PATH`, because the
//! host's may be another one.

use super::{Launch, SpawnError};
use rustix::fs::{Access, AtFlags, CWD};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The path to execute for `launch`; one with a slash is taken as it is, whether there is something or not.
///
/// # Errors
/// When no folder of its `PATH` has an executable file of that name.
pub fn locate(launch: &Launch) -> Result<PathBuf, SpawnError> {
    if launch.program.as_bytes().contains(&b'/') {
        return Ok(PathBuf::from(&launch.program));
    }
    search(launch)
}

fn search(launch: &Launch) -> Result<PathBuf, SpawnError> {
    let mut unusable = None;
    for candidate in candidates(launch) {
        if !candidate.is_file() {
            continue;
        }
        if is_executable(&candidate) {
            return Ok(candidate);
        }
        unusable.get_or_insert(candidate);
    }
    let program = launch.program.clone();
    Err(match unusable {
        Some(path) => SpawnError::NotExecutable { program: path.into_os_string() },
        None => SpawnError::NotFound { program },
    })
}

/// An entry that is not absolute means "wherever I stand" and would let a cloned project put its own
/// `node` before the real one, so it is left out.
fn candidates(launch: &Launch) -> impl Iterator<Item = PathBuf> {
    let path = launch.env.iter().find(|(name, _)| name == "PATH");
    path.into_iter()
        .flat_map(|(_, value)| std::env::split_paths(value))
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(&launch.program))
}

fn is_executable(path: &Path) -> bool {
    rustix::fs::accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS).is_ok()
}
