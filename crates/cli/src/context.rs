//! Reads environment, home, working directory and terminal once; all other code gets these as values.
#![expect(clippy::disallowed_methods, reason = "this is the one place that reads the process environment")]

use std::io::IsTerminal;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use mcparley::auth::IdentitySettings;
use mcparley::config::{EditorChoice, LoadedConfig, SettingSource, Severity, load_config};
use mcparley::model::permission::PermissionMode;
use mcparley::pool::attach::DaemonLink;
use mcparley::pool::attach::protocol::COMMAND_SESSION;
use mcparley::pool::connect::ConnectContext;
use mcparley::pool::organization::Organization;
use mcparley::{HostBuilder, Paths, RunOptions};
use mcparley_auth::browser::{Browser, DesktopSession};
use mcparley_console::dialog::TerminalDialogs;
use mcparley_conversation::{ModelChoice, ModelChoiceError, ModelClient};
use mcparley_daemon::{DaemonCalls, DaemonPaths};
use mcparley_platform::dirs::{ClaudeFiles, Directories};
use mcparley_report::SharingNotes;
use mcparley_wire::transport::http::{Network, NetworkSettings};

use crate::args::{GlobalOptions, SettingSourceArg};
use crate::daemon_link::{daemon_starter, open_link};
use crate::error::{CommandError, UnavailableError, UsageError};

/// The environment variable for the storage of the vault key, and its values.
const VAULT_STORAGE: (&str, &[&str]) = ("MCPARLEY_VAULT_STORAGE", &["auto", "keyring", "file"]);

/// The environment variable that turns the daemon off, as `--no-daemon` does.
const NO_DAEMON: &str = "MCPARLEY_NO_DAEMON";

/// Environment variables that hold secrets and are not passed to the browser.
const UNTOLD: [&str; 4] =
    ["MCPARLEY_VAULT_KEY", "MCP_CLIENT_SECRET", "MCP_XAA_IDP_CLIENT_SECRET", "MCPARLEY_CONNECTORS_TOKEN"];

/// The paths and options of this run.
pub(crate) struct Context {
    pub(crate) paths: Paths,
    pub(crate) run_options: RunOptions,
    /// The folder of other programs' configuration files, usually `~/.config`.
    pub(crate) config_home: PathBuf,
    /// The organization, if its connectors were fetched.
    pub(crate) organization: Option<Organization>,
    /// The paths of the daemon.
    pub(crate) daemon_paths: DaemonPaths,
    /// Whether the daemon is used.
    uses_daemon: bool,
    /// The session, to which servers with state belong. Commands of one project share it.
    session: String,
}

