//! Puts together what an agent sees: servers that are lent to it, and its own.
//!
//! It is put together anew whenever the host's servers change, by the same rule as every roster: what has the same
//! signature goes on as it is (C11).

use std::collections::HashSet;
use std::sync::Arc;

use mcparley_model::config::{ServerConfig, Transport};
use mcparley_model::name::ServerName;
use mcparley_model::signature::Signature;
use tokio::sync::watch;

use super::Shared;
use crate::agent::AgentSpec;
use crate::connection::Connection;
use crate::host::parts::{HostParts, Nameless, Next};
use crate::host::roster::Roster;
use crate::host::starter::{Place, Starter};
use crate::host::{Host, HostInner, locked};
use crate::own_server::{self, OwnServer};
use crate::reload::Change;
use crate::sources::Loaded;

impl Host {
    /// A host that sees what this agent may see of `self`.
    pub(super) fn view_for(&self, spec: Arc<AgentSpec>) -> Self {
        let above = &self.inner.parts;
        let own = above.own_server.then(|| Arc::new(OwnServer::new(above.offers_own_server)));
        let starter = Arc::new(self.roster().starter().for_agent(spec.start.clone(), own.clone()));
        let parts = HostParts {
            approver: Arc::clone(&above.approver),
            hooks: Arc::clone(&above.hooks),
            classifier: above.classifier.clone(),
            audit: above.audit.clone(),
            page_opener: above.page_opener.clone(),
            inside: own.iter().map(|_| own_server::NAME.to_owned()).collect(),
            own_server: own.is_some(),
            offers_own_server: above.offers_own_server,
            results: above.results.clone(),
            bare: above.bare.clone(),
            sources: None,
            changes: Arc::clone(&starter.changes),
            events: starter.events.clone(),
            denied: above.denied.clone(),
        };
        let shared = Shared { host: self.clone(), spec };
        let first = Gathering::new(&shared, None, &HashSet::new(), starter).finish(&parts);
        let host = Self::from_inner(Arc::new(HostInner::new(parts, first.roster, Some(shared))));
        if let Some(own) = own {
            own.show(Arc::downgrade(&host.inner));
        }
        host
    }

    /// Sees what has become of the servers it shares, and judges its own anew. One that has ended stays as it is.
    pub(in crate::host) fn follow(&self) {
        let Some(shared) = &self.inner.shared else { return };
        if self.has_ended() {
            return;
        }
        let (off, old) = (locked(&self.inner.off), self.roster());
        let starter = old.starter_for(&shared.host.loaded().env);
        let next = Gathering::new(shared, Some(&old), &off, starter).finish(&self.inner.parts);
        self.put(next, off);
    }
}

/// A roster that is being put together.
struct Gathering<'g> {
    old: Option<&'g Roster>,
    off: &'g HashSet<ServerName>,
    starter: Arc<Starter>,
    above: Arc<Roster>,
    loaded: Loaded,
    connections: Vec<Arc<Connection>>,
    lent: HashSet<ServerName>,
    change: Change,
    nameless: Vec<Nameless>,
}

impl<'g> Gathering<'g> {
    fn new(
        shared: &Shared,
        old: Option<&'g Roster>,
        off: &'g HashSet<ServerName>,
        starter: Arc<Starter>,
    ) -> Self {
        let above = shared.host.roster();
        let own = above.loaded.own_of(&shared.spec);
        let loaded = above.loaded.for_agent(&shared.spec);
        let (lent, change) = (HashSet::new(), Change::default());
        let (connections, nameless) = (Vec::new(), Vec::new());
        let mut this = Self { old, off, starter, above, loaded, connections, lent, change, nameless };
        let own: Vec<(ServerName, ServerConfig)> =
            own.ready().filter_map(|server| Some((server.name.clone(), server.config.clone()?))).collect();
        this.borrow(&shared.spec, &own, shared.host.inner.parts.own_server);
        own.into_iter().for_each(|(name, config)| this.bring(name, config));
        this
    }

