//! Starts connections, and decides which servers are connected at once.

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::config::ServerConfig;
use mcparley_model::expand::Env;
use mcparley_model::limits::TOOL_TIME;
use mcparley_model::name::{ServerName, may_share_names};
use tokio::sync::{broadcast, watch};

use super::agent::ViewKind;
use super::built_in::{BuiltInServer, is_built_in};
use mcparley_config::{BUILT_IN_SERVER, StartPolicy};
use mcparley_pool::connect::ConnectContext;
use mcparley_pool::connection::{
    Connection, ConnectionSetup, ConnectionUser, ServerStatus, StatePublisher, StatusEvent,
};
use mcparley_pool::host_id::HostId;
use mcparley_pool::pool::Pool;
use mcparley_pool::pool_key::PoolKey;
use mcparley_pool::surface::Surface;

/// The capacity of the event channel: a slow listener loses the oldest beyond it.
const EVENTS: usize = 256;

/// The values that every connection of a host is started with.
#[derive(Debug)]
pub(crate) struct ConnectionStarter {
    pub(crate) context: ConnectContext,
    /// The live connections of this host, and of those it shares with.
    pub(crate) pool: Pool,
    /// The host that connections are started for.
    pub(crate) host: HostId,
    tool_limit: Duration,
    /// Counts the changes of all servers.
    pub(crate) changes: Arc<watch::Sender<u64>>,
    pub(crate) events: broadcast::Sender<StatusEvent>,
    /// The tools of the built-in server.
    built_in: Option<Arc<Surface>>,
    start: StartPolicy,
    /// Whether servers that failed recently are not connected until they are needed.
    skips_failures: bool,
    /// Whether tools of some servers keep their own names, which tools of any other server could have too.
    has_bare_names: bool,
}

/// The first step for a server when its host starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstStep {
    /// No step: the server is connected when it is needed.
    Sleep,
    /// Connect at once.
    Connect,
    /// Do not connect, because it failed recently; report that failure.
    ReportFailure,
    /// Connect, but report it as failed until it answers, so that no caller waits for it.
    RetryFailure,
}

/// The remembered facts about a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServerMemory {
    /// Whether its tools are known from the cache.
    pub(super) is_fresh: bool,
    /// Whether it failed recently.
    pub(super) has_failed: bool,
}

/// The position in the roster that a connection is started for.
#[derive(Debug, Default)]
pub(super) struct ConnectionSlot {
    /// Becomes true, or closes, when the previous connection at this position has ended.
    pub(super) predecessor: Option<watch::Receiver<bool>>,
    /// Whether the server was disabled.
    pub(super) is_off: bool,
}

impl ConnectionStarter {
    pub(crate) fn new(
        context: ConnectContext,
        pool: Pool,
        built_in: Option<&dyn BuiltInServer>,
        start: StartPolicy,
        skips_failures: bool,
    ) -> Self {
        let limit = context.dialer.env.positive_number("MCP_TOOL_TIMEOUT");
        Self {
            pool,
            host: HostId::new(),
            tool_limit: limit.map_or(TOOL_TIME, Duration::from_millis),
            changes: Arc::new(watch::channel(0).0),
            events: broadcast::channel(EVENTS).0,
            context,
            built_in: built_in.map(|server| Arc::new(server.surface())),
            start,
            skips_failures,
            has_bare_names: false,
        }
    }

    /// Sets whether tools of some servers keep their own names.
    pub(crate) fn with_bare_names(self, has_bare_names: bool) -> Self {
        Self { has_bare_names, ..self }
    }

    /// A starter with other environment variables. The limit of concurrent connects stays as it was.
    pub(super) fn with_env(&self, env: &Env) -> Self {
        let limit = env.positive_number("MCP_TOOL_TIMEOUT");
        Self {
            context: self.context.with_env(env),
            pool: self.pool.clone(),
            host: self.host,
            tool_limit: limit.map_or(TOOL_TIME, Duration::from_millis),
            changes: Arc::clone(&self.changes),
            events: self.events.clone(),
            built_in: self.built_in.clone(),
            start: self.start.clone(),
            skips_failures: self.skips_failures,
            has_bare_names: self.has_bare_names,
        }
    }

    /// A starter for the servers of an agent, with events of their own. The limit of concurrent connects is
    /// shared with the host, and so are the log messages of the view of a client.
    pub(super) fn for_agent(
        &self,
        start: StartPolicy,
        built_in: Option<&dyn BuiltInServer>,
        kind: &ViewKind,
    ) -> Self {
        let context = match built_in {
            Some(server) => self.context.clone().with_in_process_server(BUILT_IN_SERVER, server.handler()),
            None => self.context.clone(),
        };
        let context = match kind {
            ViewKind::Agent => context.with_separate_logs(),
            ViewKind::Client(offer) => {
                let mut context = context;
                context.services.offer = Some(*offer);
                context
            }
            ViewKind::Principal { name, sign_in } => {
                context.for_principal(name, sign_in.clone()).with_separate_logs()
            }
        };
        Self {
            context,
            pool: self.pool.clone(),
            host: HostId::new(),
            tool_limit: self.tool_limit,
            changes: Arc::new(watch::channel(0).0),
            events: broadcast::channel(EVENTS).0,
            built_in: built_in.map(|server| Arc::new(server.surface())),
            start,
            skips_failures: self.skips_failures,
            has_bare_names: self.has_bare_names,
        }
    }

