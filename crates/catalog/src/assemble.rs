//! Assembles the tools of all servers into the next catalog.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use mcparley_model::config::{ServerConfig, TransportKind};
use mcparley_model::glob::Glob;
use mcparley_model::name::{PublicName, PublicNames, ServerName, ToolName, normalize_server};
use mcparley_model::permission::ToolPin;
use mcparley_model::tool::{Tool, ToolLoading};
use mcparley_model::trust::ToolTrust;

use crate::built_in::BuiltIn;
use crate::catalog::Catalog;
use crate::changed_tools::ChangedTool;
use crate::denial::CatalogDenials;
use crate::entries::EntryTable;
use crate::entry::{CatalogEntry, ToolProvider};
use crate::index::SearchIndex;
use crate::naming::assign_public_names;
use crate::sign_in::SignInTool;
use crate::tool_switches::ToolSwitches;
use crate::word_vectors::WordVectorsSource;

/// The tools of an editor that are meant for models; the others are for the program in its terminal.
const OF_EDITORS: [&str; 2] = ["executeCode", "getDiagnostics"];

/// Looks up the trust in a tool: its change since it was accepted, and the pinning policy.
pub type ToolTrustFn<'s> = dyn Fn(&Tool) -> Arc<ToolTrust> + 's;

/// The tools of one server, as it currently offers them.
pub struct ServerTools<'s> {
    /// The server.
    pub name: &'s ServerName,
    /// The server's entry, which may disable tools.
    pub config: &'s ServerConfig,
    /// The server's tools. Tools are compared by allocation, so that unchanged entries are reused.
    pub tools: &'s [Arc<Tool>],
    /// Whether the server has resources or resource templates.
    pub has_resources: bool,
    /// Whether the user can sign in to the server.
    pub sign_in: SignIn,
    /// Looks up the trust in a tool; called only for new tools.
    pub trust: Option<&'s ToolTrustFn<'s>>,
    /// The tools that are offered, as globs of `server`, `server__tool` or `mcp__server__tool`; none means all.
    pub offered: &'s [Glob],
}

/// Whether the user can sign in to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignIn {
    /// The server has no sign-in.
    Never,
    /// The server may ask for a sign-in.
    Possible,
    /// The server asks for a sign-in now.
    Wanted,
}

/// The catalog entries of one server.
#[derive(Clone, Debug)]
struct ServerEntries {
    tools: Vec<Arc<Tool>>,
    entries: Vec<Arc<CatalogEntry>>,
    changed: Vec<ChangedTool>,
}

/// Assembles catalogs, each from the one before.
#[derive(Debug, Default)]
pub struct Assembler {
    names: PublicNames,
    /// The order that a client has seen; new entries are added behind it.
    shown_order: Vec<PublicName>,
    /// Cache of the entries per server, with the tools they were made from.
    server_entries: HashMap<ServerName, ServerEntries>,
    built_in: Vec<Arc<CatalogEntry>>,
    denials: CatalogDenials,
    vectors: Option<Arc<WordVectorsSource>>,
    /// Whether results are stored, and have to be read again.
    stores_results: bool,
    /// The entries of the last catalog, and their search index.
    last: (Arc<EntryTable>, Arc<OnceLock<SearchIndex>>),
    revision: u64,
}

impl Assembler {
    /// An assembler that gives the tools of these servers their bare names, without a prefix.
    #[must_use]
    pub fn new(bare: impl IntoIterator<Item = ServerName>) -> Self {
        Self { names: PublicNames::default().with_bare_servers(bare), ..Self::default() }
    }

    /// Adds the tool that reads stored results.
    ///
    /// It is there from the beginning, because a tool list that changes in the middle of a conversation costs
    /// more than the tool does.
    #[must_use]
    pub fn with_stored_results(self, stores_results: bool) -> Self {
        Self { stores_results, ..self }
    }

    /// Sets the word vectors that searches use besides the words.
    #[must_use]
    pub fn with_vectors(self, vectors: Option<Arc<WordVectorsSource>>) -> Self {
        Self { vectors, ..self }
    }

    /// Fixes the order of this catalog, because a client has seen it.
    pub fn mark_shown(&mut self, catalog: &Catalog) {
        self.shown_order = catalog.iter().map(|entry| entry.name.clone()).collect();
    }