    /// Takes the shared servers the agent sees. The host's built-in server is none of them: it shows the whole host.
    fn borrow(&mut self, spec: &AgentSpec, own: &[(ServerName, ServerConfig)], has_built_in: bool) {
        let is_built_in = |connection: &Connection| has_built_in && is_own_server(&connection.config);
        let is_hidden = |connection: &Connection| own.iter().any(|(name, _)| *name == connection.name);
        for connection in self.above.connections() {
            if spec.sees(&connection.name) && !is_built_in(connection) && !is_hidden(connection) {
                self.lent.insert(connection.name.clone());
                self.connections.push(Arc::clone(connection));
            }
        }
    }

    /// Takes one of the agent's own: one that there is for this entry already, or a new one.
    fn bring(&mut self, name: ServerName, config: ServerConfig) {
        let before = self.old.and_then(|old| old.own_connection(&name));
        let is_off = self.off.contains(&name);
        // Switching one name off must not take the connection away from the others.
        let is_kept = is_off && self.old.zip(before).is_some_and(|(old, before)| old.is_shared(before));
        let reused = if is_kept { None } else { self.reused(before, &name, &config) };
        let (connection, gone) = match reused {
            Some(reused) => (reused, None),
            None => {
                let (gone, predecessor) = before.map(|_| watch::channel(false)).unzip();
                (self.starter.connection(name.clone(), config, Place { predecessor, is_off }), gone)
            }
        };
        match before {
            Some(before) if before.is(&connection) => {}
            Some(before) => {
                self.change.changed.push(name);
                self.nameless.push((Arc::clone(before), gone));
            }
            None => self.change.added.push(name),
        }
        self.connections.push(connection);
    }

    /// The connection there is for this entry: the one of its name, another one of the agent, or a shared one (L4).
    fn reused(
        &mut self,
        before: Option<&Arc<Connection>>,
        name: &ServerName,
        config: &ServerConfig,
    ) -> Option<Arc<Connection>> {
        let signature = Signature::of(config);
        if let Some(before) = before.filter(|before| before.signature == signature) {
            let is_same = *before.config == *config;
            return Some(if is_same {
                Arc::clone(before)
            } else {
                Arc::new(before.adjusted(config.clone()))
            });
        }
        // A server inside this program costs nothing, and may be another one for the agent. One that is switched off
        // shares with nobody: it would be on with the others, or they off with it.
        if matches!(config.transport, Transport::Sdk { .. }) || self.off.contains(name) {
            return None;
        }
        let is_it =
            |known: &&Arc<Connection>| known.signature == signature && !self.off.contains(&known.name);
        let own = self.connections.iter().filter(|known| !self.lent.contains(&known.name));
        if let Some(own) = own.chain(self.old.into_iter().flat_map(Roster::own)).find(is_it) {
            return Some(Arc::new(own.also(name.clone(), config.clone())));
        }
        let shared = self.above.connections().find(|known| known.signature == signature)?;
        self.lent.insert(name.clone());
        Some(Arc::new(shared.known_as(name.clone(), config.clone())))
    }

    fn finish(mut self, parts: &HostParts) -> Next {
        for name in &parts.inside {
            let server = ServerName::new(name);
            if !self.connections.iter().any(|connection| connection.name == server) {
                self.bring(server, ServerConfig::new(Transport::Sdk { name: name.clone() }));
            }
        }
        let gate = parts.gate(&self.loaded, &self.connections, &self.starter);
        let Self { old, starter, loaded, connections, lent, mut change, mut nameless, .. } = self;
        let roster = Roster::new(Arc::new(loaded), gate, starter, connections).with_lent(lent);
        let own = old.into_iter().flat_map(Roster::own);
        for gone in own.filter(|connection| roster.own_connection(&connection.name).is_none()) {
            if !nameless.iter().any(|(known, _)| known.name == gone.name) {
                change.removed.push(gone.name.clone());
                nameless.push((Arc::clone(gone), None));
            }
        }
        Next::new(roster, change, nameless)
    }
}

fn is_own_server(config: &ServerConfig) -> bool {
    matches!(&config.transport, Transport::Sdk { name } if name == own_server::NAME)
}
