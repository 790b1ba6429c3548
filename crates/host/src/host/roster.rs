//! The servers in force: the plan, and one handle for each server that may run. Replaced whole when the plan changes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mcparley_model::expand::Env;
use mcparley_model::name::ServerName;

use super::starter::Starter;
use crate::call::Gate;
use crate::connection::Connection;
use crate::paths::Paths;
use crate::results::ResultBudget;
use crate::sources::Loaded;

/// The servers in force, and what calls are judged by.
#[derive(Debug)]
pub(crate) struct Roster {
    pub(crate) loaded: Arc<Loaded>,
    pub(crate) gate: Gate,
    /// How much of a result a model is given.
    pub(crate) room: ResultBudget,
    starter: Arc<Starter>,
    /// In the order of the plan.
    connections: Vec<Arc<Connection>>,
    by_name: HashMap<ServerName, usize>,
    /// Those of them whose connection belongs to another host.
    lent: HashSet<ServerName>,
}

impl Roster {
    pub(super) fn new(
        loaded: Arc<Loaded>,
        gate: Gate,
        starter: Arc<Starter>,
        connections: Vec<Arc<Connection>>,
    ) -> Self {
        let by_name = connections.iter().enumerate().map(|(at, it)| (it.name.clone(), at)).collect();
        let room = ResultBudget::usual(&loaded.env);
        Self { loaded, gate, room, starter, connections, by_name, lent: HashSet::new() }
    }

    /// The same, with these servers only lent by another host.
    pub(super) fn with_lent(self, lent: HashSet<ServerName>) -> Self {
        Self { lent, ..self }
    }

    pub(super) fn starter(&self) -> &Arc<Starter> {
        &self.starter
    }

    /// Whether the host was told to start others and not this server.
    pub(crate) fn leaves_out(&self, server: &ServerName) -> bool {
        self.starter.leaves_out(server)
    }

    /// What connections are started with under these variables.
    pub(super) fn starter_for(&self, env: &Env) -> Arc<Starter> {
        if *env == self.loaded.env { Arc::clone(&self.starter) } else { Arc::new(self.starter.under(env)) }
    }

    /// Every server, in the order of the plan.
    pub(crate) fn connections(&self) -> impl Iterator<Item = &Arc<Connection>> {
        self.connections.iter()
    }

    /// Whether the connection goes by another name too.
    pub(super) fn is_shared(&self, connection: &Connection) -> bool {
        self.connections().any(|other| other.name != connection.name && other.is(connection))
    }

    pub(crate) fn paths(&self) -> &Arc<Paths> {
        &self.starter.surroundings.paths
    }

    pub(super) fn names(&self) -> Vec<ServerName> {
        self.connections.iter().map(|connection| connection.name.clone()).collect()
    }

    /// Those that end with this host.
    pub(crate) fn own(&self) -> impl Iterator<Item = &Arc<Connection>> {
        self.connections.iter().filter(|connection| !self.lent.contains(&connection.name))
    }

    pub(super) fn is_lent(&self, name: &ServerName) -> bool {
        self.lent.contains(name)
    }

    /// The server of this name, if it ends with this host.
    pub(super) fn own_connection(&self, name: &ServerName) -> Option<&Arc<Connection>> {
        self.connection(name).filter(|_| !self.lent.contains(name))
    }

    pub(crate) fn connection(&self, name: &ServerName) -> Option<&Arc<Connection>> {
        self.by_name.get(name).and_then(|place| self.connections.get(*place))
    }
}
