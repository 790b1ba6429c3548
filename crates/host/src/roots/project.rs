//! The project's folder, and which servers are not told of it.
//!
//! A server of the user's own whose arguments name a folder was given that folder, for every project: roots would take it
//! away and put the project in its place.

use std::path::{Path, PathBuf};

use mcparley_model::config::{RootsPolicy, ServerConfig, Transport};
use mcparley_model::plan::Planned;
use mcparley_model::scope::Scope;

use crate::paths::Paths;

/// What makes a folder a project.
const MARKS: [&str; 5] = [".git", ".hg", ".jj", ".mcp.json", ".claude"];

/// The project's folder, if the user stands in one: the one whose settings count, or else the nearest with a mark.
pub(super) fn folder(paths: &Paths) -> Option<PathBuf> {
    let is_project = |folder: &&Path| MARKS.iter().any(|mark| folder.join(mark).symlink_metadata().is_ok());
    let candidates = std::iter::once(paths.project.as_path()).chain(paths.folders_above());
    let mut candidates = candidates.filter(|folder| !is_too_wide(folder, &paths.home));
    candidates.find(is_project).map(Path::to_owned)
}

/// Whether a folder is `/`, the home directory, or above it: nobody means all of that.
pub(crate) fn is_too_wide(folder: &Path, home: &Path) -> bool {
    let resolved = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (resolved, resolved_home) = (resolved(folder), resolved(home));
    folder.parent().is_none()
        || resolved.parent().is_none()
        || home.starts_with(folder)
        || resolved_home.starts_with(&resolved)
}

/// Keeps the offered roots from servers that have folders of their own, for all projects: those of no project whose
/// arguments name one.
pub(crate) fn withhold(servers: &mut [Planned], project: &Path, home: &Path) {
    for server in servers.iter_mut().filter(|server| is_user_wide(server.scope)) {
        if let Some(config) = &mut server.config
            && config.roots == RootsPolicy::Offered
            && !named_folders(config, project, home).is_empty()
        {
            config.roots = RootsPolicy::Withheld;
        }
    }
}

/// Whether servers of a scope run whatever the project is.
fn is_user_wide(scope: Scope) -> bool {
    match scope {
        Scope::Project | Scope::Local => false,
        Scope::Connectors | Scope::Plugin | Scope::User | Scope::Dynamic | Scope::Enterprise => true,
    }
}

/// The folders that the arguments of a local server name.
pub(crate) fn named_folders(config: &ServerConfig, project: &Path, home: &Path) -> Vec<PathBuf> {
    let Transport::Stdio(stdio) = &config.transport else { return Vec::new() };
    let cwd = stdio.cwd.as_ref().map_or_else(|| project.to_owned(), |cwd| project.join(cwd));
    let words = stdio.args.iter().flat_map(|argument| words(argument.expose()));
    // Nobody expands `~` before the server does.
    let path = |word: &str| match word.strip_prefix('~') {
        Some(rest) => home.join(rest.trim_start_matches('/')),
        None => cwd.join(word),
    };
    let mut folders: Vec<PathBuf> = words.map(path).filter(|path| path.is_dir()).collect();
    folders.dedup();
    folders
}

/// The words of an argument that may be paths: `--root=/a`, `-v /a:/b` and `src=/a,dst=/b` have some inside. One that is no
/// path at all, such as the name of a package that is also a folder's, is taken for one too: the server keeps what it has.
fn words(argument: &str) -> impl Iterator<Item = &str> {
    let parts = if argument.contains("://") { "" } else { argument };
    let separator = |c: char| c.is_whitespace() || matches!(c, '=' | ',' | ':' | ';' | '"' | '\'');
    let is_path = |word: &&str| !word.is_empty() && !word.starts_with('-');
    let inner = parts.split(separator).filter(is_path);
    std::iter::once(argument).filter(is_path).chain(inner)
}
