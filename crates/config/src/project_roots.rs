//! Project folder, and the servers that do not get it as a root.
//!
//! A server of the user whose arguments name a folder was given that folder for every project. Offering the
//! project as a root would replace it.

use std::path::{Path, PathBuf};

use crate::plan::PlannedServer;
use mcparley_model::config::{RootsPolicy, ServerConfig, TransportConfig};
use mcparley_model::scope::Scope;

use crate::paths::Paths;

/// Files and folders that mark a project folder.
const MARKS: [&str; 5] = [".git", ".hg", ".jj", ".mcp.json", ".claude"];

/// The project folder: the one whose settings count, or else the nearest marked one.
///
/// Absent if the working directory is in no project.
#[must_use]
pub fn project_folder(paths: &Paths) -> Option<PathBuf> {
    let is_project = |folder: &&Path| MARKS.iter().any(|mark| folder.join(mark).symlink_metadata().is_ok());
    let candidates = std::iter::once(paths.project.as_path()).chain(paths.folders_above());
    let mut candidates = candidates.filter(|folder| !is_too_wide(folder, &paths.home));
    candidates.find(is_project).map(Path::to_owned)
}

/// Whether a folder is `/`, the home directory, or above it, and so too wide to be meant as a project.
#[must_use]
pub fn is_too_wide(folder: &Path, home: &Path) -> bool {
    let resolved = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (resolved, resolved_home) = (resolved(folder), resolved(home));
    folder.parent().is_none()
        || resolved.parent().is_none()
        || home.starts_with(folder)
        || resolved_home.starts_with(&resolved)
}

/// Withholds roots from user-wide servers whose arguments name a folder.
///
/// These servers have folders of their own for all projects.
pub(crate) fn withhold_roots(servers: &mut [PlannedServer], project: &Path, home: &Path) {
    for server in servers.iter_mut().filter(|server| is_user_wide(server.scope)) {
        if let Some(config) = &mut server.config
            && config.roots == RootsPolicy::Offered
            && !named_folders(config, project, home).is_empty()
        {
            config.roots = RootsPolicy::Withheld;
        }
    }
}

/// Whether servers of a scope run in every project.
fn is_user_wide(scope: Scope) -> bool {
    match scope {
        Scope::Project | Scope::Local => false,
        Scope::Connectors | Scope::Plugin | Scope::User | Scope::Dynamic | Scope::Enterprise => true,
    }
}

/// The folders that the arguments of a local server name.
#[must_use]
pub fn named_folders(config: &ServerConfig, project: &Path, home: &Path) -> Vec<PathBuf> {
    let TransportConfig::Stdio(stdio) = &config.transport else { return Vec::new() };
    let cwd = stdio.cwd.as_ref().map_or_else(|| project.to_owned(), |cwd| project.join(cwd));
    let words = stdio.args.iter().flat_map(|argument| path_words(argument.expose()));
    // `~` reaches the server unexpanded, because no shell runs in between.
    let path = |word: &str| match word.strip_prefix('~') {
        Some(rest) => home.join(rest.trim_start_matches('/')),
        None => cwd.join(word),
    };
    let mut folders: Vec<PathBuf> = words.map(path).filter(|path| path.is_dir()).collect();
    folders.dedup();
    folders
}

/// The words of an argument that may be paths: `--root=/a`, `-v /a:/b` and `src=/a,dst=/b` contain some.
///
/// A word that is not meant as a path, such as a package named like a folder, counts as well: the server then
/// keeps the folders it has.
fn path_words(argument: &str) -> impl Iterator<Item = &str> {
    let parts = if argument.contains("://") { "" } else { argument };
    let separator = |c: char| c.is_whitespace() || matches!(c, '=' | ',' | ':' | ';' | '"' | '\'');
    let is_path = |word: &&str| !word.is_empty() && !word.starts_with('-');
    let inner = parts.split(separator).filter(is_path);
    std::iter::once(argument).filter(is_path).chain(inner)
}

#[cfg(test)]
mod tests;
