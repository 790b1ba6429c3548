//! Whether a local server is still the program it was.
//!
//! Who works on a server changes its file and expects to see the change. So what is remembered of it holds only as
//! long as the files that its command names are the same.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use mcparley_model::config::{ServerConfig, Transport};
use mcparley_model::expand::Env;
use mcparley_model::hex::Hex;
use sha2::{Digest, Sha256};

use crate::paths::Paths;

/// The stamp of an entry: of length and time of every file that its command names. Empty for a remote server.
pub(super) fn of(config: &ServerConfig, env: &Env, paths: &Paths) -> String {
    let Transport::Stdio(stdio) = &config.transport else { return String::new() };
    let cwd = stdio.cwd.as_ref().map_or_else(|| paths.project.clone(), |cwd| paths.project.join(cwd));
    let own = stdio.env.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.expose().as_str());
    let program = program(&stdio.command, own.or_else(|| env.get("PATH")), &cwd);
    let arguments = stdio.args.iter().map(|argument| cwd.join(argument.expose()));
    let mut hash = Sha256::new();
    for file in program.into_iter().chain(arguments) {
        add(&file, &mut hash);
    }
    hex(hash)
}

pub(super) fn hex(hash: Sha256) -> String {
    let digest: [u8; 32] = hash.finalize().into();
    Hex(&digest).to_string()
}

/// Where the program is that would be started.
fn program(command: &str, path: Option<&str>, cwd: &Path) -> Option<PathBuf> {
    if command.contains('/') {
        return Some(cwd.join(command));
    }
    let folders = path.unwrap_or_default().split(':').filter(|folder| !folder.is_empty());
    folders.map(|folder| cwd.join(folder).join(command)).find(|candidate| candidate.is_file())
}

/// Identity of what an entry names by a relative path: the same words mean another program in another folder.
///
/// Empty for an entry that means the same in every folder.
pub(super) fn relative_paths(config: &ServerConfig, paths: &Paths) -> Vec<PathBuf> {
    let Transport::Stdio(stdio) = &config.transport else { return Vec::new() };
    let cwd = stdio.cwd.as_ref().map_or_else(|| paths.project.clone(), |cwd| paths.project.join(cwd));
    let command = Path::new(&stdio.command);
    let is_path = stdio.command.contains('/') && command.is_relative();
    let command = is_path.then(|| cwd.join(command));
    let arguments = stdio.args.iter().map(|argument| Path::new(argument.expose().as_str()));
    let is_there = |path: &PathBuf| path.symlink_metadata().is_ok();
    let arguments = arguments.filter(|path| path.is_relative() && !path.as_os_str().is_empty());
    command.into_iter().chain(arguments.map(|path| cwd.join(path)).filter(is_there)).collect()
}

fn add(file: &Path, hash: &mut Sha256) {
    let Ok(meta) = file.metadata() else { return };
    if !meta.is_file() {
        return;
    }
    let modified = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    hash.update(file.as_os_str().as_encoded_bytes());
    hash.update(meta.len().to_le_bytes());
    hash.update(modified.unwrap_or_default().as_nanos().to_le_bytes());
}
