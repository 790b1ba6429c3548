//! Agent specification: the shared servers an agent sees, the servers it brings, and the servers it requires.
//!
//! The host starts the agent; the plan decides which of its servers may run.

use std::time::Duration;

use mcparley_model::approval::Provenance;
use mcparley_model::config::RawServer;
use mcparley_model::document::JsonDocument;
use mcparley_model::glob::Glob;
use mcparley_model::limits::AGENT_TIME;
use mcparley_model::name::ServerName;
use mcparley_model::permission::PermissionMode;
use mcparley_model::scope::{ConfigOrigin, Scope, Source};
use serde_json::Value;

use crate::plan::ServerDeclaration;

/// The name of the built-in server, which no file declares.
pub const BUILT_IN_SERVER: &str = "mcparley";

/// An agent that a host can start.
///
/// ```
/// use mcparley_config::AgentSpec;
/// use serde_json::json;
///
/// let reviewer = AgentSpec::new("reviewer")
///     .share_server("github")
///     .bring_server("notes", &json!({ "command": "notes-server" }))
///     .require_server("github");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AgentSpec {
    /// The agent's name.
    pub name: String,
    /// The description of the agent's purpose.
    pub description: Option<String>,
    /// The file or program that describes the agent.
    pub origin: ConfigOrigin,
    /// The shared servers that the agent sees besides those it requires; absent means all of them.
    pub shared: Option<Vec<ServerName>>,
    /// The servers that are started for the agent and stopped with it.
    pub own: Vec<ServerDeclaration>,
    /// The servers that must be ready before the agent begins.
    pub required: Vec<ServerName>,
    /// The time limit for the required servers to become ready.
    pub deadline: Duration,
    /// Which of its own servers are started at once.
    pub start: StartPolicy,
    /// The permission mode; absent means that of the host.
    pub mode: Option<PermissionMode>,
    /// The tools that are offered, as globs; absent means those of the host.
    pub offered_tools: Option<Vec<Glob>>,
    scope: Scope,
}

impl AgentSpec {
    /// An agent of this program that sees every shared server and brings none.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let origin = ConfigOrigin::for_source(Source::from_label(&format!("agent {name}")));
        Self::from_file(name, origin, Scope::Dynamic)
    }

    /// An agent that a file describes.
    #[must_use]
    pub fn from_file(name: &str, origin: ConfigOrigin, scope: Scope) -> Self {
        Self {
            name: name.to_owned(),
            description: None,
            origin,
            shared: None,
            own: Vec::new(),
            required: Vec::new(),
            deadline: AGENT_TIME,
            start: StartPolicy::default(),
            mode: None,
            offered_tools: None,
            scope,
        }
    }

    /// Marks the agent as the repository's: servers it brings from now on need approval, as those of
    /// `.mcp.json` do.
    #[must_use]
    pub fn with_project_scope(mut self) -> Self {
        self.scope = Scope::Project;
        self
    }

    /// Marks the agent as the user's own.
    #[must_use]
    pub fn with_user_scope(mut self) -> Self {
        self.scope = Scope::User;
        self
    }

    /// The scope of the agent: program, user or project.
    #[must_use]
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// The possible author of the servers it brings.
    #[must_use]
    pub fn provenance(&self) -> Provenance {
        if self.scope == Scope::Project { Provenance::Folder } else { Provenance::Own }
    }

    /// Lets the agent see a shared server. Once one is named, it sees no others except those it requires.
    #[must_use]
    pub fn share_server(mut self, server: &str) -> Self {
        self.shared.get_or_insert_default().push(ServerName::new(server));
        self
    }

    /// Sets the permission mode of the agent's calls.
    #[must_use]
    pub fn with_permission_mode(mut self, mode: PermissionMode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Offers only the tools that these globs name, in place of those of the host.
    #[must_use]
    pub fn offer_tools(mut self, tools: Vec<Glob>) -> Self {
        self.offered_tools = Some(tools);
        self
    }

    /// Hides all shared servers, except those the agent names or requires.
    #[must_use]
    pub fn without_shared_servers(mut self) -> Self {
        self.shared.get_or_insert_default();
        self
    }

    /// Adds a server that the agent brings, as an entry of `mcpServers` describes it.
    #[must_use]
    pub fn bring_server(mut self, server: &str, entry: &Value) -> Self {
        let text = entry.to_string();
        let source = Source::from_label(&format!("agent {}", self.name));
        // The text was just written as JSON, so there is always a root; without one no server could be added.
        if let Ok(document) = JsonDocument::parse(source, &text)
            && let Some(root) = document.root()
        {
            self.own.push(ServerDeclaration {
                name: ServerName::new(server),
                scope: self.scope,
                provenance: self.provenance(),
                origin: self.origin.clone(),
                raw: RawServer::from_node(server, root),
                variables: Vec::new(),
            });
        }
        self
    }

    /// Requires a server: the agent sees it, and does not begin before it is ready.
    #[must_use]
    pub fn require_server(mut self, server: &str) -> Self {
        self.required.push(ServerName::new(server));
        self
    }

    /// Sets the time limit for the required servers to become ready.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets which of its own servers are started at once; the default is [`StartPolicy::AsNeeded`].
    #[must_use]
    pub fn with_start(mut self, start: StartPolicy) -> Self {
        self.start = start;
        self
    }

    /// Whether the agent sees the shared server of this name.
    #[must_use]
    pub fn can_see(&self, name: &ServerName) -> bool {
        self.shared.as_ref().is_none_or(|shared| shared.contains(name)) || self.required.contains(name)
    }

    /// The names of all shared and required servers, each once.
    pub fn server_names(&self) -> impl Iterator<Item = &ServerName> {
        let shared = self.shared.iter().flatten();
        let more = self.required.iter().filter(|name| !self.shared.iter().flatten().any(|it| it == *name));
        shared.chain(more)
    }
}

/// Start policy: which servers are started with the host. The others are started when they are needed.
#[derive(Clone, Debug, Default)]
pub enum StartPolicy {
    /// Servers without cached facts, and those whose entries say `required` or `alwaysLoad`.
    #[default]
    AsNeeded,
    /// Like [`StartPolicy::AsNeeded`], but only among these.
    Among(Vec<ServerName>),
    /// All servers that may run.
    All,
    /// No server.
    OnDemand,
    /// Only these servers.
    Only(Vec<ServerName>),
}
