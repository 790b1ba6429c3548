//! Puts a host together.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcparley_model::config::{ServerConfig, Transport};
use mcparley_model::limits::TOOL_TIME;
use mcparley_model::name::ServerName;
use mcparley_model::permission::{KnownServers, Mode, RuleSet};
use mcparley_wire::peer::Handler;
use tokio::sync::{Semaphore, broadcast, watch};

use super::{Host, HostInner, Shelf};
use crate::call::{Approver, Gate, NobodyToAsk};
use crate::catalog::{Assembler, Catalog};
use crate::connect::{Surroundings, number};
use crate::connection::{Connection, Publisher, Rooms, Status};
use crate::health::batches;
use crate::own_server::{self, OwnServer};
use crate::places::Places;
use crate::sources::{Loaded, NoConnectors, Wishes, load};

/// How many events wait for a slow listener before the oldest are lost.
const EVENTS: usize = 256;

/// Which servers are reached when the host starts. The others are reached when they are needed.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Start {
    /// All that may run.
    #[default]
    All,
    /// None.
    OnDemand,
    /// These.
    Only(Vec<ServerName>),
}

/// A host that is being put together.
pub struct HostBuilder {
    places: Places,
    loaded: Loaded,
    start: Start,
    approver: Arc<dyn Approver>,
    inside: Vec<(String, Arc<dyn Handler>)>,
    bare: Vec<ServerName>,
    own_server: bool,
}

impl Host {
    /// Reads the configuration and begins to put a host together.
    #[must_use]
    pub fn builder(places: &Places, wishes: &Wishes) -> HostBuilder {
        HostBuilder::new(places, load(places, wishes, &NoConnectors))
    }
}

impl HostBuilder {
    /// Begins with a configuration that was read before.
    #[must_use]
    pub fn new(places: &Places, loaded: Loaded) -> Self {
        Self {
            places: places.clone(),
            loaded,
            start: Start::default(),
            approver: Arc::new(NobodyToAsk),
            inside: Vec::new(),
            bare: Vec::new(),
            own_server: true,
        }
    }

    /// Which servers to reach at once; all unless said otherwise.
    #[must_use]
    pub fn start_with(mut self, start: Start) -> Self {
        self.start = start;
        self
    }

    /// Who is asked for permissions; nobody unless said otherwise, and nobody means no.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.approver = Arc::new(approver);
        self
    }

    /// Adds a server that lives inside this program: a handler that answers MCP's requests (T5).
    #[must_use]
    pub fn server(mut self, name: &str, server: Arc<dyn Handler>) -> Self {
        self.inside.push((name.to_owned(), server));
        self
    }

    /// Shows a server's tools under their own names, without a prefix, where these are free (N3).
    #[must_use]
    pub fn no_prefix(mut self, server: &str) -> Self {
        self.bare.push(ServerName::new(server));
        self
    }

    /// Leaves out the built-in server `mcparley`, through which a model can look at the host itself.
    #[must_use]
    pub fn without_own_server(mut self) -> Self {
        self.own_server = false;
        self
    }

    /// Starts the host. Must be called inside a `tokio` runtime with I/O and time.
    #[must_use]
    pub fn start(mut self) -> Host {
        let own = self.own_server.then(|| self.add_own_server()).flatten();
        let env = &self.loaded.env;
        let (local, remote) = batches(env);
        let surroundings = Surroundings::new(env, &self.places).with_inside(self.inside.clone());
        let starter = Starter {
            surroundings,
            rooms: Rooms { local: Arc::new(Semaphore::new(local)), remote: Arc::new(Semaphore::new(remote)) },
            tool_limit: number(env, "MCP_TOOL_TIMEOUT").map_or(TOOL_TIME, Duration::from_millis),
            changes: Arc::new(watch::channel(0).0),
            events: broadcast::channel(EVENTS).0,
            start: self.start.clone(),
        };
        let connections: Vec<Arc<Connection>> =
            self.configured().into_iter().map(|(name, config)| starter.connection(name, config)).collect();
        let by_name = connections.iter().enumerate().map(|(at, it)| (it.name.clone(), at)).collect();
        let gate = Gate::new(
            RuleSet::new(self.loaded.settings.rules.iter().cloned()),
            self.loaded.settings.mode.as_ref().map_or(Mode::Default, |mode| mode.value),
            KnownServers::new(connections.iter().map(|connection| connection.name.clone())),
            self.approver,
        );
        let shelf = Shelf {
            assembler: Assembler::new(self.bare),
            catalog: Arc::new(Catalog::default()),
            as_of: None,
            shown: false,
        };
        let Starter { changes, events, .. } = starter;
        let inner = HostInner {
            loaded: self.loaded,
            connections,
            by_name,
            gate,
            changes,
            events,
            shelf: Mutex::new(shelf),
        };
        let host = Host { inner: Arc::new(inner) };
        if let Some(own) = own {
            own.show(Arc::downgrade(&host.inner));
        }
        host
    }

    /// Every server that may run, in the order of the plan, then those inside this program.
    fn configured(&self) -> Vec<(ServerName, ServerConfig)> {
        let planned = self.loaded.plan.ready();
        let mut servers: Vec<(ServerName, ServerConfig)> =
            planned.filter_map(|server| Some((server.name.clone(), server.config.clone()?))).collect();
        let mut names: HashSet<ServerName> = servers.iter().map(|(name, _)| name.clone()).collect();
        for (name, _) in &self.inside {
            let server = ServerName::new(name);
            if names.insert(server.clone()) {
                let entry = ServerConfig::new(Transport::Sdk { name: name.clone() });
                servers.push((server, entry));
            }
        }
        servers
    }

    /// Adds the built-in server, unless a configured one has its name.
    fn add_own_server(&mut self) -> Option<Arc<OwnServer>> {
        let name = own_server::NAME;
        let is_taken =
            !self.loaded.plan.named(name).is_empty() || self.inside.iter().any(|(it, _)| it == name);
        if is_taken {
            return None;
        }
        let own = Arc::new(OwnServer::default());
        self.inside.push((name.to_owned(), Arc::<OwnServer>::clone(&own)));
        Some(own)
    }
}

impl std::fmt::Debug for HostBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostBuilder").field("start", &self.start).finish_non_exhaustive()
    }
}

/// What every connection is started with.
struct Starter {
    surroundings: Surroundings,
    rooms: Rooms,
    tool_limit: Duration,
    changes: Arc<watch::Sender<u64>>,
    events: broadcast::Sender<crate::connection::Event>,
    start: Start,
}

impl Starter {
    fn connection(&self, name: ServerName, config: ServerConfig) -> Arc<Connection> {
        let at_once = match &self.start {
            Start::All => true,
            Start::OnDemand => false,
            Start::Only(names) => names.contains(&name),
        };
        let first = if at_once { Status::Pending { attempt: 0, because: None } } else { Status::Dormant };
        let publisher = Publisher::new(name.clone(), first, Arc::clone(&self.changes), self.events.clone());
        let (surroundings, rooms) = (self.surroundings.clone(), self.rooms.clone());
        let connection = Connection::start(name, config, surroundings, rooms, publisher, self.tool_limit);
        if at_once {
            connection.wake();
        }
        Arc::new(connection)
    }
}
