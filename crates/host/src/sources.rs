//! Reads every source of servers and settings and hands them to the plan (C1–C5).
//!
//! A file that cannot be read is a [`Problem`] and takes nobody else with it, except a managed one, which
//! stops everything. What the declarations mean is decided by `model::plan`.

mod agent;
mod agent_view;
mod approval;
mod connector;
mod earlier;
mod file;
mod ide;
mod identity;
mod installed;
mod managed;
mod plugin;
mod programs;
mod similar;
mod tracked;

use std::path::PathBuf;
use std::sync::Arc;

use mcparley_model::ancestry::{ANCESTRY, Ancestry};
use mcparley_model::approval::{Provenance, Session};
use mcparley_model::config::{RawServer, Spanned};
use mcparley_model::document::{Document, Node};
use mcparley_model::expand::Env;
use mcparley_model::name::ServerName;
use mcparley_model::permission::{Mode, Rule, RuleKind, RuleScope};
use mcparley_model::plan::{Declaration, Enterprise, Ground, Plan, ServerStanding};
use mcparley_model::program::ProgramFinder;
use mcparley_model::scope::{Origin, Scope, Source};
use mcparley_model::settings::{Audit, Layer, Settings};

use crate::paths::Paths;
use crate::roots::withhold;
use file::Reading;
use programs::Programs;

pub(crate) use agent::agents_of;
pub use agent::{Agents, agents};
pub use connector::{Connector, Connectors, Known, NoConnectors};
pub(crate) use earlier::Earlier;
pub use file::{Problem, Severity};
pub use ide::Editor;
pub(crate) use tracked::{git_dir, is_tracked};

/// Options of one run, from a command line or an embedding program: more servers, settings, rules and variables.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Servers for this run: paths or JSON (`--mcp-config`).
    pub mcp_config: Vec<String>,
    /// Use only those (`--strict-mcp-config`).
    pub strict: bool,
    /// More settings: a path or JSON (`--settings`).
    pub settings: Vec<String>,
    /// The settings to read; absent means all (`--setting-sources`).
    pub setting_sources: Option<Vec<SettingSource>>,
    /// Plugin folders (`--plugin-dir`).
    pub plugin_dirs: Vec<PathBuf>,
    /// The permission mode (`--permission-mode`).
    pub mode: Option<Mode>,
    /// The permission mode where neither the command line nor any settings name one; [`Mode::Default`] if absent.
    pub fallback_mode: Option<Mode>,
    /// Rules that allow (`--allowed-tools`).
    pub allowed_tools: Vec<String>,
    /// Rules that deny (`--disallowed-tools`).
    pub disallowed_tools: Vec<String>,
    /// The editor to connect to, if one is wanted (`--ide`).
    pub ide: Option<Editor>,
    /// Whether a person can be asked.
    pub interactive: bool,
    /// The variables for expansion.
    pub env: Env,
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
    /// All of them.
    pub const ALL: [Self; 3] = [Self::User, Self::Project, Self::Local];

    /// The word the command line takes.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

/// What was read, and what becomes of it.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The fate of every declared server.
    pub plan: Plan,
    /// What the settings say, for permissions and policy.
    pub settings: Settings,
    /// The variables of this run, with those that settings set.
    pub env: Env,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// Settings that this run left out.
    pub left_out: Vec<SettingSource>,
    /// Whether the administrator's files leave room for others.
    pub enterprise: Enterprise,
    /// Whether only the servers of `--mcp-config` are wanted.
    pub strict: bool,
    /// Whether a person can be asked.
    pub session: Session,
    /// The agent that sees this; none when it is what everybody sees.
    pub agent: Option<String>,
    /// The managed file that stops everything, if one does.
    pub managed_problem: Option<Problem>,
    /// Every file that was looked for, whether it was there or not.
    pub files: Vec<PathBuf>,
    /// Finds the programs that commands mean.
    pub programs: Arc<dyn ProgramFinder>,
}

/// Names of `known` that look like `wanted`, the nearest first.
pub(crate) fn similar_names<'n>(wanted: &str, known: impl Iterator<Item = &'n str>) -> Vec<String> {
    similar::names(wanted, known)
}

impl Loaded {
    /// Configured names that look like `name`, the nearest first.
    #[must_use]
    pub fn similar(&self, name: &str) -> Vec<String> {
        similar::names(name, self.plan.servers.iter().map(|server| server.name.as_str()))
    }

