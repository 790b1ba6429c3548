//! The place of a client: folder and environment that a local server started for it would get.
//!
//! Variables that differ between two terminals without meaning are left out, because they would keep apart
//! clients that a server cannot tell apart.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use mcparley_model::ancestry::ANCESTRY;
use mcparley_platform::process::ProgramLaunch;

use crate::hash::hash_texts;

#[cfg(test)]
mod tests;

/// The variable that names the project's folder.
pub(super) const PROJECT_FOLDER: &str = "CLAUDE_PROJECT_DIR";

/// Variables without meaning for a server: the kind of terminal, the way mcparley was started, and the
/// bookkeeping of shells.
const NOISE: [&str; 5] = ["TERM", ANCESTRY, "SHLVL", "OLDPWD", "_"];

/// Folders of temporary files. Version managers put one of them on `PATH` for each terminal.
const TEMPORARY_FOLDERS: [&str; 7] =
    ["/tmp", "/var/tmp", "/private/tmp", "/private/var/folders", "/var/folders", "/dev/shm", "/run/user"];

/// Variables that name a further temporary folder.
const TEMPORARY_VARIABLES: [&str; 2] = ["TMPDIR", "XDG_RUNTIME_DIR"];

/// A folder in which the version manager `fnm` makes one folder for each terminal, wherever it is.
const TERMINAL_FOLDER: &str = "fnm_multishells";

/// Hash of the folder and of the environment that a local server would get from a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlaceHash {
    /// Working directory and project folder.
    folder: [u8; 32],
    /// The other variables.
    environment: [u8; 32],
}

impl PlaceHash {
    /// The place of a client that would start its server like this. `is_folder` tells whether a folder of
    /// `PATH` exists.
    #[must_use]
    pub fn from_launch(launch: &ProgramLaunch, is_folder: impl Fn(&Path) -> bool) -> Self {
        // Of two variables with one name the last one counts, as for the child.
        let mut variables: BTreeMap<&OsStr, &OsStr> =
            launch.env.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str())).collect();
        for name in NOISE {
            variables.remove(OsStr::new(name));
        }
        let project = variables.remove(OsStr::new(PROJECT_FOLDER)).map(Path::new);
        let folders =
            [launch.cwd.as_deref(), project].map(|folder| folder.map(normalize_path).unwrap_or_default());
        let folder = hash_texts(folders.iter().map(|folder| folder.as_os_str()));
        let cwd = launch.cwd.as_deref().unwrap_or(Path::new("/"));
        let search_path = clean_search_path(&variables, |folder| is_folder(&cwd.join(folder)));
        if let Some(search_path) = &search_path {
            variables.insert(OsStr::new("PATH"), search_path);
        }
        let environment = hash_texts(variables.into_iter().flat_map(|(name, value)| [name, value]));
        Self { folder, environment }
    }

    /// Whether both clients have the same working directory and project folder.
    #[must_use]
    pub fn has_same_folder(&self, other: &Self) -> bool {
        self.folder == other.folder
    }

    /// Whether both clients would give their server the same variables.
    #[must_use]
    pub fn has_same_environment(&self, other: &Self) -> bool {
        self.environment == other.environment
    }
}

/// The value of `PATH` without doubled, missing and temporary folders; `None` if there is no `PATH`.
fn clean_search_path(
    variables: &BTreeMap<&OsStr, &OsStr>,
    is_folder: impl Fn(&Path) -> bool,
) -> Option<OsString> {
    let named = TEMPORARY_VARIABLES.iter().filter_map(|name| variables.get(OsStr::new(name)));
    // A variable that names `/` would make every folder temporary.
    let named = named.map(Path::new).filter(|folder| folder.is_absolute() && folder.parent().is_some());
    let temporary: Vec<&Path> = named.chain(TEMPORARY_FOLDERS.iter().map(Path::new)).collect();
    let mut kept: Vec<PathBuf> = Vec::new();
    for folder in std::env::split_paths(variables.get(OsStr::new("PATH"))?) {
        let folder = normalize_path(&folder);
        let is_temporary = temporary.iter().any(|temporary| folder.starts_with(temporary))
            || folder.iter().any(|part| part == TERMINAL_FOLDER);
        if !is_temporary && !kept.contains(&folder) && is_folder(&folder) {
            kept.push(folder);
        }
    }
    let mut cleaned = OsString::new();
    for folder in kept {
        cleaned.push(folder);
        cleaned.push(":");
    }
    Some(cleaned)
}

/// A path without doubled and trailing slashes.
fn normalize_path(path: &Path) -> PathBuf {
    path.components().collect()
}
