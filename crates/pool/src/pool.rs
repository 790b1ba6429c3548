//! The connection pool: every live connection of a process, shared by hosts with the same [`PoolKey`].
//!
//! The key consists of the server's entry and all that the server sees of its client. A host is a view over a
//! pool; a connection shuts down gracefully when the last host releases it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcparley_model::config::ServerConfig;
use mcparley_model::expand::Env;

use crate::connection::{Connection, ConnectionUser, ServerStatus, WeakConnection};
use crate::host_id::HostId;
use crate::pool_key::PoolKey;
use crate::start_gate::StartGate;

/// The connection pool of a process. Cheap to clone; clones share it.
#[derive(Clone, Debug)]
pub struct Pool {
    connections: Arc<Mutex<HashMap<PoolKey, WeakConnection>>>,
    gate: StartGate,
}

impl Default for Pool {
    /// An empty pool with the default limits.
    fn default() -> Self {
        Self::new(StartGate::from_env(&Env::default()))
    }
}

impl Pool {
    /// An empty pool with this limit on servers that start at once.
    #[must_use]
    pub fn new(gate: StartGate) -> Self {
        Self { connections: Arc::default(), gate }
    }

    /// Limits the number of servers that start at once.
    #[must_use]
    pub fn gate(&self) -> &StartGate {
        &self.gate
    }

    /// The connection of this key for one more user; `start` creates it if there is none.
    pub fn connection_for(
        &self,
        key: PoolKey,
        config: ServerConfig,
        user: ConnectionUser,
        start: impl FnOnce(ServerConfig, ConnectionUser) -> Connection,
    ) -> Connection {
        let mut connections = self.lock_connections();
        let known = connections.get(&key).and_then(WeakConnection::upgrade);
        // A disabled or stopped connection is of no use to another host.
        let is_usable = |known: &Connection| {
            !matches!(known.state().status, ServerStatus::Disabled | ServerStatus::Stopped)
        };
        if let Some(known) = known.filter(is_usable) {
            return known.with_user(config, user);
        }
        let connection = start(config, user);
        connections.insert(key, connection.downgrade());
        connection
    }

    /// Releases a connection for a host; returns whether no other host uses it, so that the caller has to
    /// stop it.
    #[must_use]
    pub fn release_connection(&self, connection: &Connection, host: HostId) -> bool {
        let mut connections = self.lock_connections();
        let is_last = connection.remove_user(host);
        if is_last {
            connections.retain(|_, known| {
                known.upgrade().is_some_and(|known| !known.is_same_connection(connection))
            });
        }
        is_last
    }

    fn lock_connections(&self) -> MutexGuard<'_, HashMap<PoolKey, WeakConnection>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
