//! Agents: each is a host of its own that shares servers of another host and adds more.
//!
//! Because an agent is a host, it has its own catalog and permission gate, and makes calls the same way.
//! Servers that it shares are never stopped by it; servers that it adds are visible to no other host.

mod view;

use std::ops::Deref;
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcparley_model::name::ServerName;
use mcparley_pool::auth::PrincipalSignIn;
use mcparley_wire::peer::BoxedFuture;
use tokio::time::Instant;

use super::{Host, lock_ignoring_poison};
use crate::agent_error::AgentError;
use mcparley_config::load_agents_without;
use mcparley_config::{AgentSpec, MissingServer, StartPolicy};
use mcparley_model::similar::similar_names;
use mcparley_pool::client_offer::ClientOffer;
use mcparley_pool::connection::{Connection, Unavailable};

/// The host whose servers an agent shares, and the agent's spec.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) host: Host,
    spec: Arc<AgentSpec>,
    kind: ViewKind,
}

/// The kind of a view, which decides about connections of its own.
#[derive(Clone, Debug)]
pub(super) enum ViewKind {
    /// An agent, which shares connections.
    Agent,
    /// The view of a client with these capabilities. It has connections of its own, since a server sees them.
    Client(ClientOffer),
    /// The view of a principal of a gateway. It has connections of its own to servers that the principal signs in
    /// to.
    Principal {
        /// The name of the principal.
        name: Arc<str>,
        /// The means of its sign-ins.
        sign_in: PrincipalSignIn,
    },
}

/// An agent's own view of a host: the shared servers it may see, and its own.
///
/// It is used like the [`Host`] it dereferences to. [`Host::server_events`] reports its own servers; events
/// of shared servers come from the host. Cheap to clone; when the last clone is dropped its own servers are
/// killed at once, [`Agent::end`] ends them gracefully. The shared ones stay. An agent keeps the host alive.
#[derive(Clone, Debug)]
pub struct Agent {
    host: Host,
    spec: Arc<AgentSpec>,
}

impl Deref for Agent {
    type Target = Host;

    fn deref(&self) -> &Host {
        &self.host
    }
}

impl Agent {
    /// The spec that the agent was started with.
    #[must_use]
    pub fn spec(&self) -> &AgentSpec {
        &self.spec
    }

    /// The servers that the spec names and that do not exist now, with the reasons.
    #[must_use]
    pub fn missing_servers(&self) -> Vec<MissingServer> {
        let roster = self.roster();
        let absent = self.spec.server_names().filter(|name| roster.connection(name).is_none());
        absent.map(|name| self.describe_missing(name)).collect()
    }

    /// Shuts the agent's own servers down gracefully. Calls on them fail from now on.
    pub async fn end(&self) {
        self.host.shut_down().await;
    }

    fn describe_missing(&self, name: &ServerName) -> MissingServer {
        let shared = self.host.inner.shared.iter().flat_map(|shared| shared.host.roster().names());
        let known: Vec<ServerName> = shared.chain(self.roster().names()).collect();
        MissingServer {
            because: self.loaded_config().unavailable_reason(name.as_str()),
            similar: similar_names(name.as_str(), known.iter().map(ServerName::as_str)),
            name: name.clone(),
        }
    }

    /// Waits until every required server is connected.
    async fn wait_for_required(&self) -> Result<(), AgentError> {
        let deadline = Instant::now() + self.spec.deadline;
        let mut required = Vec::new();
        for name in self.required_servers() {
            let Some(connection) = self.connection(&name) else {
                let (agent, missing) = (self.spec.name.clone(), self.describe_missing(&name));
                return Err(AgentError::Missing { agent, missing });
            };
            connection.start_connecting();
            required.push(connection);
        }
        for connection in required {
            self.wait_for_server(&connection, deadline).await?;
        }
        Ok(())
    }

    /// The servers that the spec requires, and the agent's own servers whose entries say `required`.
    fn required_servers(&self) -> Vec<ServerName> {
        let roster = self.roster();
        let own = roster.own_connections().filter(|connection| connection.config.required);
        self.spec.required.iter().cloned().chain(own.map(|connection| connection.name.clone())).collect()
    }

    async fn wait_for_server(&self, connection: &Connection, deadline: Instant) -> Result<(), AgentError> {
        let (agent, server) = (self.spec.name.clone(), connection.name.clone());
        match tokio::time::timeout_at(deadline, connect_through_backoff(connection)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(why)) => Err(AgentError::Unavailable { agent, server, why }),
            Err(_) => Err(AgentError::TimedOut { agent, server, limit: self.spec.deadline }),
        }
    }
}

