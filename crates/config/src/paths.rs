//! Paths of configuration, state and caches in one value.
//!
//! The caller passes them in, because the library never looks at its environment by itself.

use std::path::{Path, PathBuf};

use mcparley_model::limits::WALK_UP_FOLDERS;
use mcparley_platform::dirs::{ClaudeFiles, Directories};

/// Folders and files that a host reads from and writes to.
#[derive(Clone, Debug)]
pub struct Paths {
    /// The working directory of the user.
    pub cwd: PathBuf,
    /// Further folders that servers may work in (`--add-dir`), absolute.
    pub add_dirs: Vec<PathBuf>,
    /// The user's home directory.
    pub home: PathBuf,
    /// The project: the nearest folder with version control, or [`Paths::cwd`].
    pub project: PathBuf,
    /// The user's own Claude Code files: `~/.claude.json` and `~/.claude`.
    pub claude: ClaudeFiles,
    /// The administrator's folder of managed files.
    pub managed: PathBuf,
    /// The folder in which each plugin may store its data.
    pub plugin_data: PathBuf,
    /// The folder of server logs; without it logs stay in memory.
    pub logs: Option<PathBuf>,
    /// The audit file in which every call is recorded; without it no call is recorded, unless settings name a
    /// file.
    pub audit: Option<PathBuf>,
    /// The cache folder for tools, prompts and resources of servers; without it every process asks the
    /// servers itself.
    pub cache: Option<PathBuf>,
    /// The folder of results that are too long for a model; without it they stay in memory.
    pub results: Option<PathBuf>,
    /// The folder of stored sign-ins; without it they stay in memory.
    pub secrets: Option<PathBuf>,
    /// The file that lists calls waiting for the user's permission; without it none are listed.
    pub pending: Option<PathBuf>,
    /// The file of reconnect requests for running hosts; without it no request is written or followed.
    pub reconnects: Option<PathBuf>,
    /// The file of the lines that were typed in the console; without it they are forgotten at its end.
    pub history: Option<PathBuf>,
    /// The executable of the running program, so that no entry starts it again; absent if it does not serve
    /// MCP itself.
    pub executable: Option<PathBuf>,
    /// The approval store: the file with the user's approvals of project folders, outside of all of them.
    pub approvals: PathBuf,
    /// The folder of backups and records of the client files that `connect` changed.
    pub client_setups: PathBuf,
    /// The folder of accepted tool definitions; without it they stay in memory.
    pub trust: Option<PathBuf>,
}

/// The administrator's folder of managed files.
const MANAGED_FOLDER: &str = "/etc/claude-code";

impl Paths {
    /// The default paths of a user with this home directory and this working directory.
    #[must_use]
    pub fn new(home: &Path, cwd: &Path) -> Self {
        Self {
            cwd: cwd.to_owned(),
            add_dirs: Vec::new(),
            home: home.to_owned(),
            project: find_project(cwd, home),
            claude: ClaudeFiles::for_home(home, None),
            managed: PathBuf::from(MANAGED_FOLDER),
            plugin_data: home.join(".local/share/mcparley/plugins"),
            logs: None,
            audit: None,
            cache: None,
            results: None,
            secrets: None,
            pending: None,
            reconnects: None,
            history: None,
            executable: None,
            approvals: home.join(".local/state/mcparley/approvals.json"),
            client_setups: home.join(".local/state/mcparley/connect"),
            trust: None,
        }
    }

    /// The default paths of the current user and the working directory of this process.
    ///
    /// With them an embedding program shares configuration, approvals, caches and sign-ins with the command
    /// line.
    ///
    /// # Errors
    /// When the home directory or the working directory is not known.
    #[expect(clippy::disallowed_methods, reason = "for programs that ask for their own user's paths by name")]
    pub fn for_current_user() -> std::io::Result<Self> {
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        let home = home.ok_or_else(|| std::io::Error::other("the home directory is not known"))?;
        Ok(Self::in_user_directories(&home, &std::env::current_dir()?, |name| std::env::var(name).ok()))
    }

    /// The default paths with state, caches and secrets in the XDG directories that these variables name.
    pub fn in_user_directories(home: &Path, cwd: &Path, variable: impl Fn(&str) -> Option<String>) -> Self {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        // The working directory is canonical. With symbolic links in `home` the search for files would walk
        // past it.
        let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
        let Directories { state, cache, data, .. } = Directories::for_home(&home, variable);
        Self {
            claude: ClaudeFiles::for_home(&home, variable("CLAUDE_CONFIG_DIR").as_deref().map(Path::new)),
            plugin_data: data.join("plugins"),
            logs: Some(state.join("logs")),
            audit: Some(state.join("audit/calls.jsonl")),
            results: Some(cache.join("results")),
            cache: Some(cache),
            secrets: Some(data.join("secrets")),
            pending: Some(state.join("pending.jsonl")),
            reconnects: Some(state.join("reconnect.json")),
            history: Some(state.join("history.txt")),
            approvals: state.join("approvals.json"),
            client_setups: state.join("connect"),
            trust: Some(state.join("trust")),
            ..Self::new(&home, cwd)
        }
    }

