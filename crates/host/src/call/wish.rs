//! What is wanted: a tool, its arguments, and how to go about it.

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::name::{ServerName, ToolName};
use mcparley_model::permission::Decider;
use mcparley_wire::RawJson;
use mcparley_wire::peer::Progress;
use serde_json::Value;
use tokio::sync::watch;

use super::person::Person;
use crate::catalog::{Catalog, Entry};

/// A call that is to be made.
#[derive(Debug)]
pub struct Call {
    pub(super) wanted: Wanted,
    pub(crate) arguments: Value,
    /// The arguments as they were written, when that is known: numbers keep their digits.
    pub(super) written: Option<RawJson>,
    pub(super) consent: Consent,
    pub(super) limit: Option<Duration>,
    /// What the model calls this use of the tool.
    pub(super) use_id: Option<String>,
    pub(super) progress: Option<watch::Sender<Option<Progress>>>,
    pub(super) person: Option<Person>,
}

/// How a tool is named.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    /// As the catalogue shows it.
    Public(String),
    /// As its server does.
    Tool { server: ServerName, tool: ToolName },
}

impl Wanted {
    /// What goes by it.
    pub(super) fn find<'c>(&self, catalog: &'c Catalog) -> Option<&'c Arc<Entry>> {
        match self {
            Self::Public(name) => catalog.get(name),
            Self::Tool { server, tool } => catalog.of(server, tool),
        }
    }

    /// The name, for people.
    pub(super) fn told(&self) -> String {
        match self {
            Self::Public(name) => name.clone(),
            Self::Tool { server, tool } => format!("{} {}", server.as_str(), tool.as_str()),
        }
    }
}

/// Whether a person has already said yes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consent {
    /// Nobody has: rules, mode and the [`super::Approver`] decide.
    #[default]
    Open,
    /// A person asked for exactly this call. Nobody is asked again; what denies still denies (U2a).
    Given,
}

impl Call {
    /// A call of a tool by its name in the catalogue. Arguments that are `null` count as none.
    #[must_use]
    pub fn new(name: &str, arguments: impl Into<Value>) -> Self {
        Self::of(Wanted::Public(name.to_owned()), arguments.into())
    }

    /// A call of a server's tool by the server's own name for it.
    #[must_use]
    pub fn to(server: &str, tool: &str, arguments: impl Into<Value>) -> Self {
        Self::of(
            Wanted::Tool { server: ServerName::new(server), tool: ToolName::new(tool) },
            arguments.into(),
        )
    }

    fn of(wanted: Wanted, arguments: Value) -> Self {
        let arguments = if arguments.is_null() { Value::Object(serde_json::Map::new()) } else { arguments };
        Self {
            wanted,
            arguments,
            written: None,
            consent: Consent::Open,
            limit: None,
            use_id: None,
            progress: None,
            person: None,
        }
    }

    /// The arguments, as the tool gets them.
    #[must_use]
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// The same with the arguments as JSON text, which is passed on to the byte.
    ///
    /// # Errors
    /// When the text is not JSON.
    pub fn with_json(mut self, text: &str) -> Result<Self, serde_json::Error> {
        self.arguments = serde_json::from_str(text)?;
        self.written = Some(RawJson::parse(text)?);
        Ok(self)
    }

    /// Who has decided about it: where the mode does so because a person asked for the call, it was the person.
    pub(super) fn decider(&self, by: Decider) -> Decider {
        match (self.consent, by) {
            (Consent::Given, Decider::Mode) => Decider::Consent,
            (Consent::Given | Consent::Open, by) => by,
        }
    }

    /// The same with a person's consent.
    #[must_use]
    pub fn with_consent(mut self, consent: Consent) -> Self {
        self.consent = consent;
        self
    }

    /// The same with the model's name for this use of the tool, which hooks are told.
    #[must_use]
    pub fn with_use_id(mut self, id: &str) -> Self {
        self.use_id = Some(id.to_owned());
        self
    }

    /// The same with a limit of its own: how long the server may say nothing.
    #[must_use]
    pub fn with_limit(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// The same for a person of its own, who is asked in place of whom the host asks.
    #[must_use]
    pub fn with_person(mut self, person: Person) -> Self {
        self.person = Some(person);
        self
    }

    /// The same with a place for the newest progress.
    #[must_use]
    pub fn with_progress(mut self, progress: watch::Sender<Option<Progress>>) -> Self {
        self.progress = Some(progress);
        self
    }
}