/// Connects to a server; waits through the backoff of one that was lost.
async fn connect_through_backoff(connection: &Connection) -> Result<(), Unavailable> {
    loop {
        match connection.lease().await {
            Ok(_) => return Ok(()),
            Err(Unavailable::Waiting { again, .. }) => {
                tokio::time::sleep(again.max(Duration::from_millis(1))).await;
            }
            Err(why) => return Err(why),
        }
    }
}

impl Host {
    /// Starts an agent: starts its own servers, and waits for those it requires.
    ///
    /// An agent whose spec names shared servers sees only these; otherwise it sees all of them. A server of
    /// its own hides a shared one of the same name, and shares the connection of an identical one. Dropping
    /// the future stops the servers that were started for it.
    ///
    /// # Errors
    /// When a required server does not exist, cannot be used or does not answer in time, or the host is
    /// shutting down.
    pub async fn start_agent(&self, spec: AgentSpec) -> Result<Agent, AgentError> {
        let agent = self.create_agent(spec, ViewKind::Agent)?;
        match agent.wait_for_required().await {
            Ok(()) => Ok(agent),
            Err(error) => {
                agent.end().await;
                Err(error)
            }
        }
    }

    /// Opens the view of a client with these capabilities: an agent whose connections offer them to the
    /// servers it shares.
    ///
    /// # Errors
    /// When the host is shutting down.
    pub fn open_client_view(&self, spec: AgentSpec, offer: ClientOffer) -> Result<Agent, AgentError> {
        self.create_agent(spec, ViewKind::Client(offer))
    }

    /// Opens the view of a principal of a gateway. Where the entry of a server says so, its connection is the
    /// principal's own, with the principal's own sign-in; all others are those of this host.
    #[must_use]
    pub fn open_principal_view(&self, principal: &str, sign_in: PrincipalSignIn) -> Agent {
        let kind = ViewKind::Principal { name: Arc::from(principal), sign_in };
        let spec = AgentSpec::new(principal);
        self.create_agent(spec, kind.clone()).unwrap_or_else(|_shutting_down| {
            // It connects to no server by itself, and never uses another principal's connection.
            let mut spec = AgentSpec::new(principal);
            spec.start = StartPolicy::OnDemand;
            let spec = Arc::new(spec);
            Agent { host: self.create_view(Arc::clone(&spec), kind), spec }
        })
    }

    /// Starts an agent that a file describes.
    ///
    /// # Errors
    /// As [`Host::start_agent`], and when no file describes an agent of this name.
    pub async fn start_agent_from_file(&self, name: &str) -> Result<Agent, AgentError> {
        let roster = self.roster();
        let (paths, loaded) = (Arc::clone(roster.paths()), Arc::clone(&roster.loaded));
        let reading =
            mcparley_platform::thread::run_blocking(move || load_agents_without(&paths, &loaded.left_out));
        let agents = reading.await.unwrap_or_default();
        self.start_agent(agents.find_agent(name)?.clone()).await
    }

    /// Creates an agent while the list of agents is locked: a new agent either starts with a concurrent
    /// change or is refreshed by it.
    fn create_agent(&self, spec: AgentSpec, kind: ViewKind) -> Result<Agent, AgentError> {
        let mut agents = lock_ignoring_poison(&self.inner.agents);
        let Some(known) = agents.as_mut() else { return Err(AgentError::Ended { agent: spec.name }) };
        known.retain(|agent| agent.strong_count() > 0);
        let spec = Arc::new(spec);
        let host = self.create_view(Arc::clone(&spec), kind);
        known.push(Arc::downgrade(&host.inner));
        Ok(Agent { host, spec })
    }

    pub(super) fn is_agent(&self) -> bool {
        self.inner.shared.is_some()
    }

    /// Refreshes every agent after a change of this host's servers.
    pub(super) fn refresh_agents(&self) {
        let agents = lock_ignoring_poison(&self.inner.agents);
        for agent in agents.iter().flatten().filter_map(Weak::upgrade) {
            Self::from_inner(agent).refresh_view();
        }
    }

    /// The live agents that share servers of this host.
    pub(crate) fn live_agents(&self) -> Vec<Self> {
        let agents = lock_ignoring_poison(&self.inner.agents);
        agents.iter().flatten().filter_map(Weak::upgrade).map(Self::from_inner).collect()
    }

    /// Whether the host was shut down: no server or agent is started any more.
    pub(super) fn has_ended(&self) -> bool {
        lock_ignoring_poison(&self.inner.agents).is_none()
    }

    /// Takes the live agents, and prevents new ones.
    pub(super) fn take_agents(&self) -> Vec<Self> {
        let agents = lock_ignoring_poison(&self.inner.agents).take().unwrap_or_default();
        agents.iter().filter_map(Weak::upgrade).map(Self::from_inner).collect()
    }

    /// Shuts the host down; boxed, since agents may have agents.
    pub(super) fn shut_down_boxed(self) -> BoxedFuture<'static, ()> {
        Box::pin(async move { self.shut_down().await })
    }
}