    /// The paths of the same user in another working directory.
    #[must_use]
    pub fn with_cwd(&self, cwd: &Path) -> Self {
        Self { cwd: cwd.to_owned(), project: find_project(cwd, &self.home), ..self.clone() }
    }

    /// Uses `trial` as the administrator's folder, unless the machine has managed files.
    ///
    /// An administrator can try out a policy this way. On a machine that already has one it cannot be
    /// replaced.
    #[must_use]
    pub fn with_managed_trial(mut self, trial: &Path) -> Self {
        let managed = |name: &str| self.managed.join(name).symlink_metadata().is_ok();
        if !managed("managed-mcp.json") && !managed("managed-settings.json") && !managed("managed-settings.d")
        {
            self.managed = trial.to_owned();
        }
        self
    }

    /// The user's settings file.
    #[must_use]
    pub fn user_settings(&self) -> PathBuf {
        self.claude.dir.join("settings.json")
    }

    /// The repository's settings file; absent if it would be the same file as the user's.
    #[must_use]
    pub fn project_settings(&self) -> Option<PathBuf> {
        let dir = self.project.join(".claude");
        (dir != self.claude.dir).then(|| dir.join("settings.json"))
    }

    /// The folder of the user's agent files.
    #[must_use]
    pub fn user_agents(&self) -> PathBuf {
        self.claude.dir.join("agents")
    }

    /// The folder of the repository's agent files; absent if it would be the same folder as the user's.
    #[must_use]
    pub fn project_agents(&self) -> Option<PathBuf> {
        let dir = self.project.join(".claude");
        (dir != self.claude.dir).then(|| dir.join("agents"))
    }

    /// Whether a path lies in the project folder, or is a `.mcp.json` that counts for the project.
    ///
    /// The user's own files do not count, even if they lie below the project folder.
    #[must_use]
    pub fn is_in_project(&self, path: &Path) -> bool {
        let is_project_file = self.project_files().any(|file| file == path);
        let is_users = path == self.claude.json || path.starts_with(&self.claude.dir);
        is_project_file || path == self.local_settings() || (path.starts_with(&self.project) && !is_users)
    }

    /// Whether the project folder is the home directory or the root, which are not projects.
    #[must_use]
    pub fn is_home_or_root(&self) -> bool {
        self.project == self.home || self.project.parent().is_none()
    }

    /// The settings file of one user for this project.
    #[must_use]
    pub fn local_settings(&self) -> PathBuf {
        self.project.join(".claude/settings.local.json")
    }

    /// The file of permission rules that are bound to one tool definition.
    #[must_use]
    pub fn trust_rules(&self) -> Option<PathBuf> {
        Some(self.trust.as_ref()?.join("rules.json"))
    }

    /// The key of this project in `projects` of `~/.claude.json`.
    #[must_use]
    pub fn project_key(&self) -> String {
        self.project.to_string_lossy().into_owned()
    }

    /// The folders from the working directory up to the home directory, or to the root when outside of it.
    pub(crate) fn folders_above(&self) -> impl Iterator<Item = &Path> {
        ancestors_up_to_home(&self.cwd, &self.home)
    }

    /// Every path at which a `.mcp.json` counts, nearest first.
    pub fn project_files(&self) -> impl Iterator<Item = PathBuf> + '_ {
        self.folders_above().map(|folder| folder.join(".mcp.json"))
    }
}

/// The folders from `cwd` up to the home directory, or to the root when outside of it.
fn ancestors_up_to_home<'p>(cwd: &'p Path, home: &'p Path) -> impl Iterator<Item = &'p Path> {
    let mut passed_home = false;
    cwd.ancestors().take(WALK_UP_FOLDERS).take_while(move |folder| {
        let wanted = !passed_home;
        passed_home = *folder == home;
        wanted
    })
}

fn find_project(cwd: &Path, home: &Path) -> PathBuf {
    let has_version_control = |folder: &&Path| folder.join(".git").symlink_metadata().is_ok();
    ancestors_up_to_home(cwd, home).find(has_version_control).unwrap_or(cwd).to_owned()
}