    /// Sets the deny rules and drops all cached entries, which remember earlier decisions. Names and places
    /// stay.
    pub fn set_denials(&mut self, denials: CatalogDenials) {
        self.server_entries.clear();
        self.built_in.clear();
        self.denials = denials;
    }

    /// Assembles the next catalog. `servers` come in the order of the plan.
    pub fn assemble<'s>(&mut self, servers: &[ServerTools<'s>]) -> Catalog {
        self.assign_names(servers);
        let mut made = HashMap::new();
        let (mut entries, mut changed): (Vec<Arc<CatalogEntry>>, _) = (Vec::new(), Vec::new());
        for server in servers {
            let list = self.server_entries(server);
            entries.extend(list.entries.iter().cloned());
            changed.extend(list.changed.iter().cloned());
            made.insert(server.name.clone(), list);
            if server.sign_in == SignIn::Wanted {
                let stand_in = |tool| sign_in_entry(tool, server.name, &self.names).map(Arc::new);
                entries.extend(SignInTool::ALL.into_iter().filter_map(stand_in));
            }
        }
        self.server_entries = made;
        entries.extend(self.built_in_entries(servers));
        self.sort_entries(&mut entries);
        self.revision += 1;
        let (entries, index) = self.reuse_entries(entries);
        let (names, denials) = (self.names.clone(), self.denials.clone());
        let vectors = self.vectors.clone();
        Catalog { revision: self.revision, entries, names, denials, changed, vectors, index }
    }

    /// Gives public names to the tools that have none yet.
    fn assign_names(&mut self, servers: &[ServerTools<'_>]) {
        for server in servers.iter().filter(|server| server.sign_in != SignIn::Never) {
            self.names.reserve_for_host(server.name, &SignInTool::NAMES);
        }
        assign_public_names(&mut self.names, || servers.iter().flat_map(|server| server.tool_names()));
    }

    fn server_entries(&self, server: &ServerTools<'_>) -> ServerEntries {
        if let Some(made) = self.server_entries.get(server.name)
            && is_same_allocations(&made.tools, server.tools)
        {
            return made.clone();
        }
        let mut made =
            ServerEntries { tools: server.tools.to_vec(), entries: Vec::new(), changed: Vec::new() };
        for tool in server.tools_for_models() {
            let trust = server.trust.map(|judge| judge(tool));
            made.changed.extend(trust.as_ref().and_then(|trust| server.changed_tool(tool, trust)));
            if !trust.as_deref().is_some_and(ToolTrust::is_withheld) {
                made.entries.extend(self.build_entry(server, tool, trust).map(Arc::new));
            }
        }
        made.entries.shrink_to_fit();
        made
    }

    fn build_entry(
        &self,
        server: &ServerTools<'_>,
        tool: &Arc<Tool>,
        trust: Option<Arc<ToolTrust>>,
    ) -> Option<CatalogEntry> {
        let name = self.names.public_name(server.name, &tool.name)?.clone();
        let mut tool = Arc::clone(tool);
        if server.config.always_load && tool.loading != ToolLoading::Always {
            Arc::make_mut(&mut tool).loading = ToolLoading::Always;
        }
        let entry = CatalogEntry::new(name, ToolProvider::Server(server.name.clone()), tool);
        Some(match trust {
            Some(trust) => entry.with_trust(trust),
            None => entry,
        })
    }

    /// Reuses the last entries and their index if nothing has changed, since most changes of a server do not
    /// affect its tools.
    fn reuse_entries(
        &mut self,
        entries: Vec<Arc<CatalogEntry>>,
    ) -> (Arc<EntryTable>, Arc<OnceLock<SearchIndex>>) {
        if !is_same_allocations(&self.last.0, &entries) {
            self.last = (Arc::new(EntryTable::new(entries)), Arc::default());
        }
        self.last.clone()
    }

    /// The entries of the built-in tools that are useful now.
    fn built_in_entries(&mut self, servers: &[ServerTools<'_>]) -> Vec<Arc<CatalogEntry>> {
        if self.built_in.is_empty() {
            self.built_in = BuiltIn::ALL.into_iter().filter_map(built_in_entry).map(Arc::new).collect();
        }
        let has_resources = servers.iter().any(|server| server.has_resources);
        let makes_sense = |entry: &&Arc<CatalogEntry>| match &entry.provider {
            ToolProvider::Host(BuiltIn::ListResources | BuiltIn::ReadResource) => has_resources,
            ToolProvider::Host(BuiltIn::ReadResult) => self.stores_results,
            ToolProvider::Host(BuiltIn::ToolSearch)
            | ToolProvider::Server(_)
            | ToolProvider::SignIn { .. } => true,
        };
        self.built_in.iter().filter(makes_sense).cloned().collect()
    }

    /// Sorts entries that were shown before into their places, and the others behind them.
    fn sort_entries(&self, entries: &mut [Arc<CatalogEntry>]) {
        let places: HashMap<&PublicName, usize> =
            self.shown_order.iter().enumerate().map(|(place, name)| (name, place)).collect();
        // The sort is stable: new entries keep the order of the plan and of their servers' lists.
        entries.sort_by_key(|entry| places.get(&entry.name).copied().unwrap_or(usize::MAX));
    }
}

impl std::fmt::Debug for ServerTools<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerTools")
            .field("name", &self.name)
            .field("tools", &self.tools.len())
            .finish_non_exhaustive()
    }
}

