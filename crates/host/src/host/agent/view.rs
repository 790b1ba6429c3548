//! Builds the roster of an agent: servers that are lent to it, and its own.
//!
//! The roster is rebuilt whenever the host's servers change, by the rule of every roster: a connection with
//! the same signature stays.

use std::collections::HashSet;
use std::sync::Arc;

use mcparley_model::config::{ServerConfig, TransportConfig};
use mcparley_model::name::ServerName;
use tokio::sync::watch;

use super::{Shared, ViewKind};
use crate::host::BuiltInFactory;
use crate::host::ServerChanges;
use crate::host::built_in::is_built_in;
use crate::host::parts::{DetachedConnection, HostParts, NextRoster, reuse_connection};
use crate::host::roster::Roster;
use crate::host::starter::{ConnectionSlot, ConnectionStarter};
use crate::host::{Host, HostInner, lock_ignoring_poison};
use mcparley_config::{AgentSpec, BUILT_IN_SERVER, LoadedConfig};
use mcparley_pool::connection::{Connection, ServerStatus};
use mcparley_pool::pool_key::PoolKey;

impl Host {
    /// Creates a host with the servers of `self` that this agent may see.
    pub(super) fn create_view(&self, spec: Arc<AgentSpec>, kind: ViewKind) -> Self {
        let above = &self.inner.parts;
        let built_in = above.built_in.map(BuiltInFactory::create_server);
        let start = spec.start.clone();
        let starter = Arc::new(self.roster().starter().for_agent(start, built_in.as_deref(), &kind));
        let parts = HostParts {
            approver: Arc::clone(&above.approver),
            hooks: Arc::clone(&above.hooks),
            classifier: above.classifier.clone(),
            audit: above.audit.clone(),
            page_opener: above.page_opener.clone(),
            in_process_servers: built_in.iter().map(|_| BUILT_IN_SERVER.to_owned()).collect(),
            built_in: above.built_in,
            results: above.results.clone(),
            unprefixed: above.unprefixed.clone(),
            sources: None,
            changes: Arc::clone(&starter.changes),
            events: starter.events.clone(),
            denied: above.denied.clone(),
            calls: Arc::clone(&above.calls),
            vectors: above.vectors.clone(),
        };
        let shared = Shared { host: self.clone(), spec, kind };
        let first = AgentRosterBuilder::new(&shared, None, &HashSet::new(), starter).build_roster(&parts);
        let host = Self::from_inner(Arc::new(HostInner::new(parts, first.roster, Some(shared))));
        if let Some(built_in) = built_in {
            built_in.attach_host(Arc::downgrade(&host.inner));
        }
        host
    }

    /// Rebuilds the agent's roster after a change of the shared servers or of the policy. An agent that has
    /// ended stays as it is.
    pub(in crate::host) fn refresh_view(&self) {
        let Some(shared) = &self.inner.shared else { return };
        if self.has_ended() {
            return;
        }
        let (off, old) = (lock_ignoring_poison(&self.inner.disabled), self.roster());
        let starter = old.starter_for(&shared.host.loaded_config().env);
        let next = AgentRosterBuilder::new(shared, Some(&old), &off, starter).build_roster(&self.inner.parts);
        self.install_roster(next, off);
    }
}

impl ViewKind {
    /// Whether the view has its own connection to a shared server.
    fn has_own_connection(&self, config: &ServerConfig) -> bool {
        match self {
            Self::Agent => false,
            Self::Client(_) => true,
            Self::Principal { .. } => config.has_principal_sign_in(),
        }
    }
}

/// Builder of an agent's roster.
struct AgentRosterBuilder<'g> {
    old: Option<&'g Roster>,
    off: &'g HashSet<ServerName>,
    starter: Arc<ConnectionStarter>,
    above: Arc<Roster>,
    loaded: LoadedConfig,
    connections: Vec<Arc<Connection>>,
    lent: HashSet<ServerName>,
    change: ServerChanges,
    nameless: Vec<DetachedConnection>,
}

