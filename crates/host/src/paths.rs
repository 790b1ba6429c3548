//! Paths of configuration, state and caches as one value: the library never looks around by itself.

use std::path::{Path, PathBuf};

use mcparley_model::limits::WALK_UP_FOLDERS;
use mcparley_platform::dirs::ClaudeFiles;

/// Folders and files that a host reads from and writes to.
#[derive(Clone, Debug)]
pub struct Paths {
    /// Where the user stands.
    pub cwd: PathBuf,
    /// Other folders that servers are told to work in (`--add-dir`), absolute.
    pub add_dirs: Vec<PathBuf>,
    /// The user's home directory.
    pub home: PathBuf,
    /// The project: the nearest folder with version control, or [`Paths::cwd`].
    pub project: PathBuf,
    /// The user's own files.
    pub claude: ClaudeFiles,
    /// The administrator's folder.
    pub managed: PathBuf,
    /// Where plugins may keep data of their own.
    pub plugin_data: PathBuf,
    /// Where the logs of servers are kept; without a folder they are kept in memory only.
    pub logs: Option<PathBuf>,
    /// The file that every call is recorded in; without one none is, unless settings name one.
    pub audit: Option<PathBuf>,
    /// Where it is remembered what servers offer; without a folder every process asks them itself.
    pub cache: Option<PathBuf>,
    /// Where results are kept that are too long for a model; without a folder they are kept in memory only.
    pub results: Option<PathBuf>,
    /// Where sign-ins are kept; without a folder they are kept in memory only.
    pub secrets: Option<PathBuf>,
    /// The file that calls are noted in which wait for a person's permission; without one none are.
    pub pending: Option<PathBuf>,
    /// The file that requests to reconnect servers are left in for running hosts; without one none are left or followed.
    pub reconnects: Option<PathBuf>,
    /// The file of the running program, so that no entry starts it again; none if it serves no MCP itself.
    pub executable: Option<PathBuf>,
    /// The file that holds what a person has approved of project folders, outside of all of them.
    pub approvals: PathBuf,
    /// Where it is kept what a person has accepted about tools; without a folder it is kept in memory only.
    pub trust: Option<PathBuf>,
}

/// The administrator's folder on this system (C5).
fn system_managed_dir() -> &'static Path {
    Path::new(if cfg!(target_os = "macos") {
        "/Library/Application Support/ClaudeCode"
    } else if cfg!(windows) {
        r"C:\Program Files\ClaudeCode"
    } else {
        "/etc/claude-code"
    })
}

impl Paths {
    /// The usual paths of a user with this home who stands in `cwd`.
    #[must_use]
    pub fn of(home: &Path, cwd: &Path) -> Self {
        Self {
            cwd: cwd.to_owned(),
            add_dirs: Vec::new(),
            home: home.to_owned(),
            project: project_of(cwd, home),
            claude: ClaudeFiles::of(home, None),
            managed: system_managed_dir().to_owned(),
            plugin_data: home.join(".local/share/mcparley/plugins"),
            logs: None,
            audit: None,
            cache: None,
            results: None,
            secrets: None,
            pending: None,
            reconnects: None,
            executable: None,
            approvals: home.join(".local/state/mcparley/approvals.json"),
            trust: None,
        }
    }

    /// The same paths for a user who stands in another folder.
    #[must_use]
    pub fn standing_in(&self, cwd: &Path) -> Self {
        Self { cwd: cwd.to_owned(), project: project_of(cwd, &self.home), ..self.clone() }
    }

    /// Takes `trial` for the administrator's folder, unless the machine has managed files.
    ///
    /// Lets an administrator try a policy; a machine that has one cannot be talked out of it.
    #[must_use]
    pub fn with_managed_trial(mut self, trial: &Path) -> Self {
        let managed = |name: &str| self.managed.join(name).symlink_metadata().is_ok();
        if !managed("managed-mcp.json") && !managed("managed-settings.json") && !managed("managed-settings.d")
        {
            self.managed = trial.to_owned();
        }
        self
    }

    /// The user's settings.
    #[must_use]
    pub fn user_settings(&self) -> PathBuf {
        self.claude.dir.join("settings.json")
    }

    /// The repository's settings; absent where they would be the user's.
    #[must_use]
    pub fn project_settings(&self) -> Option<PathBuf> {
        let dir = self.project.join(".claude");
        (dir != self.claude.dir).then(|| dir.join("settings.json"))
    }

    /// Where the user describes agents.
    #[must_use]
    pub fn user_agents(&self) -> PathBuf {
        self.claude.dir.join("agents")
    }

    /// Where the repository describes agents; absent where they would be the user's.
    #[must_use]
    pub fn project_agents(&self) -> Option<PathBuf> {
        let dir = self.project.join(".claude");
        (dir != self.claude.dir).then(|| dir.join("agents"))
    }

    /// Whether a path lies below the project folder or in a folder whose `.mcp.json` counts for the project.
    #[must_use]
    pub fn is_in_project(&self, path: &Path) -> bool {
        let is_project_file = self.project_files().any(|file| file == path);
        let is_users = path == self.claude.json || path.starts_with(&self.claude.dir);
        is_project_file || path == self.local_settings() || (path.starts_with(&self.project) && !is_users)
    }

    /// Whether the project is the home folder or the root, which are no projects of their own.
    #[must_use]
    pub fn is_home_or_root(&self) -> bool {
        self.project == self.home || self.project.parent().is_none()
    }

    /// The settings for this project that are meant for one user.
    #[must_use]
    pub fn local_settings(&self) -> PathBuf {
        self.project.join(".claude/settings.local.json")
    }

    /// The file with the rules that hold for one definition of a tool only.
    #[must_use]
    pub fn trust_rules(&self) -> Option<PathBuf> {
        Some(self.trust.as_ref()?.join("rules.json"))
    }

    /// The key of this project in `projects` of `~/.claude.json`.
    #[must_use]
    pub fn project_key(&self) -> String {
        self.project.to_string_lossy().into_owned()
    }

    /// The folders from where the user stands up to the home directory, or to the root when outside of it.
    pub(crate) fn folders_above(&self) -> impl Iterator<Item = &Path> {
        ancestors(&self.cwd, &self.home)
    }

    /// Every place a `.mcp.json` counts, nearest first (C3).
    pub fn project_files(&self) -> impl Iterator<Item = PathBuf> + '_ {
        self.folders_above().map(|folder| folder.join(".mcp.json"))
    }
}

/// The folders from `cwd` up to the home directory, or to the root when outside of it.
fn ancestors<'p>(cwd: &'p Path, home: &'p Path) -> impl Iterator<Item = &'p Path> {
    let mut passed_home = false;
    cwd.ancestors().take(WALK_UP_FOLDERS).take_while(move |folder| {
        let wanted = !passed_home;
        passed_home = *folder == home;
        wanted
    })
}

fn project_of(cwd: &Path, home: &Path) -> PathBuf {
    let has_version_control = |folder: &&Path| folder.join(".git").symlink_metadata().is_ok();
    ancestors(cwd, home).find(has_version_control).unwrap_or(cwd).to_owned()
}
