//! Folds what the servers offer into the next catalogue.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use mcparley_model::config::{Kind, ServerConfig};
use mcparley_model::glob::Glob;
use mcparley_model::name::{Names, PublicName, ServerName, ToolName};
use mcparley_model::permission::Pin;
use mcparley_model::tool::{Loading, Tool};

use super::naming::name_all;
use super::search::Index;
use super::{BuiltIn, Catalog, ChangedTool, Denials, Entries, Entry, Provider, SignInTool};
use crate::surface::Surface;
use crate::trust::{Trust, Trusted};

/// The tools of an editor that are for models; the others are for the program in its terminal.
const OF_EDITORS: [&str; 2] = ["executeCode", "getDiagnostics"];

/// One server and what it offers now.
pub(crate) struct Seen<'s> {
    pub(crate) name: &'s ServerName,
    pub(crate) config: &'s ServerConfig,
    pub(crate) surface: &'s Arc<Surface>,
    pub(crate) sign_in: SignIn,
    /// Who knows what has changed about its tools.
    pub(crate) trust: Option<&'s Arc<Trust>>,
}

/// Whether a person can sign in to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignIn {
    /// There is nobody to be.
    Never,
    /// It may ask for it.
    Possible,
    /// It asks for it now.
    Wanted,
}

/// The entries of one server.
#[derive(Clone, Debug)]
struct Made {
    surface: Arc<Surface>,
    entries: Vec<Arc<Entry>>,
    changed: Vec<ChangedTool>,
}

/// Makes catalogues, each from the last.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    names: Names,
    /// The order that somebody has seen; what follows is added behind it.
    shown: Vec<PublicName>,
    /// Entries made before, with the surface they were made from: they are made once.
    made: HashMap<ServerName, Made>,
    own: Vec<Arc<Entry>>,
    denials: Denials,
    /// Whether results are stored, and have to be read again.
    stores_results: bool,
    /// The entries of the last catalogue, and what they are searched with.
    last: (Arc<Entries>, Arc<OnceLock<Index>>),
    revision: u64,
}

impl Assembler {
    /// With these servers' tools under their bare names (N3).
    pub(crate) fn new(bare: impl IntoIterator<Item = ServerName>) -> Self {
        Self { names: Names::default().with_bare(bare), ..Self::default() }
    }

    /// With a tool to read stored results: from the beginning, since a list that changes in the middle of a conversation
    /// costs more than the tool does (N11).
    pub(crate) fn storing_results(self, stores_results: bool) -> Self {
        Self { stores_results, ..self }
    }

    /// The order of this catalogue has been shown to somebody, so it stays.
    pub(crate) fn shown(&mut self, catalog: &Catalog) {
        self.shown = catalog.iter().map(|entry| entry.name.clone()).collect();
    }

    /// Makes every entry anew the next time, under these rules: entries remember what was decided about them. Names and
    /// places stay.
    pub(crate) fn under(&mut self, denials: Denials) {
        self.made.clear();
        self.own.clear();
        self.denials = denials;
    }

