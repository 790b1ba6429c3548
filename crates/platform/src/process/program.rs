//! Searches the `PATH` of a launch for its program.
//!
//! Done before the fork, because searching allocates, and with the server's own `PATH`, because the
//! host's may be another one.

use super::{ProgramLaunch, SpawnError};
use rustix::fs::{Access, AtFlags, CWD};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Returns the path to execute for `launch`; a program with a slash is returned as it is, without checking
/// it.
///
/// # Errors
/// When no folder of its `PATH` has an executable file of that name.
pub fn locate_program(launch: &ProgramLaunch) -> Result<PathBuf, SpawnError> {
    if launch.program.as_bytes().contains(&b'/') {
        return Ok(PathBuf::from(&launch.program));
    }
    search_path(launch)
}

fn search_path(launch: &ProgramLaunch) -> Result<PathBuf, SpawnError> {
    let mut unusable = None;
    for candidate in path_candidates(launch) {
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

/// Lists the candidates in the absolute directories of `PATH`. A relative directory would let a cloned
/// project put its own `node` before the real one, so it is left out.
fn path_candidates(launch: &ProgramLaunch) -> impl Iterator<Item = PathBuf> {
    let path = launch.env.iter().find(|(name, _)| name == "PATH");
    path.into_iter()
        .flat_map(|(_, value)| std::env::split_paths(value))
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(&launch.program))
}

fn is_executable(path: &Path) -> bool {
    rustix::fs::accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS).is_ok()
}