    /// Whether a variable's value is the user's own, and not one that the project folder sets.
    #[must_use]
    pub fn is_own_variable(&self, name: &str) -> bool {
        let set = self.settings.env.iter().rev().find(|variable| variable.name == name);
        set.is_none_or(|variable| variable.layer.is_outside())
    }

    /// The file that calls are recorded in, if any is (H36).
    pub(crate) fn audit_file(&self, paths: &Paths) -> Option<PathBuf> {
        match self.settings.audit.as_ref().map(|audit| &audit.value) {
            Some(Audit::Off) => None,
            Some(Audit::At(path)) => Some(path.clone()),
            Some(Audit::On) | None => paths.audit.clone(),
        }
    }

    /// Why there is no server of this name, as far as the plan knows.
    pub(crate) fn why_not(&self, name: &str) -> Option<String> {
        self.plan.named(name).first().map(|server| {
            let reason = server.standing.reason().unwrap_or_default();
            match &server.standing {
                ServerStanding::Ready => "it is not running".to_owned(),
                standing if reason.is_empty() => standing.as_str().to_owned(),
                standing => format!("{}: {reason}", standing.as_str()),
            }
        })
    }
}

/// Reads every source and plans. Never fails: what went wrong stands in the result.
///
/// Approvals of Claude Code for this folder that are seen for the first time are recorded in the approval store.
#[must_use]
pub fn load(paths: &Paths, run_options: &RunOptions, connectors: &dyn Connectors) -> Loaded {
    load_again(paths, run_options, connectors, &mut Earlier::default())
}

/// The same as if the user had approved everything that waits: for showing what would run then. Records nothing.
#[must_use]
pub fn load_as_if_approved(paths: &Paths, run_options: &RunOptions) -> Loaded {
    let mut earlier = Earlier::default();
    let mut collector = Collector::new(paths, run_options, &mut earlier);
    collector.ground.settings.choices.assume_approved = true;
    collector.collect(&NoConnectors)
}

/// The same, where files were read before: those that cannot be read for the moment count as they did.
pub(crate) fn load_again(
    paths: &Paths,
    run_options: &RunOptions,
    connectors: &dyn Connectors,
    earlier: &mut Earlier,
) -> Loaded {
    earlier.begin();
    Collector::new(paths, run_options, earlier).collect(connectors)
}

/// Gathers declarations and settings, source by source, weakest first.
struct Collector<'w> {
    paths: &'w Paths,
    run_options: &'w RunOptions,
    earlier: &'w mut Earlier,
    declarations: Vec<Declaration>,
    ground: Ground,
    problems: Vec<Problem>,
    managed_problem: Option<Problem>,
    files: Vec<PathBuf>,
}

impl<'w> Collector<'w> {
    fn new(paths: &'w Paths, run_options: &'w RunOptions, earlier: &'w mut Earlier) -> Self {
        let ground = Ground {
            strict: run_options.strict,
            session: session(run_options),
            env: run_options.env.clone(),
            ..Ground::default()
        };
        let (declarations, problems) = (Vec::new(), Vec::new());
        let (files, managed_problem) = (Vec::new(), None);
        Self { paths, run_options, earlier, declarations, ground, problems, managed_problem, files }
    }

    /// Reads source after source.
    fn collect(mut self, connectors: &dyn Connectors) -> Loaded {
        self.approvals();
        self.connectors(connectors);
        self.user();
        self.project();
        self.local();
        self.command_line();
        self.plugins();
        self.editors();
        self.dynamic();
        self.managed();
        self.finish()
    }

    fn connectors(&mut self, connectors: &dyn Connectors) {
        let left_out = connectors.left_out();
        let failed = match connectors.fetch() {
            Ok(found) => {
                self.declarations.extend(found.into_iter().map(Connector::declaration));
                None
            }
            Err(error) => Some(error),
        };
        let problem = |error| Problem::found(&error, Source::inline("the connector catalogue"));
        self.problems.extend(failed.into_iter().chain(left_out).map(problem));
    }

