//! Loads every source of servers and settings and passes them to the plan.
//!
//! A file that cannot be read becomes a [`ConfigProblem`] and does not affect the others, except a managed
//! file, which stops every server. The plan status of the declarations is decided by `crate::plan`.

mod agent;
mod agent_view;
mod approval;
mod command_line;
mod connector;
mod file;
mod file_cache;
mod git_tracked;
mod ide;
mod identity;
mod installed_plugins;
mod last_known_good;
mod managed;
mod plugin;
mod programs;
mod run_options;
mod search;

use std::path::PathBuf;
use std::sync::Arc;

use crate::plan::{Enterprise, Plan, PlanContext, PlanStatus, ServerDeclaration};
use mcparley_model::ancestry::{ANCESTRY, Ancestry};
use mcparley_model::approval::{Interactivity, Provenance};
use mcparley_model::config::{RawServer, Spanned};
use mcparley_model::document::{JsonDocument, Node};
use mcparley_model::expand::Env;
use mcparley_model::glob::Glob;
use mcparley_model::name::ServerName;
use mcparley_model::program::ProgramFinder;
use mcparley_model::scope::{ConfigOrigin, Scope, Source};
use mcparley_model::settings::{AuditSetting, MergedSettings, SettingsLayer};
use mcparley_model::similar::similar_names;

use crate::agent_spec::BUILT_IN_SERVER;
use crate::paths::Paths;
use crate::project_roots::withhold_roots;
use file::ConfigSource;
use programs::ProgramLocator;

pub use agent::{Agents, UnknownAgent, load_agents, load_agents_without};
pub use agent_view::{MissingServer, suggest_similar};
pub use connector::{Connector, ConnectorList};
pub use file::{ConfigProblem, Severity};
use file_cache::FileCache;
pub use file_cache::FilesFingerprint;
pub(crate) use git_tracked::{git_dir, is_tracked};
pub use ide::EditorChoice;
use last_known_good::LastKnownGood;
pub use run_options::{RunOptions, SettingSource};

/// The loaded configuration: settings, environment variables, and the plan made from them.
#[derive(Clone, Debug)]
pub struct LoadedConfig {
    /// The plan status of every declared server.
    pub plan: Plan,
    /// The merged settings, for permissions and policy.
    pub settings: MergedSettings,
    /// The environment variables of this run, with those that settings add.
    pub env: Env,
    /// The sources that could not be read or used.
    pub problems: Vec<ConfigProblem>,
    /// Groups of settings that this run left out (`--setting-sources`).
    pub left_out: Vec<SettingSource>,
    /// Whether managed files exclude all other servers.
    pub enterprise: Enterprise,
    /// Whether only the servers of `--mcp-config` may run (`--strict-mcp-config`).
    pub strict: bool,
    /// The folder with the word vectors of the tool search, if there are any.
    pub search_vectors: Option<PathBuf>,
    /// Whether the user can be asked.
    pub session: Interactivity,
    /// The agent whose view this is; absent for the shared configuration.
    pub agent: Option<String>,
    /// The error in the managed file that stops every server, if one does.
    pub managed_problem: Option<ConfigProblem>,
    /// Every path that was read or looked for, whether the file exists or not.
    pub files: Vec<PathBuf>,
    /// Resolves the programs that commands name.
    pub programs: Arc<dyn ProgramFinder>,
    file_cache: Arc<FileCache>,
    last_known_good: LastKnownGood,
}

impl LoadedConfig {
    /// Reloads every source. A file that cannot be read for the moment keeps its last known good content.
    #[must_use]
    pub fn reload(&self, paths: &Paths, run_options: &RunOptions) -> Self {
        let mut earlier = self.last_known_good.clone();
        earlier.start_load();
        SourceCollector::new(paths, run_options, earlier).collect_sources()
    }

    /// The problems of files whose last known good content is in use.
    #[must_use]
    pub fn stale_file_problems(&self) -> &[ConfigProblem] {
        self.last_known_good.stale_problems()
    }

    /// The fingerprint of [`LoadedConfig::files`] at the time of this load.
    #[must_use]
    pub fn fingerprint(&self) -> FilesFingerprint {
        self.file_cache.fingerprint(&self.files)
    }

    /// Configured server names similar to `name`, the nearest first.
    #[must_use]
    pub fn similar_server_names(&self, name: &str) -> Vec<String> {
        similar_names(name, self.plan.servers.iter().map(|server| server.name.as_str()))
    }

