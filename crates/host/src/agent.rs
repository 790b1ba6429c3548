//! What an agent is made of: the shared servers it names, those it brings along, and those it cannot do without (X7).
//!
//! How it comes to life is decided by [`crate::host`]; what becomes of its servers by `model::plan`.

mod error;

use std::time::Duration;

use mcparley_model::approval::Provenance;
use mcparley_model::config::RawServer;
use mcparley_model::document::Document;
use mcparley_model::limits::AGENT_TIME;
use mcparley_model::name::ServerName;
use mcparley_model::plan::Declaration;
use mcparley_model::scope::{Origin, Scope, Source};
use serde_json::Value;

use crate::host::Start;
use crate::own_server;
use crate::sources::Loaded;

pub use error::{AgentError, Missing};

/// An agent that is to be started with [`crate::Host::agent`].
///
/// ```
/// use mcparley::AgentSpec;
/// use serde_json::json;
///
/// let reviewer = AgentSpec::new("reviewer")
///     .share("github")
///     .bring("notes", &json!({ "command": "notes-server" }))
///     .require("github");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AgentSpec {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Where it is described.
    pub origin: Origin,
    /// The shared servers it sees besides those it requires; absent means all of them.
    pub shared: Option<Vec<ServerName>>,
    /// The servers that are started for it and stopped with it.
    pub own: Vec<Declaration>,
    /// The servers that must answer before it begins.
    pub required: Vec<ServerName>,
    /// How long it waits for them.
    pub deadline: Duration,
    /// Which of its own servers are reached at once.
    pub start: Start,
    scope: Scope,
}

impl AgentSpec {
    /// An agent of this program that sees every shared server and brings none.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let origin = Origin::whole(Source::inline(&format!("agent {name}")));
        Self::found(name, origin, Scope::Dynamic)
    }

    /// One that is described elsewhere.
    pub(crate) fn found(name: &str, origin: Origin, scope: Scope) -> Self {
        Self {
            name: name.to_owned(),
            description: None,
            origin,
            shared: None,
            own: Vec::new(),
            required: Vec::new(),
            deadline: AGENT_TIME,
            start: Start::default(),
            scope,
        }
    }

    /// Marks it as the repository's: what it brings from now on needs approval, as the servers of `.mcp.json` do.
    #[must_use]
    pub fn of_project(mut self) -> Self {
        self.scope = Scope::Project;
        self
    }

    /// Marks it as the user's own.
    #[must_use]
    pub fn of_user(mut self) -> Self {
        self.scope = Scope::User;
        self
    }

    /// Whose word it is.
    #[must_use]
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Who can have written what it brings.
    pub(crate) fn provenance(&self) -> Provenance {
        if self.scope == Scope::Project { Provenance::Folder } else { Provenance::Own }
    }

    /// Lets it see a shared server. As soon as one is named it sees no others, except those it requires.
    #[must_use]
    pub fn share(mut self, server: &str) -> Self {
        self.shared.get_or_insert_default().push(ServerName::new(server));
        self
    }

    /// Lets it see no shared server, except those it names or requires.
    #[must_use]
    pub fn alone(mut self) -> Self {
        self.shared.get_or_insert_default();
        self
    }

    /// Brings a server along, as an entry of `mcpServers` describes it.
    #[must_use]
    pub fn bring(mut self, server: &str, entry: &Value) -> Self {
        let text = entry.to_string();
        let source = Source::inline(&format!("agent {}", self.name));
        // What was just written is JSON, so there is always a root; without one nothing can be brought.
        if let Ok(document) = Document::parse(source, &text)
            && let Some(root) = document.root()
        {
            self.own.push(Declaration {
                name: ServerName::new(server),
                scope: self.scope,
                provenance: self.provenance(),
                origin: self.origin.clone(),
                raw: RawServer::read(server, root),
                variables: Vec::new(),
            });
        }
        self
    }

    /// Requires a server: the agent does not begin before it answers, and sees it.
    #[must_use]
    pub fn require(mut self, server: &str) -> Self {
        self.required.push(ServerName::new(server));
        self
    }

    /// Waits this long for the servers it requires.
    #[must_use]
    pub fn within(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Which of its own servers are reached at once; [`Start::AsNeeded`] unless said otherwise.
    #[must_use]
    pub fn start_with(mut self, start: Start) -> Self {
        self.start = start;
        self
    }

    /// The servers it names that may not run, or that nobody has declared, as `loaded` knows it.
    #[must_use]
    pub fn missing(&self, loaded: &Loaded) -> Vec<Missing> {
        let seen = loaded.for_agent(self);
        let may_run = |name: &ServerName| seen.plan.ready().any(|server| server.name == *name);
        // The built-in server stands in no file.
        let absent = self.named().filter(|name| !may_run(name) && name.as_str() != own_server::NAME);
        absent
            .map(|name| Missing {
                name: name.clone(),
                because: seen.why_not(name.as_str()),
                similar: loaded.similar(name.as_str()),
            })
            .collect()
    }

    /// Whether it sees the shared server of this name.
    pub(crate) fn sees(&self, name: &ServerName) -> bool {
        self.shared.as_ref().is_none_or(|shared| shared.contains(name)) || self.required.contains(name)
    }

    /// Every server it names, each once.
    pub(crate) fn named(&self) -> impl Iterator<Item = &ServerName> {
        let shared = self.shared.iter().flatten();
        let more = self.required.iter().filter(|name| !self.shared.iter().flatten().any(|it| it == *name));
        shared.chain(more)
    }
}
