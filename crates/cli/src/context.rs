//! Looks around, once: environment, home, working directory, terminal. Everyone else gets values.
#![expect(clippy::disallowed_methods, reason = "this is the one place that reads the process's surroundings")]

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use mcparley::model::expand::Env;
use mcparley::model::permission::Mode;
use mcparley::{
    Connectors, Editor, HostBuilder, Loaded, NoConnectors, Organisation, Paths, RunOptions, SettingSource,
    Severity, Surroundings, load,
};
use mcparley_auth::browser::{Browser, Desktop, System};
use mcparley_platform::dirs::{ClaudeFiles, Directories};

use crate::args::{Global, SettingSourceArg};
use crate::error::CommandError;

/// Who may keep the key of the vault, and the words for it.
const VAULT_STORAGE: (&str, [&str; 3]) = ("MCPARLEY_VAULT_STORAGE", ["auto", "keyring", "file"]);

/// What no browser is told: these let others in where only the person may go.
const UNTOLD: [&str; 3] = ["MCPARLEY_VAULT_KEY", "MCP_CLIENT_SECRET", "MCPARLEY_CONNECTORS_TOKEN"];

/// Where we are and what was asked for.
pub(crate) struct Context {
    pub(crate) paths: Paths,
    pub(crate) run_options: RunOptions,
    /// Where other programs keep their files.
    pub(crate) config_home: PathBuf,
    /// Whose connectors were fetched.
    pub(crate) organisation: Option<Organisation>,
}

impl Context {
    /// Looks around.
    pub(crate) fn new(global: &Global) -> Result<Self, CommandError> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let home = home(std::env::home_dir())?;
        // The working directory comes without links; with them the search for files would walk past home.
        let home = home.canonicalize().unwrap_or(home);
        let cwd = std::env::current_dir().map_err(|error| CommandError::Unavailable {
            message: format!("the working directory cannot be found: {error}"),
            hint: Some("change to a folder that exists".to_owned()),
        })?;
        let config_dir = global.config_dir.clone().map(|dir| cwd.join(dir));
        let config_dir = config_dir.or_else(|| variable("CLAUDE_CONFIG_DIR").map(PathBuf::from));
        let directories = Directories::of(&home, variable);
        let mut paths = Paths::of(&home, &cwd);
        paths.add_dirs = added(&cwd, &home, &global.add_dir)?;
        paths.claude = ClaudeFiles::of(&home, config_dir.as_deref());
        paths.plugin_data = directories.data.join("plugins");
        paths.logs = Some(directories.state.join("logs"));
        paths.audit = Some(directories.state.join("audit/calls.jsonl"));
        paths.cache = Some(directories.cache.clone());
        paths.results = Some(directories.cache.join("results"));
        paths.secrets = Some(directories.data.join("secrets"));
        paths.approvals = directories.state.join("approvals.json");
        paths.trust = Some(directories.state.join("trust"));
        paths.pending = Some(directories.state.join("pending.jsonl"));
        paths.reconnects = Some(directories.state.join("reconnect.json"));
        paths.executable = std::env::current_exe().ok();
        check_vault_storage(variable(VAULT_STORAGE.0).as_deref())?;
        if let Some(trial) = variable("MCPARLEY_MANAGED_DIR") {
            paths = paths.with_managed_trial(Path::new(&trial));
        }
        let config_home = directories.config.parent().map_or_else(|| home.join(".config"), Path::to_owned);
        Ok(Self { paths, run_options: run_options(global), config_home, organisation: None })
    }

    /// Reads and plans; what the user named for this run must be usable.
    pub(crate) fn load(&self) -> Result<Loaded, CommandError> {
        self.load_with(&NoConnectors)
    }

    /// The same with connectors.
    pub(crate) fn load_with(&self, connectors: &dyn Connectors) -> Result<Loaded, CommandError> {
        let loaded = load(&self.paths, &self.run_options, connectors);
        match loaded.problems.iter().find(|problem| problem.severity == Severity::Given) {
            Some(problem) => Err(CommandError::Source(problem.clone())),
            None => Ok(loaded),
        }
    }

    /// A host of what was loaded, for a person: results are handed over whole, and what a person does is recorded only
    /// where settings say so.
    pub(crate) fn host_for_person(&self, loaded: Loaded) -> HostBuilder {
        let mut paths = self.paths.clone();
        if loaded.settings.audit.is_none() {
            paths.audit = None;
        }
        self.host_in(&paths, loaded).whole_results()
    }

    /// A host of what was loaded, for a model.
    pub(crate) fn host(&self, loaded: Loaded) -> HostBuilder {
        self.host_in(&self.paths, loaded)
    }

    fn host_in(&self, paths: &Paths, loaded: Loaded) -> HostBuilder {
        let identity = loaded.identity();
        HostBuilder::new(paths, loaded)
            .organisation(self.organisation.clone())
            .identity(identity)
            // A command is no session of a model.
            .without_session_hooks()
            .door("cli")
    }

    /// What servers are reached with where there is no host; the same credentials as there.
    pub(crate) fn surroundings(&self, loaded: &Loaded) -> Surroundings {
        Surroundings::new(&loaded.env, &self.paths)
            .with_organisation(self.organisation.clone())
            .with_identity(loaded.identity())
            .with_pin(loaded.settings.pins.in_force())
    }
}