    /// Splits `server.tool` at the name of a configured server; `None` if the word names no tool that way.
    ///
    /// A name may contain dots too, so the longest server wins. If no server fits, the word is split at its
    /// first dot, so that an error can name the part that is unknown.
    #[must_use]
    pub fn split_tool_path<'w>(&self, word: &'w str) -> Option<(&'w str, &'w str)> {
        let is_server = |name: &str| name == BUILT_IN_SERVER || !self.plan.servers_by_name(name).is_empty();
        if is_server(word) || word.starts_with("mcp__") || word.contains(char::is_whitespace) {
            return None;
        }
        let parts = || {
            let dots = word.match_indices('.').map(|(index, _)| (&word[..index], &word[index + 1..]));
            dots.filter(|(server, tool)| !server.is_empty() && !tool.is_empty())
        };
        parts().rfind(|(server, _)| is_server(server)).or_else(|| parts().next())
    }

    /// The configuration with these connectors in place of its own. Reads no file.
    #[must_use]
    pub fn with_connectors(&self, list: &ConnectorList) -> Self {
        let declarations = list.connectors.iter().map(Connector::to_declaration).collect();
        let plan = self.plan.with_connectors(declarations, &self.plan_context());
        let others = self.problems.iter().filter(|problem| !connector::is_connector_problem(problem));
        let problems = list.problems.iter().chain(others).cloned().collect();
        Self { plan, problems, ..self.clone() }
    }

    /// The context in which declarations are planned.
    fn plan_context(&self) -> PlanContext {
        PlanContext {
            settings: self.settings.clone(),
            enterprise: self.enterprise.clone(),
            strict: self.strict,
            session: self.session,
            env: self.env.clone(),
            programs: Arc::clone(&self.programs),
            ancestry: Ancestry::from_env(&self.env),
        }
    }

    /// Whether the value of a variable is the user's own, and not set by the project folder.
    #[must_use]
    pub fn is_own_variable(&self, name: &str) -> bool {
        let set = self.settings.env.iter().rev().find(|variable| variable.name == name);
        set.is_none_or(|variable| variable.layer.is_outside_project())
    }

    /// The audit file in which calls are recorded, if any is configured.
    #[must_use]
    pub fn audit_file(&self, paths: &Paths) -> Option<PathBuf> {
        match self.settings.audit.as_ref().map(|audit| &audit.value) {
            Some(AuditSetting::Off) => None,
            Some(AuditSetting::At(path)) => Some(path.clone()),
            Some(AuditSetting::On) | None => paths.audit.clone(),
        }
    }

    /// The reason why no server of this name runs, as far as the plan knows it.
    #[must_use]
    pub fn unavailable_reason(&self, name: &str) -> Option<String> {
        self.plan.servers_by_name(name).first().map(|server| {
            let reason = server.status.reason().unwrap_or_default();
            match &server.status {
                PlanStatus::Ready => "it is not running".to_owned(),
                status if reason.is_empty() => status.as_str().to_owned(),
                status => format!("{}: {reason}", status.as_str()),
            }
        })
    }
}

/// Reads every source and plans the servers. Never fails: problems are part of the result.
///
/// Approvals of Claude Code for this folder that are seen for the first time are recorded in the approval
/// store.
#[must_use]
pub fn load_config(paths: &Paths, run_options: &RunOptions) -> LoadedConfig {
    SourceCollector::new(paths, run_options, LastKnownGood::default()).collect_sources()
}

/// Reads every source as if the user had approved all pending items, to show the servers that would run then.
///
/// Records nothing in the approval store.
#[must_use]
pub fn load_as_if_approved(paths: &Paths, run_options: &RunOptions) -> LoadedConfig {
    let mut collector = SourceCollector::new(paths, run_options, LastKnownGood::default());
    collector.context.settings.choices.assume_approved = true;
    collector.collect_sources()
}

/// Collects declarations and settings, source by source, weakest first.
struct SourceCollector<'w> {
    paths: &'w Paths,
    run_options: &'w RunOptions,
    last_known_good: LastKnownGood,
    declarations: Vec<ServerDeclaration>,
    context: PlanContext,
    problems: Vec<ConfigProblem>,
    managed_problem: Option<ConfigProblem>,
    files: Vec<PathBuf>,
    file_cache: FileCache,
}

impl<'w> SourceCollector<'w> {
    fn new(paths: &'w Paths, run_options: &'w RunOptions, last_known_good: LastKnownGood) -> Self {
        let context = PlanContext {
            strict: run_options.strict,
            session: session_kind(run_options),
            env: run_options.env.clone(),
            ..PlanContext::default()
        };
        let (declarations, problems) = (Vec::new(), Vec::new());
        let (files, file_cache, managed_problem) = (Vec::new(), FileCache::default(), None);
        Self {
            paths,
            run_options,
            last_known_good,
            declarations,
            context,
            problems,
            managed_problem,
            files,
            file_cache,
        }
    }

