//! One tool of the catalogue.

use std::sync::OnceLock;

use mcparley_model::name::{PublicName, ServerName};
use mcparley_model::permission::Decision;
use mcparley_model::tool::Tool;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::dialect::Translations;
use super::{BuiltIn, SignInTool, tokens};
use crate::call::{Checker, Consent};

/// One tool, as a model is shown it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Entry {
    /// Its name for a model.
    pub name: PublicName,
    /// Who answers it.
    pub provider: Provider,
    /// What it is; every text of it is clean.
    pub tool: Tool,
    checker: OnceLock<Checker>,
    /// What is decided about its calls, without and with a person's consent, where arguments do not matter.
    decisions: [OnceLock<Decision>; 2],
    denied: OnceLock<bool>,
    tokens: OnceLock<u64>,
    translations: Translations,
}

/// Who answers a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Provider {
    /// A server.
    Server(ServerName),
    /// The host itself.
    Host(BuiltIn),
    /// The host, in the place of a server that wants a sign-in.
    SignIn {
        /// The server.
        server: ServerName,
        /// What is done about it.
        tool: SignInTool,
    },
}

impl Entry {
    pub(super) fn new(name: PublicName, provider: Provider, tool: Tool) -> Self {
        Self {
            name,
            provider,
            tool,
            checker: OnceLock::new(),
            decisions: Default::default(),
            denied: OnceLock::new(),
            tokens: OnceLock::new(),
            translations: Translations::default(),
        }
    }

    /// The server that answers it, unless the host does.
    #[must_use]
    pub fn server(&self) -> Option<&ServerName> {
        match &self.provider {
            Provider::Server(server) => Some(server),
            Provider::Host(_) | Provider::SignIn { .. } => None,
        }
    }

    /// Why its arguments are not checked before a call, should its schema be of no use for that.
    #[must_use]
    pub fn unchecked(&self) -> Option<&str> {
        self.checker().blind()
    }

    /// What its definition takes of a model's context, in tokens: an estimate, the same on every machine.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        *self.tokens.get_or_init(|| tokens::of_definition(self))
    }

    /// Whether every call of it is denied; `decide` is asked once.
    pub(super) fn is_denied(&self, decide: impl FnOnce() -> bool) -> bool {
        *self.denied.get_or_init(decide)
    }

    /// What is decided about its calls; `decide` is asked once.
    pub(crate) fn decision(&self, consent: Consent, decide: impl FnOnce() -> Decision) -> &Decision {
        let [open, given] = &self.decisions;
        let kept = match consent {
            Consent::Open => open,
            Consent::Given => given,
        };
        kept.get_or_init(decide)
    }

    /// What it is in the forms of models' APIs.
    pub(super) fn translations(&self) -> &Translations {
        &self.translations
    }

    /// The schema of its arguments, compiled when it is first called.
    pub(crate) fn checker(&self) -> &Checker {
        self.checker.get_or_init(|| Checker::new(&self.tool.input_schema))
    }
}

impl Serialize for Entry {
    /// As a model's API wants it, and where it is from.
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
        map.end()
    }
}
