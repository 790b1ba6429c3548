//! Catalog entry: one tool.

use std::sync::{Arc, OnceLock};

use mcparley_model::name::{PublicName, ServerName};
use mcparley_model::tool::{DefinitionChange, Tool};
use mcparley_model::trust::ToolTrust;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::built_in::BuiltIn;
use crate::dialect::rewrite::ToolTranslations;
use crate::sign_in::SignInTool;
use crate::tokens;

/// One tool of the catalog, as a model is shown it.
#[derive(Debug)]
#[non_exhaustive]
pub struct CatalogEntry {
    /// The public name of the tool.
    pub name: PublicName,
    /// The server or host that executes its calls.
    pub provider: ToolProvider,
    /// The tool definition, with sanitized text. Shared with the server's own list.
    pub tool: Arc<Tool>,
    /// The trust in the tool; absent for built-in tools.
    trust: Option<Arc<ToolTrust>>,
    /// Boxed, because hosts have thousands of tools that no model is shown.
    cache: OnceLock<Box<EntryCache>>,
}

/// Cache of derived values, each computed on first use.
#[derive(Debug, Default)]
struct EntryCache {
    denied: OnceLock<bool>,
    tokens: OnceLock<u64>,
    translations: ToolTranslations,
}

/// The provider of a tool: the server or host that executes its calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolProvider {
    /// A server.
    Server(ServerName),
    /// The host itself: a built-in tool.
    Host(BuiltIn),
    /// The host, in place of a server that asks for a sign-in.
    SignIn {
        /// The server.
        server: ServerName,
        /// The step of the sign-in.
        tool: SignInTool,
    },
}

impl CatalogEntry {
    pub(crate) fn new(name: PublicName, provider: ToolProvider, tool: impl Into<Arc<Tool>>) -> Self {
        Self { name, provider, tool: tool.into(), trust: None, cache: OnceLock::new() }
    }

    /// Sets the trust in the tool.
    pub(crate) fn with_trust(self, trust: Arc<ToolTrust>) -> Self {
        Self { trust: Some(trust), ..self }
    }

    /// The change of the definition since it was first seen or last reviewed.
    #[must_use]
    pub fn definition_change(&self) -> Option<&DefinitionChange> {
        self.trust.as_ref().and_then(|trust| trust.change.as_deref())
    }

    /// The trust in the tool; `None` for built-in tools.
    #[must_use]
    pub fn trust(&self) -> Option<&ToolTrust> {
        self.trust.as_deref()
    }

    /// The server that executes its calls; `None` for tools of the host.
    #[must_use]
    pub fn server(&self) -> Option<&ServerName> {
        match &self.provider {
            ToolProvider::Server(server) => Some(server),
            ToolProvider::Host(_) | ToolProvider::SignIn { .. } => None,
        }
    }

    /// The server that a call of this tool begins a sign-in to, if it does.
    #[must_use]
    pub fn sign_in_target(&self) -> Option<&ServerName> {
        match &self.provider {
            ToolProvider::SignIn { server, tool: SignInTool::Authenticate } => Some(server),
            ToolProvider::Server(_)
            | ToolProvider::Host(_)
            | ToolProvider::SignIn { tool: SignInTool::Complete, .. } => None,
        }
    }

    /// The estimated size of the definition in tokens, the same on every machine.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        *self.cached_values().tokens.get_or_init(|| tokens::estimate_definition(&self.name, &self.tool))
    }

    /// Whether every call is denied; `decide` is called once.
    pub(crate) fn is_denied(&self, decide: impl FnOnce() -> bool) -> bool {
        *self.cached_values().denied.get_or_init(decide)
    }

    /// The tool in the formats of models' APIs.
    pub(crate) fn translations(&self) -> &ToolTranslations {
        &self.cached_values().translations
    }

    fn cached_values(&self) -> &EntryCache {
        self.cache.get_or_init(Box::default)
    }
}

impl Serialize for CatalogEntry {
    /// Serializes the definition in the style of a model's API, with its origin.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        if let Some(server) = self.server() {
            map.serialize_entry("server", server)?;
            map.serialize_entry("tool", &self.tool.name)?;
        }
        if let Some(title) = &self.tool.title {
            map.serialize_entry("title", title)?;
        }
        map.serialize_entry("description", &self.tool.description)?;
        map.serialize_entry("inputSchema", &self.tool.input_schema)?;
        if let Some(schema) = &self.tool.output_schema {
            map.serialize_entry("outputSchema", schema)?;
        }
        map.serialize_entry("hints", &self.tool.hints)?;
        map.serialize_entry("loading", &self.tool.loading)?;
        if let Some(hint) = &self.tool.search_hint {
            map.serialize_entry("searchHint", hint)?;
        }
        if let Some(change) = self.definition_change() {
            map.serialize_entry("changed", &change.lines)?;
        }
        map.end()
    }
}
