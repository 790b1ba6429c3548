//! The view of a gateway: all that its clients can see, with the names and addresses they see it by.
//!
//! A view is an immutable snapshot. Names are made by one function for the whole view and looked up, never
//! split; addresses begin with the tag of their server.

pub(crate) mod address;
pub(crate) mod naming;
mod rendered;
mod tool;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use mcparley::catalog::{Catalog, CatalogEntry, ToolProvider};
use mcparley::model::name::ServerName;
use mcparley::model::similar::similar_names;
use mcparley::pool::surface::Surface;
use mcparley_wire::{ProtocolVersion, RawJson, ServerDescription};

use crate::mode::GatewayMode;
use crate::view::naming::{NamedItem, assign_names};
use crate::view::rendered::RenderedTools;
pub(crate) use crate::view::rendered::{ListKind, RenderedItem};

/// A snapshot of all that clients can see.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) mode: Arc<GatewayMode>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) servers: Vec<ViewServer>,
    /// The tools by the names of clients.
    by_name: HashMap<Arc<str>, usize>,
    /// The tools of the catalog, with the names of clients.
    tools: Vec<(Arc<str>, Arc<CatalogEntry>)>,
    /// The positions of the tools, by the names of the catalog.
    by_public: HashMap<Box<str>, usize>,
    prompts: Vec<ViewPrompt>,
    prompts_by_name: HashMap<Arc<str>, usize>,
    rendered_tools: [OnceLock<RenderedTools>; 2],
    rendered_lists: [OnceLock<Vec<RenderedItem>>; 4],
    /// The digests of the prompts, and of all that the notification about resources covers.
    digests: [OnceLock<u64>; 2],
}

/// One server of a view.
#[derive(Clone, Debug)]
pub(crate) struct ViewServer {
    pub(crate) name: ServerName,
    /// The tag that addresses of this server begin with.
    pub(crate) tag: Arc<str>,
    pub(crate) surface: Arc<Surface>,
    pub(crate) about: Option<Arc<ServerDescription>>,
    /// The protocol version of a server that is connected.
    pub(crate) version: Option<ProtocolVersion>,
    /// Whether the server is a program of this machine.
    pub(crate) is_local: bool,
}

/// One prompt of a view.
#[derive(Debug)]
pub(crate) struct ViewPrompt {
    /// The name for clients.
    pub(crate) name: Arc<str>,
    /// The name that the server gave.
    pub(crate) original: String,
    pub(crate) server: usize,
    pub(crate) raw: RawJson,
}

impl View {
    pub(crate) fn new(mode: Arc<GatewayMode>, catalog: Arc<Catalog>, servers: Vec<ViewServer>) -> Self {
        let is_shown = |entry: &&Arc<CatalogEntry>| match (&mode.one, &entry.provider) {
            (None, _) => true,
            (Some(one), ToolProvider::Server(server)) => server == one,
            (Some(_), ToolProvider::Host(_) | ToolProvider::SignIn { .. }) => false,
        };
        let entries: Vec<&Arc<CatalogEntry>> = catalog.iter().filter(is_shown).collect();
        let mut items: Vec<NamedItem<'_>> =
            entries.iter().map(|entry| NamedItem::from_entry(entry)).collect();
        items.extend(NamedItem::reserved_items());
        let names = assign_names(&mode, &items);
        let tools: Vec<_> = names.into_iter().zip(entries.iter().map(|entry| Arc::clone(entry))).collect();
        let by_name = tools.iter().enumerate().map(|(place, (name, _))| (Arc::clone(name), place)).collect();
        let by_public =
            tools.iter().enumerate().map(|(place, (_, entry))| (entry.name.as_str().into(), place)).collect();
        let prompts = list_prompts(&mode, &servers);
        let prompts_by_name =
            prompts.iter().enumerate().map(|(place, prompt)| (Arc::clone(&prompt.name), place)).collect();
        Self {
            mode,
            servers,
            by_name,
            tools,
            by_public,
            prompts,
            prompts_by_name,
            rendered_tools: Default::default(),
            rendered_lists: Default::default(),
            digests: Default::default(),
            catalog,
        }
    }

