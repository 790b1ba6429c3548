//! Run options: servers, settings, rules and variables for one run, in addition to those of files.

use std::path::PathBuf;

use mcparley_model::expand::Env;
use mcparley_model::permission::PermissionMode;

use super::EditorChoice;
use crate::server_entry::ServerEntry;

/// Options of one run, from a command line or an embedding program.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Servers for this run: paths or JSON (`--mcp-config`).
    pub mcp_config: Vec<String>,
    /// Servers for this run, each as `NAME=COMMAND-or-URL` (`--mcp-server`).
    pub mcp_servers: Vec<String>,
    /// Whether only the servers of `--mcp-config` and `--mcp-server` may run (`--strict-mcp-config`).
    pub strict: bool,
    /// Further settings: a path or JSON (`--settings`).
    pub settings: Vec<String>,
    /// The settings to read; absent means all (`--setting-sources`).
    pub setting_sources: Option<Vec<SettingSource>>,
    /// Plugin folders (`--plugin-dir`).
    pub plugin_dirs: Vec<PathBuf>,
    /// The permission mode (`--permission-mode`).
    pub mode: Option<PermissionMode>,
    /// The permission mode if neither the command line nor settings name one; [`PermissionMode::Default`] if absent.
    pub fallback_mode: Option<PermissionMode>,
    /// Permission rules that allow (`--allowed-tools`).
    pub allowed_tools: Vec<String>,
    /// Permission rules that deny (`--disallowed-tools`).
    pub disallowed_tools: Vec<String>,
    /// The tools that are offered, as globs; none means all (`serve --tools`).
    pub offered_tools: Vec<String>,
    /// The folder with the word vectors of the tool search (`--search-vectors`).
    pub search_vectors: Option<PathBuf>,
    /// The editor to connect to, if one is wanted (`--ide`).
    pub ide: Option<EditorChoice>,
    /// Whether the user can be asked.
    pub interactive: bool,
    /// Servers that the embedding program declares.
    pub servers: Vec<(String, ServerEntry)>,
    /// The environment variables for expansion.
    pub env: Env,
}

impl RunOptions {
    /// Options with the environment variables of this process. Variables that are not UTF-8 are left out.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "for programs that ask for their own environment by name")]
    pub fn with_process_env() -> Self {
        let env = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self { env: env.collect(), ..Self::default() }
    }

    /// Adds a server that the embedding program declares.
    #[must_use]
    pub fn with_server(mut self, name: &str, entry: ServerEntry) -> Self {
        self.servers.push((name.to_owned(), entry));
        self
    }
}

/// A group of settings that a run may leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SettingSource {
    /// The user's files.
    User,
    /// The repository's files, `.mcp.json` among them.
    Project,
    /// The user's files for this project.
    Local,
}

impl SettingSource {
    /// All groups.
    pub const ALL: [Self; 3] = [Self::User, Self::Project, Self::Local];

    /// The name of the group on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}