impl Context {
    /// Reads the process environment and resolves all paths.
    pub(crate) fn new(global: &GlobalOptions) -> Result<Self, CommandError> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let home = home_directory(std::env::home_dir())?;
        let cwd = std::env::current_dir().map_err(UnavailableError::WorkingDirectory)?;
        let mut paths = Paths::in_user_directories(&home, &cwd, variable);
        let (home, directories) = (paths.home.clone(), Directories::for_home(&paths.home, variable));
        paths.add_dirs = resolve_added_folders(&cwd, &home, &global.add_dir)?;
        if let Some(dir) = &global.config_dir {
            paths.claude = ClaudeFiles::for_home(&home, Some(&cwd.join(dir)));
        }
        paths.executable = std::env::current_exe().ok();
        check_vault_storage(variable(VAULT_STORAGE.0).as_deref())?;
        if let Some(trial) = variable("MCPARLEY_MANAGED_DIR") {
            paths = paths.with_managed_trial(Path::new(&trial));
        }
        let config_home = directories.config.parent().map_or_else(|| home.join(".config"), Path::to_owned);
        let daemon_paths = DaemonPaths::new(&directories);
        let is_off = global.no_daemon || variable(NO_DAEMON).is_some_and(|value| value != "0");
        let uses_daemon = !is_off && daemon_paths.is_enabled();
        let session = format!("{COMMAND_SESSION}{}", paths.project.display());
        let run_options = run_options(global);
        Ok(Self { paths, run_options, config_home, organization: None, daemon_paths, uses_daemon, session })
    }

    /// Begins a session of its own, for a command that runs on and may call servers with state.
    pub(crate) fn begin_session(&mut self) {
        self.session = mcparley_platform::random::random_id();
    }

    /// The link to the daemon, if it is used.
    pub(crate) fn daemon(&self) -> Option<DaemonLink> {
        self.uses_daemon.then(|| self.daemon_link())
    }

    /// Explains which servers the daemon shares.
    pub(crate) fn sharing_notes(&self) -> SharingNotes {
        match self.uses_daemon {
            true => SharingNotes::for_daemon(self.daemon_paths.traits.parent()),
            false => SharingNotes::without_daemon(),
        }
    }

    /// Gives durable calls to the daemon, which is started for them; `None` without the path of this program.
    pub(crate) fn daemon_calls(&self) -> Option<DaemonCalls> {
        let starter = daemon_starter(self.paths.executable.clone()?, &self.run_options.env);
        Some(DaemonCalls::new(self.daemon_paths.clone(), self.daemon_link(), starter))
    }

    /// The link to the daemon, also if it is used for nothing else.
    pub(crate) fn daemon_link(&self) -> DaemonLink {
        let starter = || Some(daemon_starter(self.paths.executable.clone()?, &self.run_options.env));
        open_link(&self.daemon_paths, &self.session, starter())
    }

    /// Loads the configuration and plans the servers.
    ///
    /// # Errors
    /// [`CommandError::Source`] if a file named on the command line cannot be used; problems of other files
    /// are reported beside the plan.
    pub(crate) fn load(&self) -> Result<LoadedConfig, CommandError> {
        let loaded = load_config(&self.paths, &self.run_options);
        match loaded.problems.iter().find(|problem| problem.severity == Severity::Given) {
            Some(problem) => Err(CommandError::Source(problem.clone())),
            None => Ok(loaded),
        }
    }

    /// A host for a command that the user runs: results are not shortened, and calls are audited only if the
    /// settings enable auditing.
    pub(crate) fn host_for_user(
        &self,
        loaded: LoadedConfig,
        dialogs: Option<TerminalDialogs>,
    ) -> HostBuilder {
        let mut paths = self.paths.clone();
        if loaded.settings.audit.is_none() {
            paths.audit = None;
        }
        self.build_host(&paths, loaded, dialogs).without_result_limit()
    }

    /// A host with the limits and the audit log that apply to a model.
    pub(crate) fn host_for_model(
        &self,
        loaded: LoadedConfig,
        dialogs: Option<TerminalDialogs>,
    ) -> HostBuilder {
        self.build_host(&self.paths, loaded, dialogs)
    }

    /// Builds a host. With dialogs, servers and rules can ask the user; every command offers servers the same,
    /// so that `tools` lists the tools that `call` can call.
    fn build_host(
        &self,
        paths: &Paths,
        loaded: LoadedConfig,
        dialogs: Option<TerminalDialogs>,
    ) -> HostBuilder {
        let identity = loaded.identity_provider().map(IdentitySettings::from);
        let builder = HostBuilder::new(paths, loaded)
            .organization(self.organization.clone())
            .identity_settings(identity)
            .daemon(self.daemon())
            // Session hooks are for sessions of a model; a command is none.
            .without_session_hooks()
            .entry_point("cli");
        match dialogs {
            Some(dialogs) => builder.approver(dialogs.clone()).elicitor(dialogs.clone()).page_opener(dialogs),
            None => builder,
        }
    }

    /// A client for the model that `named` or the environment names; `None` if no model is configured.
    ///
    /// Variables of the project folder do not count: they could send the user's key to another address.
    pub(crate) fn model_client(
        &self,
        loaded: &LoadedConfig,
        named: Option<&str>,
    ) -> Result<Option<ModelClient>, ModelChoiceError> {
        let variable = |name: &str| {
            let env = if loaded.is_own_variable(name) { &loaded.env } else { &self.run_options.env };
            env.get(name).map(str::to_owned)
        };
        let choice = match named {
            Some(named) => Some(ModelChoice::select(named, variable)?),
            None => ModelChoice::from_env(variable)?,
        };
        let network = Network::new(NetworkSettings::from_lookup(variable));
        Ok(choice.map(|choice| ModelClient::new(choice, network)))
    }

    /// A file or folder of gateways in the state folder.
    pub(crate) fn gateway_path(&self, name: &str) -> PathBuf {
        self.paths.approvals.with_file_name("gateway").join(name)
    }

    /// The folder of the control sockets of gateways.
    pub(crate) fn control_folder(&self) -> PathBuf {
        self.gateway_path("control")
    }

    /// The context to connect to servers without a host, with the same credentials.
    pub(crate) fn connect_context(&self, loaded: &LoadedConfig) -> ConnectContext {
        let mut context = ConnectContext::new(&loaded.env, &self.paths)
            .with_organization(self.organization.clone())
            .with_identity(loaded.identity_provider().map(IdentitySettings::from))
            .with_pin(loaded.settings.pins.effective_pin());
        context.dialer.daemon = self.daemon();
        context
    }
}

/// The words before the one that the shell completes, beginning with the program name.
pub(crate) fn words_before() -> Vec<std::ffi::OsString> {
    let line: Vec<_> = std::env::args_os().skip_while(|word| word != "--").skip(1).collect();
    // Shells that pass no index complete the last word.
    let index = std::env::var("_CLAP_COMPLETE_INDEX").ok().and_then(|index| index.parse().ok());
    let before: usize = index.unwrap_or(line.len().saturating_sub(1));
    line.into_iter().take(before).collect()
}

