//! Suggestions from this machine: similar programs, other installation folders, variables not passed to the
//! server.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use mcparley_model::expand::Env;
use mcparley_platform::file::list_dir;
use mcparley_platform::process::{ProgramLaunch, locate_program};

use mcparley_model::similar::similar_names;

/// The limit of entries read from one folder; the largest `bin` folders have some thousands.
const ENTRIES: usize = 16 * 1024;

/// The minimum length of a variable name; shorter names are too often ordinary words.
const SHORTEST_VARIABLE: usize = 4;

/// The program on the server's `PATH` with the most similar name.
pub(crate) fn nearest_program(launch: &ProgramLaunch) -> Option<String> {
    let program = program_name(launch)?;
    let mut names = HashSet::new();
    for folder in path_folders(launch) {
        let found = list_dir(&folder, "", ENTRIES).unwrap_or_default();
        names.extend(found.iter().filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())));
    }
    let near = similar_names(program, names.iter().map(String::as_str));
    // Folders on `PATH` also contain libraries and data; only an executable helps.
    let named = |name: &str| ProgramLaunch {
        program: name.into(),
        env: launch.env.clone(),
        ..ProgramLaunch::default()
    };
    near.into_iter().find(|near| locate_program(&named(near)).is_ok())
}

/// The path of the program in one of these folders: `~/` is the home directory, and one component may be `*`.
pub(crate) fn find_elsewhere(launch: &ProgramLaunch, folders: &[String], home: &Path) -> Option<PathBuf> {
    let program = program_name(launch)?;
    let all = folders.iter().flat_map(|folder| expand_pattern(folder, home));
    all.map(|folder| folder.join(program)).find(|path| is_executable(path))
}

/// An environment variable of the user that one of these lines mentions and that is not passed to the server.
pub(crate) fn find_variable(launch: &ProgramLaunch, env: &Env, lines: &[String]) -> Option<String> {
    let is_passed = |name: &str| launch.env.iter().any(|(passed, _)| passed.as_os_str() == OsStr::new(name));
    let part = |character: char| !(character.is_ascii_alphanumeric() || character == '_');
    let words: HashSet<&str> = lines.iter().flat_map(|line| line.split(part)).collect();
    let wanted = |name: &str| name.len() >= SHORTEST_VARIABLE && words.contains(name.to_lowercase().as_str());
    let mut names = env.iter().map(|(name, _)| name).filter(|name| !is_passed(name));
    names.find(|name| wanted(name)).map(str::to_owned)
}

/// Whether a path is an executable file, decided by a `PATH` lookup restricted to its folder.
fn is_executable(path: &Path) -> bool {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
    let env = vec![("PATH".into(), folder.as_os_str().to_owned())];
    locate_program(&ProgramLaunch { program: name.to_owned(), env, ..ProgramLaunch::default() }).is_ok()
}

/// The program name; `None` for a path, which is not looked up on `PATH`.
fn program_name(launch: &ProgramLaunch) -> Option<&str> {
    launch.program.to_str().filter(|program| !program.contains('/') && !program.is_empty())
}

fn path_folders(launch: &ProgramLaunch) -> Vec<PathBuf> {
    let path = launch.env.iter().find(|(name, _)| name == "PATH");
    let folders = path.map(|(_, value)| std::env::split_paths(value).collect::<Vec<_>>());
    folders.unwrap_or_default().into_iter().filter(|folder| folder.is_absolute()).collect()
}

/// The folders that match a pattern, in descending order, so that the newest of several versions comes first.
fn expand_pattern(pattern: &str, home: &Path) -> Vec<PathBuf> {
    let whole = match pattern.strip_prefix("~/") {
        Some(below) => home.join(below),
        None => PathBuf::from(pattern),
    };
    let Some((before, behind)) = whole.to_str().and_then(|whole| whole.split_once("/*/")) else {
        return vec![whole];
    };
    let versions = list_dir(Path::new(before), "", ENTRIES).unwrap_or_default();
    versions.into_iter().rev().map(|version| version.join(behind)).collect()
}