/// The words before the one that a shell wants completed, the program's name first.
pub(crate) fn words_before() -> Vec<std::ffi::OsString> {
    let line: Vec<_> = std::env::args_os().skip_while(|word| word != "--").skip(1).collect();
    // Shells that do not say complete the last one.
    let index = std::env::var("_CLAP_COMPLETE_INDEX").ok().and_then(|index| index.parse().ok());
    let before: usize = index.unwrap_or(line.len().saturating_sub(1));
    line.into_iter().take(before).collect()
}

/// Where the user stands, if that can be told.
pub(crate) fn working_directory() -> Option<PathBuf> {
    std::env::current_dir().ok()
}

/// Whether a person reads what is printed.
pub(crate) fn stdout_is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// Whether a line on standard error can be drawn over.
pub(crate) fn stderr_can_move() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_some_and(|term| term != "dumb")
}

/// Whether a person can be asked.
pub(crate) fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Whether a person types what is read.
pub(crate) fn stdin_is_terminal() -> bool {
    std::io::stdin().is_terminal()
}

/// The person's browser.
pub(crate) fn browser() -> Browser {
    let system = if cfg!(target_os = "macos") {
        System::MacOs
    } else if cfg!(windows) {
        System::Windows
    } else {
        System::Linux
    };
    let is_told = |(name, _): &(std::ffi::OsString, std::ffi::OsString)| !UNTOLD.iter().any(|it| name == it);
    Browser::of(Desktop { system, env: std::env::vars_os().filter(is_told).collect() })
}

/// A word that is misspelt must not have the key kept where nobody wants it.
fn check_vault_storage(word: Option<&str>) -> Result<(), CommandError> {
    let (name, words) = VAULT_STORAGE;
    match word {
        Some(word) if !words.contains(&word) => Err(CommandError::usage(
            format!("`{name}` is none of `{}`", words.join("`, `")),
            "choose one of them, or unset it",
        )),
        Some(_) | None => Ok(()),
    }
}

/// The folders of `--add-dir`. One that is not there is a slip of the pen, and servers would look for it in vain.
fn added(cwd: &Path, home: &Path, folders: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let added = |folder: &PathBuf| match cwd.join(folder).canonicalize() {
        Ok(path) if home.starts_with(&path) => Err(CommandError::usage(
            format!(
                "`{}` is too wide: `/` and the home directory are offered to no server",
                folder.display()
            ),
            "name a folder inside after `--add-dir`; one server alone can have it by `roots` of its entry",
        )),
        Ok(path) if path.is_dir() => Ok(path),
        Ok(_) | Err(_) => Err(CommandError::usage(
            format!("`{}` is not a folder", folder.display()),
            "name a folder that exists after `--add-dir`",
        )),
    };
    folders.iter().map(added).collect()
}

fn home(found: Option<PathBuf>) -> Result<PathBuf, CommandError> {
    found.filter(|home| home.is_absolute()).ok_or_else(|| CommandError::Unavailable {
        message: "the home directory is not known".to_owned(),
        hint: Some("set `HOME` to an absolute path".to_owned()),
    })
}

fn run_options(global: &Global) -> RunOptions {
    let sources =
        |sources: &Vec<SettingSourceArg>| sources.iter().map(|source| setting_source(*source)).collect();
    // Variables that are not text cannot be written into a configuration either.
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    RunOptions {
        mcp_config: global.mcp_config.clone(),
        strict: global.strict_mcp_config,
        settings: global.settings.clone(),
        setting_sources: global.setting_sources.as_ref().map(sources),
        plugin_dirs: global.plugin_dir.clone(),
        mode: global.permission_mode.as_deref().and_then(|word| Mode::parse(word).ok()),
        fallback_mode: None,
        allowed_tools: rules(&global.allowed_tools),
        disallowed_tools: rules(&global.disallowed_tools),
        ide: editor(global, std::env::var("CLAUDE_CODE_SSE_PORT").ok().as_deref()),
        interactive: is_interactive(),
        env: std::env::vars_os().filter_map(text).collect::<Env>(),
    }
}

/// The editor that is asked for, or in whose terminal we are.
fn editor(global: &Global, port: Option<&str>) -> Option<Editor> {
    let here = || port.and_then(|port| port.trim().parse().ok()).map(Editor::Port);
    match (global.ide, global.strict_mcp_config) {
        (true, _) => Some(Editor::Nearest),
        (false, true) => None,
        (false, false) => here(),
    }
}

/// Rules are separated by commas, except inside of a condition.
fn rules(lists: &[String]) -> Vec<String> {
    let mut depth = 0_usize;
    let separator = |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    };
    let text = lists.join(",");
    let rules = text.split(separator).map(str::trim).filter(|rule| !rule.is_empty());
    rules.map(str::to_owned).collect()
}

fn setting_source(source: SettingSourceArg) -> SettingSource {
    match source {
        SettingSourceArg::User => SettingSource::User,
        SettingSourceArg::Project => SettingSource::Project,
        SettingSourceArg::Local => SettingSource::Local,
    }
}
