//! What a host is from its beginning to its end, whatever its servers are; and how a plan becomes a [`Roster`].

use std::collections::HashSet;
use std::sync::Arc;

use mcparley_model::config::{ServerConfig, Transport};
use mcparley_model::name::ServerName;
use mcparley_model::permission::{KnownServers, Mode, RuleSet};
use mcparley_model::signature::Signature;
use tokio::sync::{broadcast, watch};

use super::roster::Roster;
use super::starter::{Place, Starter};
use crate::call::{Approver, Gate};
use crate::connection::{Connection, Event};
use crate::reload::{Change, Sources};
use crate::sources::Loaded;

/// What does not change while a host lives.
pub(super) struct Standing {
    pub(super) approver: Arc<dyn Approver>,
    /// The names of the servers inside this program.
    pub(super) inside: Vec<String>,
    /// Where the configuration can be read again.
    pub(super) sources: Option<Sources>,
    /// Counts the changes of all servers.
    pub(super) changes: Arc<watch::Sender<u64>>,
    pub(super) events: broadcast::Sender<Event>,
}

/// The next roster, and what is to be done about the last one.
pub(super) struct Next {
    pub(super) roster: Roster,
    pub(super) change: Change,
    /// Connections that nobody uses from now on; where one has a successor, it waits for the signal.
    pub(super) leaving: Vec<(Arc<Connection>, Option<watch::Sender<bool>>)>,
}

impl Standing {
    /// The roster a host begins with.
    pub(super) fn first(&self, loaded: Loaded, starter: Arc<Starter>) -> Roster {
        let start = |(name, config)| starter.connection(name, config, Place::default());
        let connections: Vec<Arc<Connection>> = self.configured(&loaded).into_iter().map(start).collect();
        let gate = self.gate(&loaded, &connections);
        Roster::new(Arc::new(loaded), gate, starter, connections)
    }

    /// The roster that follows `old`: what has the same signature goes on as it is (C11).
    pub(super) fn next(&self, old: &Roster, loaded: Loaded, off: &HashSet<ServerName>) -> Next {
        let starter = old.starter_for(&loaded.env);
        let (mut change, mut leaving) = (Change::default(), Vec::new());
        let mut connections = Vec::new();
        for (name, config) in self.configured(&loaded) {
            let mut place = Place { predecessor: None, is_off: off.contains(&name) };
            match old.connection(&name) {
                Some(kept) if kept.signature == Signature::of(&config) => {
                    let is_same = *kept.config == config;
                    let kept = if is_same { Arc::clone(kept) } else { Arc::new(kept.adjusted(config)) };
                    connections.push(kept);
                    continue;
                }
                Some(changed) => {
                    let (gone, predecessor) = watch::channel(false);
                    leaving.push((Arc::clone(changed), Some(gone)));
                    place.predecessor = Some(predecessor);
                    change.changed.push(name.clone());
                }
                None => change.added.push(name.clone()),
            }
            connections.push(starter.connection(name, config, place));
        }
        let gate = self.gate(&loaded, &connections);
        let roster = Roster::new(Arc::new(loaded), gate, starter, connections);
        for gone in old.connections().filter(|connection| roster.connection(&connection.name).is_none()) {
            change.removed.push(gone.name.clone());
            leaving.push((Arc::clone(gone), None));
        }
        Next { roster, change, leaving }
    }

    /// Every server that may run, in the order of the plan, then those inside this program.
    fn configured(&self, loaded: &Loaded) -> Vec<(ServerName, ServerConfig)> {
        let planned = loaded.plan.ready();
        let mut servers: Vec<(ServerName, ServerConfig)> =
            planned.filter_map(|server| Some((server.name.clone(), server.config.clone()?))).collect();
        let mut names: HashSet<ServerName> = servers.iter().map(|(name, _)| name.clone()).collect();
        for name in &self.inside {
            let server = ServerName::new(name);
            if names.insert(server.clone()) {
                let entry = ServerConfig::new(Transport::Sdk { name: name.clone() });
                servers.push((server, entry));
            }
        }
        servers
    }

    fn gate(&self, loaded: &Loaded, connections: &[Arc<Connection>]) -> Gate {
        Gate::new(
            RuleSet::new(loaded.settings.rules.iter().cloned()),
            loaded.settings.mode.as_ref().map_or(Mode::Default, |mode| mode.value),
            KnownServers::new(connections.iter().map(|connection| connection.name.clone())),
            Arc::clone(&self.approver),
        )
    }
}

impl std::fmt::Debug for Standing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Standing").field("inside", &self.inside).finish_non_exhaustive()
    }
}
