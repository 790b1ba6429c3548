//! A home, a project and an administrator's folder of one test's own.

use std::path::{Path, PathBuf};

use mcparley::config::change::{self, ChangeError, ServerChoice};
use mcparley::config::plan::{PlanStatus, PlannedServer};
use mcparley::config::{LoadedConfig, load_config};
use mcparley::model::expand::Env;
use mcparley::{Paths, RunOptions};
use tempfile::TempDir;

/// The environment of a run: files, folders and variables.
pub(crate) struct World {
    pub(crate) root: PathBuf,
    pub(crate) run_options: RunOptions,
    cwd: PathBuf,
    _folder: TempDir,
}

impl World {
    /// An empty home with an empty folder `project` in it, where the user stands.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let cwd = root.join("home/project");
        std::fs::create_dir_all(&cwd).unwrap();
        Self { root, run_options: RunOptions::default(), cwd, _folder: folder }
    }

    /// A world with these files in it.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let world = Self::new();
        for (path, text) in files {
            world.write(path, text);
        }
        world
    }

    /// The same world with the user in another folder.
    pub(crate) fn standing_in(mut self, folder: &str) -> Self {
        self.cwd = self.path(folder);
        std::fs::create_dir_all(&self.cwd).unwrap();
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.run_options.env.set(name, value);
    }

    pub(crate) fn unset_all(&mut self) {
        self.run_options.env = Env::default();
    }

    pub(crate) fn paths(&self) -> Paths {
        let mut paths = Paths::new(&self.path("home"), &self.cwd);
        paths.managed = self.path("managed");
        paths
    }

    pub(crate) fn load(&self) -> LoadedConfig {
        load_config(&self.paths(), &self.run_options)
    }

    /// The plan, one line for each declaration, lowest precedence first.
    pub(crate) fn table(&self) -> Vec<String> {
        self.lines(&self.load())
    }

    pub(crate) fn lines(&self, loaded: &LoadedConfig) -> Vec<String> {
        loaded.plan.servers.iter().map(|server| self.line(server)).collect()
    }

    fn line(&self, server: &PlannedServer) -> String {
        let reason = server.status.reason().map(|reason| format!(": {reason}")).unwrap_or_default();
        let standing = server.status.as_str();
        self.relative(&format!("{} {} {standing}{reason}", server.scope, server.name.as_str()))
    }

    /// The plan status of the strongest declaration of a name.
    pub(crate) fn standing(&self, name: &str) -> PlanStatus {
        let loaded = self.load();
        loaded.plan.servers_by_name(name).first().unwrap().status.clone()
    }

    /// The problems, as people read them.
    pub(crate) fn problems(&self) -> Vec<String> {
        self.load().problems.iter().map(|problem| self.relative(&problem.to_string())).collect()
    }

    /// Settings without effect, as messages.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let warning = |origin: String, text: &str| self.relative(&format!("{origin}: {text}"));
        let loaded = self.load();
        loaded.settings.warnings.iter().map(|w| warning(w.origin.to_string(), &w.text)).collect()
    }

    /// The text without the temporary folder.
    pub(crate) fn relative(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.root.display()), "")
    }

    pub(crate) fn approve(&self, name: &str, seen: Option<&str>) -> Result<ServerChoice, ChangeError> {
        change::approve_server(&self.paths(), &self.load(), name, seen)
    }
}

/// A file of servers that each run a program of their own name.
pub(crate) fn servers(names: &[&str]) -> String {
    let entries: Vec<String> =
        names.iter().map(|name| format!(r#""{name}": {{"command": "{name}"}}"#)).collect();
    format!(r#"{{"mcpServers": {{{}}}}}"#, entries.join(", "))
}

/// A file with one server that runs `command`.
pub(crate) fn server(name: &str, command: &str) -> String {
    format!(r#"{{"mcpServers": {{"{name}": {{"command": "{command}"}}}}}}"#)
}

/// Changes the permission bits of a file.
pub(crate) fn chmod(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}
