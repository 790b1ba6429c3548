//! One tool of the catalogue.

use std::sync::{Arc, OnceLock};

use mcparley_model::name::{PublicName, ServerName};
use mcparley_model::permission::Decision;
use mcparley_model::tool::{DefinitionChange, Digest, Tool};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::dialect::Translations;
use super::{BuiltIn, SignInTool, tokens};
use crate::call::{Checker, Consent};
use crate::trust::Trusted;

/// One tool, as a model is shown it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Entry {
    /// Its name for a model.
    pub name: PublicName,
    /// Who answers it.
    pub provider: Provider,
    /// What it is; every text of it is clean. Shared with what the server offers.
    pub tool: Arc<Tool>,
    /// How it stands with what was accepted about it; the host's own tools need nobody's trust.
    trusted: Option<Arc<Trusted>>,
    /// Boxed, like what is in it for calls: hosts hold thousands of tools that no model is told of, and of those it is
    /// told of it calls a few.
    worked_out: OnceLock<Box<WorkedOut>>,
}

/// What follows from a tool, each worked out when it is first asked for.
#[derive(Debug, Default)]
struct WorkedOut {
    denied: OnceLock<bool>,
    tokens: OnceLock<u64>,
    translations: Translations,
    for_calls: OnceLock<Box<ForCalls>>,
}

/// The same, as far as only its calls need it.
#[derive(Debug, Default)]
struct ForCalls {
    checker: OnceLock<Checker>,
    /// Identity of its definition.
    definition: OnceLock<Digest>,
    /// What is decided about its calls, without and with a person's consent, where arguments do not matter.
    decisions: [OnceLock<Decision>; 2],
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
    pub(super) fn new(name: PublicName, provider: Provider, tool: impl Into<Arc<Tool>>) -> Self {
        Self { name, provider, tool: tool.into(), trusted: None, worked_out: OnceLock::new() }
    }

    /// The same as it stands with what was accepted about it.
    pub(super) fn with_trust(self, trusted: Arc<Trusted>) -> Self {
        Self { trusted: Some(trusted), ..self }
    }

    /// What is different about it since it was first met or last reviewed.
    #[must_use]
    pub fn change(&self) -> Option<&DefinitionChange> {
        self.trusted.as_ref().and_then(|trusted| trusted.change.as_deref())
    }

    pub(crate) fn trusted(&self) -> Option<&Trusted> {
        self.trusted.as_deref()
    }

    /// Identity of its definition.
    pub(crate) fn definition(&self) -> &Digest {
        self.for_calls().definition.get_or_init(|| self.tool.definition())
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
        *self.worked_out().tokens.get_or_init(|| tokens::of_definition(self))
    }

    /// Whether every call of it is denied; `decide` is asked once.
    pub(super) fn is_denied(&self, decide: impl FnOnce() -> bool) -> bool {
        *self.worked_out().denied.get_or_init(decide)
    }

    /// What is decided about its calls; `decide` is asked once.
    pub(crate) fn decision(&self, consent: Consent, decide: impl FnOnce() -> Decision) -> &Decision {
        let [open, given] = &self.for_calls().decisions;
        let kept = match consent {
            Consent::Open => open,
            Consent::Given => given,
        };
        kept.get_or_init(decide)
    }

    /// What it is in the forms of models' APIs.
    pub(super) fn translations(&self) -> &Translations {
        &self.worked_out().translations
    }

    /// The schema of its arguments, compiled when it is first called.
    pub(crate) fn checker(&self) -> &Checker {
        self.for_calls().checker.get_or_init(|| Checker::new(&self.tool.input_schema))
    }

    fn for_calls(&self) -> &ForCalls {
        self.worked_out().for_calls.get_or_init(Box::default)
    }

    fn worked_out(&self) -> &WorkedOut {
        self.worked_out.get_or_init(Box::default)
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
        if let Some(change) = self.change() {
            map.serialize_entry("changed", &change.lines)?;
        }
        map.end()
    }
}
