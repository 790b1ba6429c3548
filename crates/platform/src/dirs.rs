//! Where our files are, and where Claude Code keeps those we share with it.
//!
//! Pure on purpose: home and variables come in as values, so that a test or an embedding host can
//! place a whole installation into a folder of its own.

use std::path::{Path, PathBuf};

/// Our own folder inside each XDG base directory.
const FOLDER: &str = "mcparley";

/// The product's own directories; none of them has to exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directories {
    /// What a person writes and may keep under version control.
    pub config: PathBuf,
    /// What should survive a restart but not a move to another machine: logs, approvals.
    pub state: PathBuf,
    /// What can be deleted at any time.
    pub cache: PathBuf,
    /// What should survive and move along.
    pub data: PathBuf,
    /// Sockets and other things of one login; `None` without a login session.
    pub runtime: Option<PathBuf>,
}

impl Directories {
    /// The directories for this home and these variables, after the XDG base directory specification.
    ///
    /// A value that is empty or relative counts as unset, as the specification demands.
    pub fn of(home: &Path, lookup: impl Fn(&str) -> Option<String>) -> Self {
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
    /// The files for this home; `config_dir` is the value of `CLAUDE_CONFIG_DIR`, if set.
    pub fn of(home: &Path, config_dir: Option<&Path>) -> Self {
        // An empty variable is how people unset one; joined to nothing it would mean the root of
        // whatever directory we happen to stand in.
        match config_dir.filter(|dir| !dir.as_os_str().is_empty()) {
            Some(dir) => Self { dir: dir.to_owned(), json: dir.join(".claude.json") },
            None => Self { dir: home.join(".claude"), json: home.join(".claude.json") },
        }
    }
}

#[cfg(test)]
mod tests;