    /// Whether the start options of the host exclude this server.
    pub(super) fn is_excluded(&self, server: &ServerName) -> bool {
        match &self.start {
            StartPolicy::Among(names) | StartPolicy::Only(names) => !names.contains(server),
            StartPolicy::AsNeeded | StartPolicy::All | StartPolicy::OnDemand => false,
        }
    }

    /// Whether the cached list of a server is of use: a host that is started for a few servers needs another's only
    /// if it could affect the names of theirs. Reading all of them would take longer than a call.
    fn needs_list(&self, server: &ServerName) -> bool {
        match &self.start {
            StartPolicy::Only(names) if !self.has_bare_names => {
                names.iter().any(|name| may_share_names(name, server))
            }
            StartPolicy::Only(_)
            | StartPolicy::Among(_)
            | StartPolicy::AsNeeded
            | StartPolicy::All
            | StartPolicy::OnDemand => true,
        }
    }

    /// The pool key of the connection to the server of this entry.
    pub(super) fn pool_key(&self, config: &ServerConfig) -> PoolKey {
        PoolKey::for_config(&self.context, config, self.host)
    }

    /// Starts a connection, or shares the existing one. Cached tools of its server are known from the start.
    pub(super) fn start_connection(
        &self,
        name: ServerName,
        config: ServerConfig,
        key: PoolKey,
        place: ConnectionSlot,
    ) -> Arc<Connection> {
        let ConnectionSlot { predecessor, is_off } = place;
        let known =
            if is_off || !self.needs_list(&name) { None } else { self.context.cached_surface(&config) };
        let failure = if is_off { None } else { self.context.cached_failure(&config) };
        let memory = ServerMemory {
            is_fresh: known.as_ref().is_some_and(|known| known.is_fresh),
            has_failed: failure.is_some(),
        };
        let step = first_step(&self.start, (&name, &config), memory, self.skips_failures);
        let first = match (is_off, step, failure) {
            (true, ..) => ServerStatus::Disabled,
            (false, FirstStep::ReportFailure | FirstStep::RetryFailure, Some(error)) => {
                ServerStatus::Failed(Arc::new(error))
            }
            (false, FirstStep::Connect | FirstStep::RetryFailure, _) => {
                ServerStatus::Pending { attempt: 0, because: None, downloader: None, retry_at: None }
            }
            (false, FirstStep::Sleep | FirstStep::ReportFailure, _) => ServerStatus::Dormant,
        };
        let at_once = !is_off && matches!(step, FirstStep::Connect | FirstStep::RetryFailure);
        let built_in = self.built_in.as_ref().filter(|_| is_built_in(&config));
        let known =
            known.map(|known| Arc::new(known.surface)).or_else(|| built_in.cloned()).unwrap_or_default();
        let user = ConnectionUser {
            host: self.host,
            name,
            changes: Arc::clone(&self.changes),
            events: self.events.clone(),
        };
        let start = |config: ServerConfig, user: ConnectionUser| {
            let name = user.name.clone();
            let setup = ConnectionSetup {
                context: self.context.clone(),
                gate: self.pool.gate().clone(),
                publisher: StatePublisher::new(user, first, known),
                tool_limit: self.tool_limit,
                predecessor,
                on: !is_off,
                key,
            };
            Connection::start(name, config, setup)
        };
        let connection = match is_off {
            // A disabled server is not shared: it would be enabled with the others, or they disabled with
            // it.
            true => start(config, user),
            false => self.pool.connection_for(key, config, user, start),
        };
        if at_once {
            connection.start_connecting();
        }
        Arc::new(connection)
    }
}

/// Decides the first step for a server. `StartPolicy::All` and `StartPolicy::Only` connect to servers that
/// failed recently.
pub(super) fn first_step(
    start: &StartPolicy,
    (name, config): (&ServerName, &ServerConfig),
    memory: ServerMemory,
    skips_failures: bool,
) -> FirstStep {
    let is_wanted = is_started_at_once(start, name, config, memory.is_fresh);
    let is_list = matches!(start, StartPolicy::AsNeeded | StartPolicy::Among(_));
    match (is_wanted, memory.has_failed) {
        (_, true) if skips_failures => FirstStep::ReportFailure,
        (true, true) if is_list => FirstStep::RetryFailure,
        (true, _) => FirstStep::Connect,
        (false, _) => FirstStep::Sleep,
    }
}

fn is_started_at_once(start: &StartPolicy, name: &ServerName, config: &ServerConfig, is_known: bool) -> bool {
    let is_wanted = !is_known || config.required || config.always_load;
    match start {
        StartPolicy::AsNeeded => is_wanted,
        StartPolicy::Among(names) => is_wanted && names.contains(name),
        StartPolicy::OnDemand => false,
        StartPolicy::Only(names) => names.contains(name),
        StartPolicy::All => true,
    }
}
