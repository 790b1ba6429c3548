//! The façade: one value that holds every server, the catalogue and the way to call.
//!
//! | what | where |
//! |---|---|
//! | putting it together | `builder` |
//! | waiting for the servers | `ready` |
//! | everything as one value, for people and programs | `state` |
//! | one call | [`crate::call`] |

mod builder;
mod ready;
mod state;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use mcparley_model::name::ServerName;
use mcparley_model::text::Untrusted;
use tokio::sync::{broadcast, watch};
use tokio::task::JoinSet;

use crate::call::Gate;
use crate::catalog::{Assembler, Catalog, Seen};
use crate::connection::{Connection, Event, Status, Unavailable};
use crate::log::LogLine;
use crate::sources::{Loaded, similar_names};

pub use builder::{HostBuilder, Start};
pub use ready::{Readiness, Server};
pub use state::HostState;

/// Every server of a user, and one call from end to end. Cheap to clone; all clones are one host.
///
/// When the last clone is dropped every server ends at once; [`Host::shut_down`] ends them in order.
#[derive(Clone, Debug)]
pub struct Host {
    inner: Arc<HostInner>,
}

#[derive(Debug)]
pub(crate) struct HostInner {
    loaded: Loaded,
    /// In the order of the plan.
    connections: Vec<Arc<Connection>>,
    by_name: HashMap<ServerName, usize>,
    gate: Gate,
    /// Counts the changes of all servers.
    changes: Arc<watch::Sender<u64>>,
    events: broadcast::Sender<Event>,
    shelf: Mutex<Shelf>,
}

/// The catalogue made last.
#[derive(Debug)]
struct Shelf {
    assembler: Assembler,
    catalog: Arc<Catalog>,
    /// The count of changes it knows of.
    as_of: Option<u64>,
    /// Whether somebody has seen its order.
    shown: bool,
}

impl Host {
    pub(crate) fn from_inner(inner: Arc<HostInner>) -> Self {
        Self { inner }
    }

    /// Every tool there is now. What a catalogue has shown keeps its name and its place in all later ones.
    #[must_use]
    pub fn catalog(&self) -> Arc<Catalog> {
        self.shelf(|shelf| shelf.shown = true)
    }

    /// The same for looking something up: nobody sees its order.
    pub(crate) fn current(&self) -> Arc<Catalog> {
        self.shelf(|_| ())
    }

    fn shelf(&self, note: impl FnOnce(&mut Shelf)) -> Arc<Catalog> {
        let mut shelf = self.inner.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        let now = *self.inner.changes.borrow();
        if shelf.as_of != Some(now) {
            shelf.renew(&self.inner.connections);
            shelf.as_of = Some(now);
        }
        note(&mut shelf);
        Arc::clone(&shelf.catalog)
    }

    /// Reaches a server now and waits for it.
    ///
    /// # Errors
    /// Why it cannot be used; for a name nobody has [`Unavailable::Stopped`].
    pub async fn connect(&self, server: &ServerName) -> Result<(), Unavailable> {
        match self.connection(server) {
            Some(connection) => connection.lease().await.map(drop),
            None => Err(Unavailable::Stopped),
        }
    }

    /// Ends a server's connection, letting its calls finish for some seconds, and begins anew.
    pub async fn reconnect(&self, server: &ServerName) {
        if let Some(connection) = self.connection(server) {
            connection.reconnect().await;
        }
    }

    /// What was read, and what becomes of every configured server.
    #[must_use]
    pub fn loaded(&self) -> &Loaded {
        &self.inner.loaded
    }

    /// Every change of a server from now on. Who does not listen for long misses the oldest.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.inner.events.subscribe()
    }

    /// What happened to a server, and the end of what it wrote to its standard error.
    #[must_use]
    pub fn logs(&self, server: &ServerName) -> Option<(Vec<LogLine>, Untrusted)> {
        self.connection(server).map(|connection| (connection.log.lines(), connection.log.stderr()))
    }

    /// Ends every server in order, all at the same time.
    pub async fn shut_down(&self) {
        let mut stopping = JoinSet::new();
        for connection in self.connections() {
            let connection = Arc::clone(connection);
            stopping.spawn(async move { connection.stop().await });
        }
        while stopping.join_next().await.is_some() {}
    }

    pub(crate) fn gate(&self) -> &Gate {
        &self.inner.gate
    }

    pub(crate) fn connections(&self) -> impl Iterator<Item = &Arc<Connection>> {
        self.inner.connections.iter()
    }

    pub(crate) fn connection(&self, name: &ServerName) -> Option<&Arc<Connection>> {
        self.inner.by_name.get(name).and_then(|place| self.inner.connections.get(*place))
    }

    pub(crate) fn servers_like(&self, name: &str) -> Vec<String> {
        similar_names(name, self.connections().map(|connection| connection.name.as_str()))
    }

    pub(crate) fn tools_like(&self, server: &ServerName, tool: &str) -> Vec<String> {
        let known = self.current();
        let own = known.iter().filter(|entry| entry.server() == Some(server));
        similar_names(tool, own.map(|entry| entry.tool.name.as_str()))
    }

    /// Whether a server is on its way. One that keeps dying is not: waiting for it would take half a minute.
    pub(crate) fn is_pending(&self) -> bool {
        let is_near = |status: &Status| matches!(status, Status::Pending { attempt: 0 | 1, .. });
        self.connections().any(|connection| is_near(&connection.state().status))
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.inner.changes.subscribe()
    }
}

impl Shelf {
    fn renew(&mut self, connections: &[Arc<Connection>]) {
        if self.shown {
            self.assembler.shown(&self.catalog);
            self.shown = false;
        }
        let states: Vec<_> = connections.iter().map(|connection| (connection, connection.state())).collect();
        let seen: Vec<Seen<'_>> = states
            .iter()
            .map(|(connection, state)| Seen {
                name: &connection.name,
                config: &connection.config,
                surface: &state.surface,
            })
            .collect();
        self.catalog = Arc::new(self.assembler.assemble(&seen));
    }
}