    /// Reads the sources in order of precedence and makes the plan.
    fn collect_sources(mut self) -> LoadedConfig {
        self.read_approvals();
        self.read_user_files();
        self.read_project_files();
        self.read_local_files();
        self.read_command_line();
        self.read_plugins();
        self.read_editors();
        self.read_dynamic_servers();
        self.read_managed_files();
        self.finish_load()
    }

    fn read_user_files(&mut self) {
        if !self.is_source_wanted(SettingSource::User) {
            return;
        }
        // The settings file is read last, so it wins over an entry of the same name in `~/.claude.json`.
        if let Some(reading) = self.open_source(ConfigSource::user_file(self.paths.claude.json.clone())) {
            self.parse_source(&reading, |this, document| {
                this.declare_servers(document.root(), Scope::User, Provenance::Own)
            });
        }
        if let Some(reading) = self.open_source(ConfigSource::user_file(self.paths.user_settings())) {
            self.parse_source(&reading, |this, document| {
                this.apply_settings(document.root(), SettingsLayer::User);
                this.declare_servers(document.root(), Scope::User, Provenance::Own);
            });
        }
    }

    fn read_project_files(&mut self) {
        if !self.is_source_wanted(SettingSource::Project) {
            return;
        }
        if let Some(path) = self.paths.project_settings()
            && let Some(reading) = self.open_source(ConfigSource::checked_file(path))
        {
            self.parse_source(&reading, |this, document| {
                this.apply_settings(document.root(), SettingsLayer::Project);
                this.declare_servers(document.root(), Scope::Project, Provenance::Folder);
            });
        }
        let farthest_first: Vec<PathBuf> = {
            let mut files: Vec<PathBuf> = self.paths.project_files().collect();
            files.reverse();
            files
        };
        for path in farthest_first {
            if let Some(reading) = self.open_source(ConfigSource::checked_file(path)) {
                self.parse_source(&reading, |this, document| {
                    this.declare_servers(document.root(), Scope::Project, Provenance::Folder);
                });
            }
        }
    }

    fn read_local_files(&mut self) {
        if !self.is_source_wanted(SettingSource::Local) {
            return;
        }
        if let Some(reading) = self.open_source(ConfigSource::user_file(self.paths.claude.json.clone())) {
            let key = self.paths.project_key();
            self.parse_source(&reading, |this, document| {
                let entry =
                    document.root().and_then(|root| root.get("projects")).and_then(|all| all.get(&key));
                this.apply_settings(entry, SettingsLayer::Private);
                this.declare_servers(entry, Scope::Local, Provenance::Own);
            });
        }
        let path = self.paths.local_settings();
        if let Some(reading) = self.open_source(ConfigSource::checked_file(path)) {
            // The author of the folder can have written this file, in spite of its name.
            self.parse_source(&reading, |this, document| {
                this.apply_settings(document.root(), SettingsLayer::Local);
                this.declare_servers(document.root(), Scope::Local, Provenance::Folder);
            });
        }
    }

    /// Declares the servers of `root.mcpServers`.
    fn declare_servers(&mut self, root: Option<Node<'_>>, scope: Scope, provenance: Provenance) {
        let Some(servers) = root.and_then(|root| root.get("mcpServers")) else { return };
        self.add_declarations(servers, (scope, provenance), |name| name.to_owned(), &[]);
    }

    fn add_declarations(
        &mut self,
        servers: Node<'_>,
        (scope, provenance): (Scope, Provenance),
        name: impl Fn(&str) -> String,
        variables: &[(String, String)],
    ) {
        let Some(members) = servers.as_object() else {
            return self.problems.push(ConfigProblem::not_an_object("mcpServers", servers));
        };
        self.declarations.extend(members.map(|member| ServerDeclaration {
            name: ServerName::new(&name(member.name)),
            scope,
            provenance,
            origin: member.origin(),
            raw: RawServer::from_node(member.name, member.value),
            variables: variables.to_vec(),
        }));
    }

    fn apply_settings(&mut self, root: Option<Node<'_>>, layer: SettingsLayer) {
        if let Some(root) = root {
            self.context.settings.read_layer(root, layer);
        }
    }

    fn is_source_wanted(&self, source: SettingSource) -> bool {
        self.run_options.setting_sources.as_ref().is_none_or(|wanted| wanted.contains(&source))
    }

