//! The stamp of a local server's files, to detect that its program has changed.
//!
//! A developer who edits a server expects to see the change at once. So cache entries are valid only while
//! the files named in the server's command are unchanged.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use mcparley_model::config::{ServerConfig, TransportConfig};
use mcparley_model::expand::Env;
use mcparley_model::hex::Hex;
use sha2::{Digest, Sha256};

use mcparley_config::Paths;

/// The stamp of an entry: a hash of path, length and modification time of every file in its command. Empty
/// for a remote server.
pub(super) fn files_stamp(config: &ServerConfig, env: &Env, paths: &Paths) -> String {
    let TransportConfig::Stdio(stdio) = &config.transport else { return String::new() };
    let cwd = stdio.cwd.as_ref().map_or_else(|| paths.project.clone(), |cwd| paths.project.join(cwd));
    let own = stdio.env.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.expose().as_str());
    let program = find_program(&stdio.command, own.or_else(|| env.get("PATH")), &cwd);
    let arguments = stdio.args.iter().map(|argument| cwd.join(argument.expose()));
    let mut hash = Sha256::new();
    for file in program.into_iter().chain(arguments) {
        hash_file(&file, &mut hash);
    }
    hex_digest(hash)
}

/// The digest in hexadecimal.
pub(super) fn hex_digest(hash: Sha256) -> String {
    let digest: [u8; 32] = hash.finalize().into();
    Hex(&digest).to_string()
}

/// The path of the program that the command would start, found on `PATH` if it is only a name.
fn find_program(command: &str, path: Option<&str>, cwd: &Path) -> Option<PathBuf> {
    if command.contains('/') {
        return Some(cwd.join(command));
    }
    let folders = path.unwrap_or_default().split(':').filter(|folder| !folder.is_empty());
    folders.map(|folder| cwd.join(folder).join(command)).find(|candidate| candidate.is_file())
}

/// The absolute paths of relative paths in a command: the same command means another program in another
/// folder.
///
/// Empty for an entry that means the same program in every folder.
pub(super) fn relative_paths(config: &ServerConfig, paths: &Paths) -> Vec<PathBuf> {
    let TransportConfig::Stdio(stdio) = &config.transport else { return Vec::new() };
    let cwd = stdio.cwd.as_ref().map_or_else(|| paths.project.clone(), |cwd| paths.project.join(cwd));
    let command = Path::new(&stdio.command);
    let is_path = stdio.command.contains('/') && command.is_relative();
    let command = is_path.then(|| cwd.join(command));
    let arguments = stdio.args.iter().map(|argument| Path::new(argument.expose().as_str()));
    let is_there = |path: &PathBuf| path.symlink_metadata().is_ok();
    let arguments = arguments.filter(|path| path.is_relative() && !path.as_os_str().is_empty());
    command.into_iter().chain(arguments.map(|path| cwd.join(path)).filter(is_there)).collect()
}

/// Adds path, length and modification time of a file to the hash. Missing files and folders are skipped.
fn hash_file(file: &Path, hash: &mut Sha256) {
    let Ok(meta) = file.metadata() else { return };
    if !meta.is_file() {
        return;
    }
    let modified = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    hash.update(file.as_os_str().as_encoded_bytes());
    hash.update(meta.len().to_le_bytes());
    hash.update(modified.unwrap_or_default().as_nanos().to_le_bytes());
}
