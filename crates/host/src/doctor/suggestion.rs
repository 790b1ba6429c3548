//! What this machine can tell about a program that was not found, and a variable that was not passed on.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use mcparley_model::expand::Env;
use mcparley_platform::file::list_dir;
use mcparley_platform::process::{Launch, locate};

use crate::sources::similar_names;

/// How many entries of one folder are looked at; the largest folders of programs have some thousands.
const ENTRIES: usize = 16 * 1024;

/// A shorter name is a word like any other.
const SHORTEST_VARIABLE: usize = 4;

/// The program on the server's `PATH` whose name comes nearest.
pub(super) fn nearest(launch: &Launch) -> Option<String> {
    let program = name(launch)?;
    let mut names = HashSet::new();
    for folder in path(launch) {
        let found = list_dir(&folder, "", ENTRIES).unwrap_or_default();
        names.extend(found.iter().filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())));
    }
    let near = similar_names(program, names.iter().map(String::as_str));
    // Another server's script or a library may stand there too; only what can be started helps.
    let named = |name: &str| Launch { program: name.into(), env: launch.env.clone(), ..Launch::default() };
    near.into_iter().find(|near| locate(&named(near)).is_ok())
}

/// Where the program is, in one of these folders: `~/` is the home directory, and one part may be `*`.
pub(super) fn elsewhere(launch: &Launch, folders: &[String], home: &Path) -> Option<PathBuf> {
    let program = name(launch)?;
    let all = folders.iter().flat_map(|folder| spread(folder, home));
    all.map(|folder| folder.join(program)).find(|path| is_executable(path))
}

/// A variable of the user's that the server does not get, and that one of these lines names.
pub(super) fn variable(launch: &Launch, env: &Env, lines: &[String]) -> Option<String> {
    let is_passed = |name: &str| launch.env.iter().any(|(passed, _)| passed.as_os_str() == OsStr::new(name));
    let part = |character: char| !(character.is_ascii_alphanumeric() || character == '_');
    let words: HashSet<&str> = lines.iter().flat_map(|line| line.split(part)).collect();
    let wanted = |name: &str| name.len() >= SHORTEST_VARIABLE && words.contains(name.to_lowercase().as_str());
    let mut names = env.iter().map(|(name, _)| name).filter(|name| !is_passed(name));
    names.find(|name| wanted(name)).map(str::to_owned)
}

/// Looked up by its name in the one folder it is in, which tells whether it can be executed.
fn is_executable(path: &Path) -> bool {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
    let env = vec![("PATH".into(), folder.as_os_str().to_owned())];
    locate(&Launch { program: name.to_owned(), env, ..Launch::default() }).is_ok()
}

/// The program's name; one with a slash is looked for nowhere else.
fn name(launch: &Launch) -> Option<&str> {
    launch.program.to_str().filter(|program| !program.contains('/') && !program.is_empty())
}

fn path(launch: &Launch) -> Vec<PathBuf> {
    let path = launch.env.iter().find(|(name, _)| name == "PATH");
    let folders = path.map(|(_, value)| std::env::split_paths(value).collect::<Vec<_>>());
    folders.unwrap_or_default().into_iter().filter(|folder| folder.is_absolute()).collect()
}

/// The folders a pattern means, the last first: of several versions the newest is meant, as far as names tell.
fn spread(pattern: &str, home: &Path) -> Vec<PathBuf> {
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