impl<'g> AgentRosterBuilder<'g> {
    fn new(
        shared: &Shared,
        old: Option<&'g Roster>,
        off: &'g HashSet<ServerName>,
        starter: Arc<ConnectionStarter>,
    ) -> Self {
        let above = shared.host.roster();
        let own = above.loaded.plan_agent_servers(&shared.spec);
        let mut loaded = above.loaded.for_agent(&shared.spec);
        if matches!(shared.kind, ViewKind::Principal { .. }) {
            // A principal uses the agent above it; the audit log names both.
            loaded.agent.clone_from(&above.loaded.agent);
        }
        let (lent, change) = (HashSet::new(), ServerChanges::default());
        let (connections, nameless) = (Vec::new(), Vec::new());
        let mut this = Self { old, off, starter, above, loaded, connections, lent, change, nameless };
        let own: Vec<(ServerName, ServerConfig)> = own
            .ready_servers()
            .filter_map(|server| Some((server.name.clone(), server.config.clone()?)))
            .collect();
        let has_built_in = shared.host.inner.parts.built_in.is_some();
        this.add_shared_servers(shared, &own, has_built_in);
        own.into_iter().for_each(|(name, config)| this.add_own_server(name, config));
        this
    }

    /// Adds the shared servers that the agent sees. The host's built-in server is excluded: it shows the
    /// whole host.
    fn add_shared_servers(
        &mut self,
        shared: &Shared,
        own: &[(ServerName, ServerConfig)],
        has_built_in: bool,
    ) {
        let is_own = |connection: &Connection| has_built_in && is_built_in(&connection.config);
        let is_hidden = |connection: &Connection| own.iter().any(|(name, _)| *name == connection.name);
        let above = Arc::clone(&self.above);
        for connection in above.connections() {
            if !shared.spec.can_see(&connection.name) || is_own(connection) || is_hidden(connection) {
                continue;
            }
            let is_off = matches!(connection.state().status, ServerStatus::Disabled);
            if shared.kind.has_own_connection(&connection.config) && !is_off {
                self.add_own_server(connection.name.clone(), ServerConfig::clone(&connection.config));
            } else {
                self.lent.insert(connection.name.clone());
                self.connections.push(Arc::clone(connection));
            }
        }
    }

    /// Adds a server of the agent's own: the existing connection for this entry, or a new one.
    fn add_own_server(&mut self, name: ServerName, config: ServerConfig) {
        let before = self.old.and_then(|old| old.own_connection(&name));
        let is_off = self.off.contains(&name);
        let key = self.connection_key(before, &config);
        let reused =
            before.and_then(|before| reuse_connection(before, &config, (key, self.starter.host), is_off));
        let (connection, gone) = match reused {
            Some(reused) => (reused, None),
            None => {
                let (gone, predecessor) = before.map(|_| watch::channel(false)).unzip();
                (
                    self.starter.start_connection(
                        name.clone(),
                        config,
                        key,
                        ConnectionSlot { predecessor, is_off },
                    ),
                    gone,
                )
            }
        };
        match before {
            Some(before) if before.is_same_connection(&connection) => {}
            Some(before) => {
                self.change.changed.push(name);
                self.nameless.push((Arc::clone(before), gone));
            }
            None => self.change.added.push(name),
        }
        self.connections.push(connection);
    }

    /// The pool key of an agent's own connection: the one it had before, that of a shared server if it is
    /// the same server, else a key of the agent alone.
    fn connection_key(&self, before: Option<&Arc<Connection>>, config: &ServerConfig) -> PoolKey {
        let shared = self.starter.pool_key(config);
        let own = shared.with_owner(self.starter.host);
        // Already restricted to its principal.
        let own = if shared.has_credential() { shared } else { own };
        let known = before.map(|before| before.key).filter(|key| [shared, own].contains(key));
        let is_shared = self.above.connections().any(|connection| connection.key == shared);
        known.unwrap_or(if is_shared { shared } else { own })
    }

    fn build_roster(mut self, parts: &HostParts) -> NextRoster {
        for name in &parts.in_process_servers {
            let server = ServerName::new(name);
            if !self.connections.iter().any(|connection| connection.name == server) {
                self.add_own_server(server, ServerConfig::new(TransportConfig::Sdk { name: name.clone() }));
            }
        }
        let gate = parts.build_gate(&self.loaded, &self.connections, &self.starter);
        let Self { old, starter, loaded, connections, lent, mut change, mut nameless, .. } = self;
        let roster = Roster::new(Arc::new(loaded), gate, starter, connections).with_lent(lent);
        let own = old.into_iter().flat_map(Roster::own_connections);
        for gone in own.filter(|connection| roster.own_connection(&connection.name).is_none()) {
            if !nameless.iter().any(|(known, _)| known.name == gone.name) {
                change.removed.push(gone.name.clone());
                nameless.push((Arc::clone(gone), None));
            }
        }
        NextRoster::new(roster, change, nameless)
    }
}
