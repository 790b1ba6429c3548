//! Paths of our own directories (XDG) and of the Claude Code files that we share.
//!
//! Pure on purpose: the home directory and the variables come in as values, so that a test or an embedding
//! host can place a whole installation into a folder of its own.

use std::path::{Path, PathBuf};

/// The name of our folder inside each XDG base directory.
const FOLDER: &str = "mcparley";

/// The product's own directories; none of them has to exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directories {
    /// Configuration files, which the user writes and may keep under version control.
    pub config: PathBuf,
    /// State that should survive a restart but not a move to another machine: logs, approvals.
    pub state: PathBuf,
    /// Cached files, which can be deleted at any time.
    pub cache: PathBuf,
    /// Data that should survive a restart and a move to another machine.
    pub data: PathBuf,
    /// Sockets and other files of one login session; `None` without a login session.
    pub runtime: Option<PathBuf>,
}

impl Directories {
    /// Computes the directories from the home directory and the variables, after the XDG base directory
    /// specification.
    ///
    /// A value that is empty or relative counts as unset, as the specification demands.
    pub fn for_home(home: &Path, lookup: impl Fn(&str) -> Option<String>) -> Self {
        let base = |variable: &str| {
            let path = PathBuf::from(lookup(variable)?);
            path.is_absolute().then_some(path)
        };
        let ours = |variable: &str, fallback: &str| {
            base(variable).unwrap_or_else(|| home.join(fallback)).join(FOLDER)
        };
        Self {
            config: ours("XDG_CONFIG_HOME", ".config"),
            state: ours("XDG_STATE_HOME", ".local/state"),
            cache: ours("XDG_CACHE_HOME", ".cache"),
            data: ours("XDG_DATA_HOME", ".local/share"),
            runtime: base("XDG_RUNTIME_DIR").map(|path| path.join(FOLDER)),
        }
    }
}

/// Claude Code's files for one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaudeFiles {
    /// Settings, credentials and plugins: `~/.claude`, or `$CLAUDE_CONFIG_DIR`.
    pub dir: PathBuf,
    /// User and local servers: `~/.claude.json`, or `$CLAUDE_CONFIG_DIR/.claude.json`.
    pub json: PathBuf,
}

impl ClaudeFiles {
    /// Computes the files for this home directory; `config_dir` is the value of `CLAUDE_CONFIG_DIR`, if set.
    pub fn for_home(home: &Path, config_dir: Option<&Path>) -> Self {
        // Users unset a variable by making it empty; joined to an empty path the file would be looked for in
        // the current working directory.
        match config_dir.filter(|dir| !dir.as_os_str().is_empty()) {
            Some(dir) => Self { dir: dir.to_owned(), json: dir.join(".claude.json") },
            None => Self { dir: home.join(".claude"), json: home.join(".claude.json") },
        }
    }
}

#[cfg(test)]
mod tests;
