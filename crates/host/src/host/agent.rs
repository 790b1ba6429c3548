//! Agents: each is a host of its own that borrows servers from another and brings more (X7).
//!
//! Because it is a host, everything goes the same way: one catalogue, one gate, one way to call. What it borrows it
//! never stops; what it brings nobody else sees.

mod view;

use std::ops::Deref;
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcparley_model::name::ServerName;
use mcparley_wire::peer::Boxed;
use tokio::time::Instant;

use super::{Host, locked};
use crate::agent::{AgentError, AgentSpec, Missing};
use crate::connection::{Connection, Unavailable};
use crate::sources::{agents_of, similar_names};

/// What an agent was made of: the host it shares, and what it asked for.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) host: Host,
    spec: Arc<AgentSpec>,
}

/// An agent's own view of a host: the shared servers it may see, and its own.
///
/// It is used like the [`Host`] it dereferences to. [`Host::events`] tells of its own servers; those it shares tell at
/// the host. Cheap to clone; when the last clone is dropped its own servers end at once, [`Agent::end`] ends them in
/// order. The shared ones stay. It keeps the host alive.
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
    /// What it was made of.
    #[must_use]
    pub fn spec(&self) -> &AgentSpec {
        &self.spec
    }

    /// The servers it names that are not there now, and why.
    #[must_use]
    pub fn missing(&self) -> Vec<Missing> {
        let roster = self.roster();
        let absent = self.spec.named().filter(|name| roster.connection(name).is_none());
        absent.map(|name| self.lacking(name)).collect()
    }

    /// Ends its own servers in order. Calls on them fail from now on.
    pub async fn end(&self) {
        self.host.shut_down().await;
    }

    fn lacking(&self, name: &ServerName) -> Missing {
        let shared = self.host.inner.shared.iter().flat_map(|shared| shared.host.roster().names());
        let known: Vec<ServerName> = shared.chain(self.roster().names()).collect();
        Missing {
            because: self.loaded().why_not(name.as_str()),
            similar: similar_names(name.as_str(), known.iter().map(ServerName::as_str)),
            name: name.clone(),
        }
    }

    /// Waits until every server it requires answers.
    async fn requirements(&self) -> Result<(), AgentError> {
        let deadline = Instant::now() + self.spec.deadline;
        let mut required = Vec::new();
        for name in self.required() {
            let Some(connection) = self.connection(&name) else {
                let (agent, missing) = (self.spec.name.clone(), self.lacking(&name));
                return Err(AgentError::Missing { agent, missing });
            };
            connection.wake();
            required.push(connection);
        }
        for connection in required {
            self.reached(&connection, deadline).await?;
        }
        Ok(())
    }

    /// What the agent requires, and those of its own whose entries say so.
    fn required(&self) -> Vec<ServerName> {
        let roster = self.roster();
        let own = roster.own().filter(|connection| connection.config.required);
        self.spec.required.iter().cloned().chain(own.map(|connection| connection.name.clone())).collect()
    }

    async fn reached(&self, connection: &Connection, deadline: Instant) -> Result<(), AgentError> {
        let (agent, server) = (self.spec.name.clone(), connection.name.clone());
        match tokio::time::timeout_at(deadline, until_reached(connection)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(why)) => Err(AgentError::Unavailable { agent, server, why }),
            Err(_) => Err(AgentError::Late { agent, server, limit: self.spec.deadline }),
        }
    }
}

/// Reaches it; one that was lost and is tried again is waited for.
async fn until_reached(connection: &Connection) -> Result<(), Unavailable> {
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
    /// Starts an agent: its own servers, and waits for those it requires.
    ///
    /// Where it names shared servers it sees these and no others; where it names none it sees all of them. A server it
    /// brings hides a shared one of its name, and shares the connection of one that is the same. Dropping the future
    /// stops what was started for it.
    ///
    /// # Errors
    /// When a server it requires is not there, cannot be used or does not answer in time, or the host has ended.
    pub async fn agent(&self, spec: AgentSpec) -> Result<Agent, AgentError> {
        let agent = self.begun(spec)?;
        match agent.requirements().await {
            Ok(()) => Ok(agent),
            Err(error) => {
                agent.end().await;
                Err(error)
            }
        }
    }

    /// Starts an agent that a file describes.
    ///
    /// # Errors
    /// As [`Host::agent`], and when no file describes an agent of this name.
    pub async fn agent_named(&self, name: &str) -> Result<Agent, AgentError> {
        let roster = self.roster();
        let (paths, loaded) = (Arc::clone(roster.paths()), Arc::clone(&roster.loaded));
        let reading = crate::task::aside(move || agents_of(&paths, &loaded.left_out));
        let agents = reading.await.unwrap_or_default();
        self.agent(agents.named(name)?.clone()).await
    }

    /// Made while the list of agents is held: whatever changes here, a new agent either begins with it or follows it.
    fn begun(&self, spec: AgentSpec) -> Result<Agent, AgentError> {
        let mut agents = locked(&self.inner.agents);
        let Some(known) = agents.as_mut() else { return Err(AgentError::Ended { agent: spec.name }) };
        known.retain(|agent| agent.strong_count() > 0);
        let spec = Arc::new(spec);
        let host = self.view_for(Arc::clone(&spec));
        known.push(Arc::downgrade(&host.inner));
        Ok(Agent { host, spec })
    }

    pub(super) fn is_agent(&self) -> bool {
        self.inner.shared.is_some()
    }

    /// Lets every agent follow what has changed here.
    pub(super) fn agents_follow(&self) {
        let agents = locked(&self.inner.agents);
        for agent in agents.iter().flatten().filter_map(Weak::upgrade) {
            Self::from_inner(agent).follow();
        }
    }

    /// The agents that share servers of this one.
    pub(crate) fn agents(&self) -> Vec<Self> {
        let agents = locked(&self.inner.agents);
        agents.iter().flatten().filter_map(Weak::upgrade).map(Self::from_inner).collect()
    }

    /// Whether it was shut down: nothing begins in it any more.
    pub(super) fn has_ended(&self) -> bool {
        locked(&self.inner.agents).is_none()
    }

    /// The agents there are; from now on there are no new ones.
    pub(super) fn take_agents(&self) -> Vec<Self> {
        let agents = locked(&self.inner.agents).take().unwrap_or_default();
        agents.iter().filter_map(Weak::upgrade).map(Self::from_inner).collect()
    }

    /// Ends it; boxed, since agents may have agents.
    pub(super) fn into_end(self) -> Boxed<'static, ()> {
        Box::pin(async move { self.shut_down().await })
    }
}