    fn user(&mut self) {
        if !self.wanted(SettingSource::User) {
            return;
        }
        // The settings file is read last, so it wins over an entry of the same name in the other.
        if let Some(reading) = self.open(Reading::plain(self.paths.claude.json.clone())) {
            self.with(&reading, |this, document| this.servers(document.root(), Scope::User, Provenance::Own));
        }
        if let Some(reading) = self.open(Reading::plain(self.paths.user_settings())) {
            self.with(&reading, |this, document| {
                this.settings(document.root(), Layer::User);
                this.servers(document.root(), Scope::User, Provenance::Own);
            });
        }
    }

    fn project(&mut self) {
        if !self.wanted(SettingSource::Project) {
            return;
        }
        if let Some(path) = self.paths.project_settings()
            && let Some(reading) = self.open(Reading::shared(path))
        {
            self.with(&reading, |this, document| {
                this.settings(document.root(), Layer::Project);
                this.servers(document.root(), Scope::Project, Provenance::Folder);
            });
        }
        let farthest_first: Vec<PathBuf> = {
            let mut files: Vec<PathBuf> = self.paths.project_files().collect();
            files.reverse();
            files
        };
        for path in farthest_first {
            if let Some(reading) = self.open(Reading::shared(path)) {
                self.with(&reading, |this, document| {
                    this.servers(document.root(), Scope::Project, Provenance::Folder);
                });
            }
        }
    }

    fn local(&mut self) {
        if !self.wanted(SettingSource::Local) {
            return;
        }
        if let Some(reading) = self.open(Reading::plain(self.paths.claude.json.clone())) {
            let key = self.paths.project_key();
            self.with(&reading, |this, document| {
                let entry =
                    document.root().and_then(|root| root.get("projects")).and_then(|all| all.get(&key));
                this.settings(entry, Layer::Private);
                this.servers(entry, Scope::Local, Provenance::Own);
            });
        }
        let path = self.paths.local_settings();
        if let Some(reading) = self.open(Reading::shared(path)) {
            // Whoever made the folder can have written this file, whatever it is called.
            self.with(&reading, |this, document| {
                this.settings(document.root(), Layer::Local);
                this.servers(document.root(), Scope::Local, Provenance::Folder);
            });
        }
    }

    fn command_line(&mut self) {
        for given in &self.run_options.settings {
            if let Some(reading) = self.open(Reading::given(given, "--settings", &self.paths.cwd)) {
                self.with(&reading, |this, document| this.settings(document.root(), Layer::CommandLine));
            }
        }
        let rules = [
            (RuleKind::Allow, "--allowed-tools", &self.run_options.allowed_tools),
            (RuleKind::Deny, "--disallowed-tools", &self.run_options.disallowed_tools),
        ];
        for (kind, option, texts) in rules {
            let origin = Origin::whole(Source::inline(option));
            for text in texts {
                match Rule::parse(kind, text, origin.clone(), RuleScope::CommandLine) {
                    Ok(rule) => self.ground.settings.rules.push(Arc::new(rule)),
                    Err(error) => self.problems.push(Problem::given(&error, origin.source.clone())),
                }
            }
        }
    }

    fn dynamic(&mut self) {
        for given in &self.run_options.mcp_config {
            let Some(reading) = self.open(Reading::given(given, "--mcp-config", &self.paths.cwd)) else {
                continue;
            };
            self.with(&reading, |this, document| {
                if document.root().and_then(|root| root.get("mcpServers")).is_none() {
                    this.problems.push(Problem::no_servers(document.source().clone()));
                }
                this.servers(document.root(), Scope::Dynamic, Provenance::Own);
            });
        }
    }

    /// Adds the declarations of `root.mcpServers`.
    fn servers(&mut self, root: Option<Node<'_>>, scope: Scope, provenance: Provenance) {
        let Some(servers) = root.and_then(|root| root.get("mcpServers")) else { return };
        self.declarations(servers, (scope, provenance), |name| name.to_owned(), &[]);
    }

    fn declarations(
        &mut self,
        servers: Node<'_>,
        (scope, provenance): (Scope, Provenance),
        name: impl Fn(&str) -> String,
        variables: &[(String, String)],
    ) {
        let Some(members) = servers.as_object() else {
            return self.problems.push(Problem::not_an_object("mcpServers", servers));
        };
        self.declarations.extend(members.map(|member| Declaration {
            name: ServerName::new(&name(member.name)),
            scope,
            provenance,
            origin: member.origin(),
            raw: RawServer::read(member.name, member.value),
            variables: variables.to_vec(),
        }));
    }