    /// Reads a source. An unreadable one becomes a problem, and its last known good content is used.
    fn open_source(&mut self, reading: ConfigSource) -> Option<file::OpenedSource> {
        let path = reading.path().cloned();
        self.files.extend(path.clone().filter(|path| !self.files.contains(path)));
        match reading.open(&mut self.file_cache) {
            Ok(Some(opened)) => Some(opened),
            Ok(None) => {
                path.into_iter().for_each(|path| self.last_known_good.forget_file(&Source::from_path(path)));
                None
            }
            Err(problem) => {
                let earlier = self.last_known_good.substitute_for(&problem);
                let opened = earlier.map(|text| file::OpenedSource::from_earlier(&problem, &text));
                self.add_problem(problem);
                opened
            }
        }
    }

    /// Adds a problem once: `~/.claude.json` is read for two scopes.
    fn add_problem(&mut self, problem: ConfigProblem) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Parses a source and passes it to `then`. After a syntax error its last known good content is used.
    fn parse_source(&mut self, opened: &file::OpenedSource, then: impl FnOnce(&mut Self, &JsonDocument<'_>)) {
        let parsed = JsonDocument::parse(opened.source.clone(), &opened.text);
        let problem = match &parsed {
            Ok(document) if document.root().is_some() => None,
            // An empty file is fine, unless it had content before.
            Ok(_) => Some(opened.empty_file_problem()),
            Err(error) => Some(opened.syntax_problem(error)),
        };
        let earlier = problem.as_ref().and_then(|problem| self.last_known_good.substitute_for(problem));
        if problem.is_none() {
            self.last_known_good.remember_text(&opened.source, &opened.text);
        }
        if parsed.is_err() || earlier.is_some() {
            problem.into_iter().for_each(|problem| self.add_problem(problem));
        }
        let before = earlier.as_deref().map(|text| JsonDocument::parse(opened.source.clone(), text));
        if let Ok(document) = before.unwrap_or(parsed) {
            then(self, &document);
        }
    }

    fn finish_load(mut self) -> LoadedConfig {
        self.files.extend(self.paths.trust_rules());
        self.last_known_good.finish_load(&self.files);
        let adopted = self.settle_folder_items();
        self.context.ancestry = Ancestry::from_env(&self.context.env);
        // A project that could set the ancestry could start this program inside itself.
        let variables = self.context.settings.env.iter().filter(|variable| variable.name != ANCESTRY);
        for variable in variables {
            self.context.env.set(&variable.name, variable.value.expose());
        }
        self.context.programs = Arc::new(ProgramLocator::new(self.paths, &self.context.env));
        if let Some(value) = self.run_options.mode {
            let origin = ConfigOrigin::for_source(Source::from_label("--permission-mode"));
            self.context.settings.mode = Some(Spanned { value, origin });
        }
        let offered = self.run_options.offered_tools.iter().map(|text| Glob::new(text));
        self.context.settings.offered_tools = offered.collect();
        if let (None, Some(value)) = (&self.context.settings.mode, self.run_options.fallback_mode) {
            let origin = ConfigOrigin::for_source(Source::from_label("built-in default"));
            self.context.settings.mode = Some(Spanned { value, origin });
        }
        let left_out =
            SettingSource::ALL.into_iter().filter(|source| !self.is_source_wanted(*source)).collect();
        let mut plan = Plan::from_declarations(std::mem::take(&mut self.declarations), &self.context);
        withhold_roots(&mut plan.servers, &self.paths.project, &self.paths.home);
        self.record_first_seen_approvals(adopted, &plan);
        let vectors = self.requested_vectors();
        let loaded = LoadedConfig {
            plan,
            search_vectors: None,
            enterprise: self.context.enterprise,
            strict: self.context.strict,
            session: self.context.session,
            agent: None,
            settings: self.context.settings,
            env: self.context.env,
            problems: self.problems,
            left_out,
            managed_problem: self.managed_problem,
            files: self.files,
            file_cache: Arc::new(self.file_cache),
            last_known_good: self.last_known_good,
            programs: self.context.programs,
        };
        loaded.with_vectors(vectors)
    }
}

/// The kind of session: a run without a user approves project servers only if `--setting-sources` names the
/// project.
fn session_kind(run_options: &RunOptions) -> Interactivity {
    let asked_for_project =
        run_options.setting_sources.as_ref().is_some_and(|wanted| wanted.contains(&SettingSource::Project));
    match (run_options.interactive, asked_for_project) {
        (true, _) => Interactivity::Interactive,
        (false, true) => Interactivity::HeadlessWithProject,
        (false, false) => Interactivity::Headless,
    }
}