/// The working directory, if it exists.
pub(crate) fn working_directory() -> Option<PathBuf> {
    std::env::current_dir().ok()
}

/// Whether standard output is a terminal.
pub(crate) fn stdout_is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// The width of standard output in columns: that of the terminal, or `COLUMNS`.
pub(crate) fn stdout_columns() -> Option<usize> {
    let named = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    mcparley_platform::terminal::stdout_columns().or_else(named)
}

/// Whether a line on standard error can be redrawn, as the progress line is.
pub(crate) fn stderr_can_move() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_some_and(|term| term != "dumb")
}

/// Whether the user can be asked a question: standard input and standard error are terminals.
pub(crate) fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Whether a full-screen program can run: standard input and output are a terminal that moves its cursor.
pub(crate) fn is_on_terminal() -> bool {
    let can_move = std::env::var_os("TERM").is_some_and(|term| term != "dumb");
    stdin_is_terminal() && stdout_is_terminal() && can_move
}

/// Whether standard input is a terminal.
pub(crate) fn stdin_is_terminal() -> bool {
    std::io::stdin().is_terminal()
}

/// Whether standard input is a file or a pipe, as in `… | mcparley call`.
pub(crate) fn stdin_has_data() -> bool {
    let kind = std::fs::metadata("/dev/stdin").map(|metadata| metadata.file_type());
    kind.is_ok_and(|kind| kind.is_file() || kind.is_fifo())
}

/// The user's browser, without environment variables that hold secrets.
pub(crate) fn user_browser() -> Browser {
    let is_told = |(name, _): &(std::ffi::OsString, std::ffi::OsString)| !UNTOLD.iter().any(|it| name == it);
    Browser::for_desktop(DesktopSession { env: std::env::vars_os().filter(is_told).collect() })
}

/// Checks the value of the storage variable: a misspelled one must not store the key in an unwanted place.
fn check_vault_storage(word: Option<&str>) -> Result<(), UsageError> {
    let (name, words) = VAULT_STORAGE;
    match word {
        Some(word) if !words.contains(&word) => Err(UsageError::UnknownValue { name, words }),
        Some(_) | None => Ok(()),
    }
}

/// Resolves the folders of `--add-dir`. A missing folder is an error, since it is most likely misspelled.
fn resolve_added_folders(cwd: &Path, home: &Path, folders: &[PathBuf]) -> Result<Vec<PathBuf>, UsageError> {
    let resolve = |folder: &PathBuf| match cwd.join(folder).canonicalize() {
        Ok(path) if home.starts_with(&path) => Err(UsageError::FolderTooWide { folder: folder.clone() }),
        Ok(path) if path.is_dir() => Ok(path),
        Ok(_) | Err(_) => Err(UsageError::AddedFolderMissing { folder: folder.clone() }),
    };
    folders.iter().map(resolve).collect()
}

fn home_directory(found: Option<PathBuf>) -> Result<PathBuf, UnavailableError> {
    found.filter(|home| home.is_absolute()).ok_or(UnavailableError::HomeDirectory)
}

fn run_options(global: &GlobalOptions) -> RunOptions {
    let sources =
        |sources: &Vec<SettingSourceArg>| sources.iter().map(|source| setting_source(*source)).collect();
    RunOptions {
        mcp_config: global.mcp_config.clone(),
        mcp_servers: global.mcp_server.clone(),
        strict: global.strict_mcp_config,
        settings: global.settings.clone(),
        setting_sources: global.setting_sources.as_ref().map(sources),
        plugin_dirs: global.plugin_dir.clone(),
        search_vectors: global.search_vectors.clone(),
        mode: global.permission_mode.as_deref().and_then(|word| PermissionMode::parse(word).ok()),
        allowed_tools: split_rules(&global.allowed_tools),
        disallowed_tools: split_rules(&global.disallowed_tools),
        ide: requested_editor(global, std::env::var("CLAUDE_CODE_SSE_PORT").ok().as_deref()),
        interactive: is_interactive(),
        ..RunOptions::with_process_env()
    }
}

/// The editor to connect to: requested by `--ide`, or the one that owns this terminal.
fn requested_editor(global: &GlobalOptions, port: Option<&str>) -> Option<EditorChoice> {
    let here = || port.and_then(|port| port.trim().parse().ok()).map(EditorChoice::Port);
    match (global.ide, global.strict_mcp_config) {
        (true, _) => Some(EditorChoice::Nearest),
        (false, true) => None,
        (false, false) => here(),
    }
}

/// Splits lists of permission rules at commas, except inside of a condition in parentheses.
fn split_rules(lists: &[String]) -> Vec<String> {
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