    fn settings(&mut self, root: Option<Node<'_>>, layer: Layer) {
        if let Some(root) = root {
            self.ground.settings.read(root, layer);
        }
    }

    fn wanted(&self, source: SettingSource) -> bool {
        self.run_options.setting_sources.as_ref().is_none_or(|wanted| wanted.contains(&source))
    }

    /// Reads a source; an unreadable one becomes a problem.
    fn open(&mut self, reading: Reading) -> Option<file::Opened> {
        let path = reading.path().cloned();
        self.files.extend(path.clone());
        match reading.open() {
            Ok(Some(opened)) => Some(opened),
            Ok(None) => {
                path.into_iter().for_each(|path| self.earlier.forget(&Source::file(path)));
                None
            }
            Err(problem) => {
                let earlier = self.earlier.instead(&problem);
                let opened = earlier.map(|text| file::Opened::earlier(&problem, &text));
                self.tell(problem);
                opened
            }
        }
    }

    /// Notes a problem, once: `~/.claude.json` is read for two scopes.
    fn tell(&mut self, problem: Problem) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Parses an opened source; one that does not parse becomes a problem, and what it said before goes on.
    fn with(&mut self, opened: &file::Opened, then: impl FnOnce(&mut Self, &Document<'_>)) {
        let parsed = Document::parse(opened.source.clone(), &opened.text);
        let problem = match &parsed {
            Ok(document) if document.root().is_some() => None,
            // Nothing to say is fine, unless there was something before.
            Ok(_) => Some(opened.emptied()),
            Err(error) => Some(opened.problem(error)),
        };
        let earlier = problem.as_ref().and_then(|problem| self.earlier.instead(problem));
        if problem.is_none() {
            self.earlier.keep(&opened.source, &opened.text);
        }
        if parsed.is_err() || earlier.is_some() {
            problem.into_iter().for_each(|problem| self.tell(problem));
        }
        let before = earlier.as_deref().map(|text| Document::parse(opened.source.clone(), text));
        if let Ok(document) = before.unwrap_or(parsed) {
            then(self, &document);
        }
    }

    fn finish(mut self) -> Loaded {
        self.files.extend(self.paths.trust_rules());
        self.earlier.finish(&self.files);
        let adopted = self.settle_folder_items();
        self.ground.ancestry = Ancestry::of(&self.ground.env);
        // Whoever could set the ancestry could start this program inside itself.
        let variables = self.ground.settings.env.iter().filter(|variable| variable.name != ANCESTRY);
        for variable in variables {
            self.ground.env.set(&variable.name, variable.value.expose());
        }
        self.ground.programs = Arc::new(Programs::new(self.paths, &self.ground.env));
        if let Some(value) = self.run_options.mode {
            let origin = Origin::whole(Source::inline("--permission-mode"));
            self.ground.settings.mode = Some(Spanned { value, origin });
        }
        if let (None, Some(value)) = (&self.ground.settings.mode, self.run_options.fallback_mode) {
            let origin = Origin::whole(Source::inline("built-in default"));
            self.ground.settings.mode = Some(Spanned { value, origin });
        }
        let left_out = SettingSource::ALL.into_iter().filter(|source| !self.wanted(*source)).collect();
        let mut plan = Plan::make(std::mem::take(&mut self.declarations), &self.ground);
        withhold(&mut plan.servers, &self.paths.project, &self.paths.home);
        self.record_first_sight(adopted, &plan);
        Loaded {
            plan,
            enterprise: self.ground.enterprise,
            strict: self.ground.strict,
            session: self.ground.session,
            agent: None,
            settings: self.ground.settings,
            env: self.ground.env,
            problems: self.problems,
            left_out,
            managed_problem: self.managed_problem,
            files: self.files,
            programs: self.ground.programs,
        }
    }
}

/// C7: a run without a person approves project servers only when project settings were asked for by name.
fn session(run_options: &RunOptions) -> Session {
    let asked_for_project =
        run_options.setting_sources.as_ref().is_some_and(|wanted| wanted.contains(&SettingSource::Project));
    match (run_options.interactive, asked_for_project) {
        (true, _) => Session::Interactive,
        (false, true) => Session::HeadlessWithProject,
        (false, false) => Session::Headless,
    }
}