impl<'s> ServerTools<'s> {
    /// The tools of a server without resources, sign-in and pinned definitions.
    #[must_use]
    pub fn new(name: &'s ServerName, config: &'s ServerConfig, tools: &'s [Arc<Tool>]) -> Self {
        Self { name, config, tools, has_resources: false, sign_in: SignIn::Never, trust: None, offered: &[] }
    }

    /// The report of a changed tool, unless pinning is off.
    fn changed_tool(&self, tool: &Tool, trust: &ToolTrust) -> Option<ChangedTool> {
        let change = trust.change.clone().filter(|_| trust.pin != ToolPin::Off)?;
        let (server, tool, withheld) = (self.name.clone(), tool.name.clone(), trust.is_withheld());
        Some(ChangedTool { server, tool, withheld, change })
    }

    /// The tools that are meant for models and that the server's entry enables.
    fn tools_for_models(&self) -> impl Iterator<Item = &Arc<Tool>> {
        let switches = ToolSwitches::from_config(self.config);
        let for_models = |tool: &Tool| match self.config.kind() {
            TransportKind::SseIde | TransportKind::WsIde => OF_EDITORS.contains(&tool.name.as_str()),
            TransportKind::Stdio
            | TransportKind::Sse
            | TransportKind::Http
            | TransportKind::Ws
            | TransportKind::Sdk
            | TransportKind::ClaudeAiProxy => true,
        };
        let is_enabled = move |tool: &&Arc<Tool>| for_models(tool) && switches.is_enabled(&tool.name);
        self.tools.iter().filter(is_enabled).filter(|tool| self.is_offered(tool))
    }

    /// Whether the tool is among those that the program asked for, by the name of its server or its own.
    fn is_offered(&self, tool: &Tool) -> bool {
        if self.offered.is_empty() {
            return true;
        }
        let short = format!("{}__{}", normalize_server(self.name), tool.name);
        let names = [self.name.as_str(), &format!("mcp__{short}"), &short];
        self.offered.iter().any(|glob| names.iter().any(|name| glob.matches(name)))
    }

    fn tool_names(&self) -> impl Iterator<Item = (ServerName, ToolName)> {
        self.tools_for_models().map(|tool| (self.name.clone(), tool.name.clone()))
    }
}

/// Whether two lists hold the same allocations.
fn is_same_allocations<T>(one: &[Arc<T>], other: &[Arc<T>]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| Arc::ptr_eq(one, other))
}

pub(crate) fn built_in_entry(tool: BuiltIn) -> Option<CatalogEntry> {
    Some(CatalogEntry::new(
        PublicName::for_built_in(tool.as_str())?,
        ToolProvider::Host(tool),
        tool.to_tool()?,
    ))
}

fn sign_in_entry(tool: SignInTool, server: &ServerName, names: &PublicNames) -> Option<CatalogEntry> {
    let (name, definition) = tool.definition_for(server, names)?;
    Some(CatalogEntry::new(name, ToolProvider::SignIn { server: server.clone(), tool }, definition))
}

#[cfg(test)]
mod tests;