    /// Whether these servers offer the same items as those of the view.
    pub(crate) fn has_same_servers(&self, servers: &[ViewServer]) -> bool {
        let is_same = |(one, other): (&ViewServer, &ViewServer)| {
            one.name == other.name
                && Arc::ptr_eq(&one.surface, &other.surface)
                && one.version == other.version
                && one.about.is_some() == other.about.is_some()
        };
        self.servers.len() == servers.len() && self.servers.iter().zip(servers).all(is_same)
    }

    /// The tool of a client's name.
    pub(crate) fn find_tool(&self, name: &str) -> Option<&Arc<CatalogEntry>> {
        self.tools.get(*self.by_name.get(name)?).map(|(_, entry)| entry)
    }

    /// The client's name of a tool of the catalog.
    pub(crate) fn client_name(&self, public: &str) -> Option<&Arc<str>> {
        self.tools.get(*self.by_public.get(public)?).map(|(name, _)| name)
    }

    /// Names of tools similar to `name`, the nearest first, without hidden tools.
    pub(crate) fn similar_tools(&self, name: &str) -> Vec<String> {
        let is_shown =
            |entry: &CatalogEntry| entry.tool.audience.includes_model() && !self.catalog.is_denied(entry);
        let shown = self.tools.iter().filter(|(_, entry)| is_shown(entry));
        similar_names(name, shown.map(|(name, _)| name.as_ref()))
    }

    /// A text with the names of the catalog between backticks replaced by the names of clients.
    pub(crate) fn rename_in_text(&self, text: &str) -> String {
        let renamed = text.split('`').enumerate().map(|(place, part)| match self.client_name(part) {
            Some(name) if place % 2 == 1 => name.as_ref(),
            Some(_) | None => part,
        });
        renamed.collect::<Vec<_>>().join("`")
    }

    /// The server of a client's prompt, and the name of the prompt at that server. In transparent mode the
    /// server itself answers for prompts that it does not list.
    pub(crate) fn route_prompt(&self, name: &str) -> Option<(&ViewServer, String)> {
        if self.mode.is_transparent() {
            return self.servers.first().map(|server| (server, name.to_owned()));
        }
        let prompt = self.prompts.get(*self.prompts_by_name.get(name)?)?;
        Some((self.servers.get(prompt.server)?, prompt.original.clone()))
    }

    /// The server of a name.
    pub(crate) fn find_server(&self, name: &ServerName) -> Option<&ViewServer> {
        self.servers.iter().find(|server| server.name == *name)
    }

    /// The tag for addresses in results of a server; none in transparent mode.
    pub(crate) fn tag_of(&self, server: &ServerName) -> Option<&str> {
        if self.mode.is_transparent() { None } else { self.find_server(server).map(|server| &*server.tag) }
    }

    /// Whether any server has a capability.
    pub(crate) fn has_capability(&self, name: &str) -> bool {
        self.servers.iter().any(|server| server.has_capability(name))
    }
}

impl ViewServer {
    /// Whether the server has a capability, as far as it is known.
    pub(crate) fn has_capability(&self, name: &str) -> bool {
        self.about.as_ref().is_some_and(|about| about.has_capability(name))
    }
}

/// The prompts of all servers, with unique names.
fn list_prompts(mode: &GatewayMode, servers: &[ViewServer]) -> Vec<ViewPrompt> {
    let mut found: Vec<(usize, String, RawJson)> = Vec::new();
    for (place, server) in servers.iter().enumerate() {
        let mut seen = HashSet::new();
        for raw in &server.surface.prompts {
            let name = raw.member("name").and_then(|name| name.decode::<String>().ok());
            if let Some(name) = name.filter(|name| !name.is_empty() && seen.insert(name.clone())) {
                found.push((place, name, raw.clone()));
            }
        }
    }
    let item = |(place, name, _): &(usize, String, RawJson)| {
        servers.get(*place).map(|server| (server.name.clone(), name.clone()))
    };
    let owned: Vec<(ServerName, String)> = found.iter().filter_map(item).collect();
    let items: Vec<NamedItem<'_>> =
        owned.iter().map(|(server, name)| NamedItem::new(Some(server), name)).collect();
    let names = assign_names(mode, &items);
    let prompt = |(name, (server, original, raw))| ViewPrompt { name, original, server, raw };
    names.into_iter().zip(found).map(prompt).collect()
}