    /// The next catalogue. `servers` come in the order of the plan.
    pub(crate) fn assemble<'s>(&mut self, servers: &[Seen<'s>]) -> Catalog {
        self.name(servers);
        let mut made = HashMap::new();
        let (mut entries, mut changed): (Vec<Arc<Entry>>, _) = (Vec::new(), Vec::new());
        for server in servers {
            let list = self.entries_of(server);
            entries.extend(list.entries.iter().cloned());
            changed.extend(list.changed.iter().cloned());
            made.insert(server.name.clone(), list);
            if server.sign_in == SignIn::Wanted {
                let stand_in = |tool: SignInTool| tool.entry(server.name, &self.names).map(Arc::new);
                entries.extend(SignInTool::ALL.into_iter().filter_map(stand_in));
            }
        }
        self.made = made;
        entries.extend(self.own(servers));
        self.order(&mut entries);
        self.revision += 1;
        let (entries, index) = self.settled(entries);
        let (names, denials) = (self.names.clone(), self.denials.clone());
        Catalog { revision: self.revision, entries, names, denials, changed, index }
    }

    /// Gives names to the tools that have none yet.
    fn name(&mut self, servers: &[Seen<'_>]) {
        for server in servers.iter().filter(|server| server.sign_in != SignIn::Never) {
            self.names.keep_for_host(server.name, &SignInTool::NAMES);
        }
        name_all(&mut self.names, || servers.iter().flat_map(|server| server.pairs()));
    }

    fn entries_of(&self, server: &Seen<'_>) -> Made {
        if let Some(made) = self.made.get(server.name)
            && Arc::ptr_eq(&made.surface, server.surface)
        {
            return made.clone();
        }
        let mut made = Made { surface: Arc::clone(server.surface), entries: Vec::new(), changed: Vec::new() };
        let judge = server.trust.map(|trust| trust.judge(server.config));
        for tool in server.tools() {
            let trusted = judge.as_ref().map(|judge| judge.trusted(tool));
            made.changed.extend(trusted.as_ref().and_then(|trusted| server.changed(tool, trusted)));
            if !trusted.as_deref().is_some_and(Trusted::is_withheld) {
                made.entries.extend(self.entry(server, tool, trusted).map(Arc::new));
            }
        }
        made.entries.shrink_to_fit();
        made
    }

    fn entry(&self, server: &Seen<'_>, tool: &Arc<Tool>, trusted: Option<Arc<Trusted>>) -> Option<Entry> {
        let name = self.names.public(server.name, &tool.name)?.clone();
        let mut tool = Arc::clone(tool);
        if server.config.always_load && tool.loading != Loading::Always {
            Arc::make_mut(&mut tool).loading = Loading::Always;
        }
        let entry = Entry::new(name, Provider::Server(server.name.clone()), tool);
        Some(match trusted {
            Some(trusted) => entry.with_trust(trusted),
            None => entry,
        })
    }

    /// These entries and their index: the last ones as long as they are the same, since most changes of a server are none
    /// of its tools.
    fn settled(&mut self, entries: Vec<Arc<Entry>>) -> (Arc<Entries>, Arc<OnceLock<Index>>) {
        let last = &self.last.0;
        let is_same = |(one, other): (&Arc<Entry>, &Arc<Entry>)| Arc::ptr_eq(one, other);
        if last.len() != entries.len() || !last.iter().zip(&entries).all(is_same) {
            self.last = (Arc::new(Entries::new(entries)), Arc::default());
        }
        self.last.clone()
    }

    /// The host's own tools that make sense now (N9).
    fn own(&mut self, servers: &[Seen<'_>]) -> Vec<Arc<Entry>> {
        if self.own.is_empty() {
            self.own = BuiltIn::ALL.into_iter().filter_map(BuiltIn::entry).map(Arc::new).collect();
        }
        let has_some = |surface: &Surface| !surface.resources.is_empty() || !surface.templates.is_empty();
        let has_resources = servers.iter().any(|server| has_some(server.surface));
        let makes_sense = |entry: &&Arc<Entry>| match &entry.provider {
            Provider::Host(BuiltIn::ListResources | BuiltIn::ReadResource) => has_resources,
            Provider::Host(BuiltIn::ReadResult) => self.stores_results,
            Provider::Host(BuiltIn::ToolSearch) | Provider::Server(_) | Provider::SignIn { .. } => true,
        };
        self.own.iter().filter(makes_sense).cloned().collect()
    }

    /// Puts what was shown before where it was, and the rest behind it.
    fn order(&self, entries: &mut [Arc<Entry>]) {
        let places: HashMap<&PublicName, usize> =
            self.shown.iter().enumerate().map(|(place, name)| (name, place)).collect();
        // Stable: newcomers keep the order of the plan and of their servers' lists.
        entries.sort_by_key(|entry| places.get(&entry.name).copied().unwrap_or(usize::MAX));
    }
}

impl Seen<'_> {
    /// What is told about a tool that has changed, where that is wanted.
    fn changed(&self, tool: &Tool, trusted: &Trusted) -> Option<ChangedTool> {
        let change = trusted.change.clone().filter(|_| trusted.pin != Pin::Off)?;
        let (server, tool, withheld) = (self.name.clone(), tool.name.clone(), trusted.is_withheld());
        Some(ChangedTool { server, tool, withheld, change })
    }

    /// The tools that are for models (T6) and that the entry of the server lets through (C10).
    fn tools(&self) -> impl Iterator<Item = &Arc<Tool>> {
        let globs =
            |patterns: &[String]| -> Vec<Glob> { patterns.iter().map(|text| Glob::new(text)).collect() };
        let (enabled, disabled) = (globs(&self.config.enabled_tools), globs(&self.config.disabled_tools));
        let for_models = |tool: &Tool| match self.config.kind() {
            Kind::SseIde | Kind::WsIde => OF_EDITORS.contains(&tool.name.as_str()),
            Kind::Stdio | Kind::Sse | Kind::Http | Kind::Ws | Kind::Sdk | Kind::ClaudeAiProxy => true,
        };
        self.surface.tools.iter().filter(move |tool| {
            let is = |globs: &[Glob]| globs.iter().any(|glob| glob.matches(tool.name.as_str()));
            for_models(tool) && (enabled.is_empty() || is(&enabled)) && !is(&disabled)
        })
    }

    fn pairs(&self) -> impl Iterator<Item = (ServerName, ToolName)> {
        self.tools().map(|tool| (self.name.clone(), tool.name.clone()))
    }
}

#[cfg(test)]
mod tests;
