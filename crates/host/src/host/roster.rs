//! The servers in force: the plan, and one connection for each server that may run. Replaced as a whole when
//! the plan changes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mcparley_model::expand::Env;
use mcparley_model::name::ServerName;

use super::starter::ConnectionStarter;
use crate::permission::{PermissionGate, ToolFactsCache};
use mcparley_config::LoadedConfig;
use mcparley_config::Paths;
use mcparley_pool::connection::Connection;
use mcparley_results::ResultBudget;

/// The servers in force, with the permission gate for their calls.
#[derive(Debug)]
pub(crate) struct Roster {
    pub(crate) loaded: Arc<LoadedConfig>,
    pub(crate) gate: PermissionGate,
    /// The maximum size of a result that a model is given.
    pub(crate) result_budget: ResultBudget,
    /// Cached facts about tools that were called.
    pub(crate) tool_facts: ToolFactsCache,
    starter: Arc<ConnectionStarter>,
    /// In plan order.
    connections: Vec<Arc<Connection>>,
    by_name: HashMap<ServerName, usize>,
    /// The servers whose connection belongs to another host.
    lent: HashSet<ServerName>,
}

impl Roster {
    pub(super) fn new(
        loaded: Arc<LoadedConfig>,
        gate: PermissionGate,
        starter: Arc<ConnectionStarter>,
        connections: Vec<Arc<Connection>>,
    ) -> Self {
        let by_name = connections.iter().enumerate().map(|(at, it)| (it.name.clone(), at)).collect();
        let result_budget = ResultBudget::from_env(&loaded.env);
        Self {
            loaded,
            gate,
            result_budget,
            tool_facts: ToolFactsCache::default(),
            starter,
            connections,
            by_name,
            lent: HashSet::new(),
        }
    }

    /// Marks these servers as lent by another host.
    pub(super) fn with_lent(self, lent: HashSet<ServerName>) -> Self {
        Self { lent, ..self }
    }

    pub(crate) fn starter(&self) -> &Arc<ConnectionStarter> {
        &self.starter
    }

    /// Whether the start options of the host exclude this server.
    pub(crate) fn is_excluded(&self, server: &ServerName) -> bool {
        self.starter.is_excluded(server)
    }

    /// The starter of connections under these environment variables.
    pub(super) fn starter_for(&self, env: &Env) -> Arc<ConnectionStarter> {
        if *env == self.loaded.env { Arc::clone(&self.starter) } else { Arc::new(self.starter.with_env(env)) }
    }

    /// Every connection, in plan order.
    pub(crate) fn connections(&self) -> impl Iterator<Item = &Arc<Connection>> {
        self.connections.iter()
    }

    /// Whether the connection has another name too, or is used by another host.
    pub(super) fn is_shared(&self, connection: &Connection) -> bool {
        connection.is_shared(self.starter.host)
    }

    /// Releases a connection; returns whether it must be stopped, since no other host uses it.
    pub(super) fn release_connection(&self, connection: &Connection) -> bool {
        self.starter.pool.release_connection(connection, self.starter.host)
    }

    pub(crate) fn paths(&self) -> &Arc<Paths> {
        &self.starter.context.dialer.paths
    }

    pub(super) fn names(&self) -> Vec<ServerName> {
        self.connections.iter().map(|connection| connection.name.clone()).collect()
    }

    /// The connections that end with this host.
    pub(crate) fn own_connections(&self) -> impl Iterator<Item = &Arc<Connection>> {
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
