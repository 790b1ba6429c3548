//! One connection to a server, kept alive by an actor behind cloneable handles.
//!
//! Calls read the published [`LiveConnection`] and do not involve the actor. Only a caller that finds none,
//! or a broken one, sends a command to the actor's mailbox. Single flight: a hundred callers with the same
//! broken connection send the same [`Epoch`] and cause one reconnect.
//!
//! | topic | module |
//! |---|---|
//! | the actor's loop and its state transitions | `actor` |
//! | the phases and the work each owns | `phase` |
//! | exponential backoff between reconnects | `backoff` |
//! | notifications and requests from the server | `notifications` |
//! | refresh of changed lists, debounced | `refresh`; in the new era `listen` subscribes to the changes |
//! | watched resources | `resource_watches` |
//! | idle timeout | `idle` |
//! | notifications to the server | `notify` |
//! | the published state | `state` |
//! | the hosts that use the connection | `users` |

mod actor;
mod backoff;
mod idle;
mod lease_waiters;
mod listen;
mod notifications;
mod notify;
mod phase;
mod refresh;
mod resource_watches;
mod state;
mod users;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::auth::Account;
use mcparley_model::config::ServerConfig;
use mcparley_model::limits::LOG_LEVEL_TIME;
use mcparley_model::log_level::LogLevel;
use mcparley_model::name::ServerName;
use mcparley_wire::{AgreedProtocol, ProtocolSession};
use tokio::sync::{mpsc, oneshot, watch};
use tracing::Span;

use crate::connect::ConnectContext;
use crate::host_id::HostId;
use crate::log::{LogFile, LogLevelGate, ServerLog};
use crate::pool_key::PoolKey;
use crate::roots::{RootsGate, ServerRoots};
use crate::server_requests::ServerRequests;
use crate::start_gate::StartGate;
use crate::task::AbortOnDropTask;
use actor::ConnectionActor;

pub use listen::can_subscribe_resources;
pub use notifications::Notifications;
use resource_watches::ResourceWatches;
pub use resource_watches::{ResourceWatcher, SubscriptionState};
pub use state::StatePublisher;
pub use state::{ServerStatus, State, StatusEvent, Unavailable};
pub use users::ConnectionUser;
use users::ConnectionUsers;

/// The capacity of the actor's mailbox. Backpressure: a sender waits while it is full.
const MAILBOX: usize = 64;

/// The generation of a connection, counted up with each reconnect. Reports about an earlier one are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Epoch(u64);

impl Epoch {
    fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// A connection that can be used now, leased to calls. A caller must drop it after its call: a retired
/// connection is closed when the last lease is dropped.
#[derive(Debug)]
pub struct LiveConnection {
    /// The session with the server.
    pub session: ProtocolSession,
    /// The generation of this connection.
    pub epoch: Epoch,
    /// The id of the server's process, for a local server.
    pub process_id: Option<u32>,
    /// Whether a call has leased it since the last idle check.
    used: AtomicBool,
    /// Whether the server has answered a call on it.
    served: AtomicBool,
    /// The watched resources of the server.
    watched: Arc<ResourceWatches>,
    /// Holds calls back until the server has read its roots.
    gate: Arc<RootsGate>,
    /// Holds calls back until the server knows the log level.
    levels: Arc<LogLevelGate>,
    /// Dropped with the last lease, which the receiver notices.
    _in_use: mpsc::Sender<()>,
}

/// Shared values that calls on a connection wait for.
struct LiveConnectionGates {
    watched: Arc<ResourceWatches>,
    roots: Arc<RootsGate>,
    levels: Arc<LogLevelGate>,
}

impl LiveConnection {
    fn new(
        session: ProtocolSession,
        epoch: Epoch,
        gates: LiveConnectionGates,
        in_use: mpsc::Sender<()>,
    ) -> Self {
        let LiveConnectionGates { watched, roots: gate, levels } = gates;
        let (used, served) = (AtomicBool::new(true), AtomicBool::new(false));
        Self { session, epoch, process_id: None, used, served, watched, gate, levels, _in_use: in_use }
    }

    /// This connection to the server with this process.
    fn with_process(self, process_id: Option<u32>) -> Self {
        Self { process_id, ..self }
    }

    /// Waits until a server of the old era has read its roots. In the new era servers request them within a
    /// call.
    pub async fn wait_for_roots(&self, roots: &ServerRoots) {
        match self.session.protocol() {
            AgreedProtocol::Old(_) => self.gate.wait_until_read(&self.session, roots.version()).await,
            AgreedProtocol::New => {}
        }
    }

    /// Waits, with a short timeout, until a server of the old era knows this log level or a more detailed one.
    /// In the new era each request carries its level.
    pub async fn wait_for_log_level(&self, level: LogLevel) {
        let is_old = matches!(self.session.protocol(), AgreedProtocol::Old(_));
        if is_old && self.session.server_description().has_capability("logging") {
            let _late =
                tokio::time::timeout(LOG_LEVEL_TIME, self.levels.wait_for_level(level)).await.is_err();
        }
    }

    /// Records that the server has answered a call.
    pub fn record_answer(&self) {
        self.served.store(true, Ordering::Relaxed);
    }

    /// Whether the server has answered a call on this connection.
    fn has_answered(&self) -> bool {
        self.served.load(Ordering::Relaxed)
    }

    /// Records a use, which restarts the idle timeout.
    fn record_use(&self) {
        self.used.store(true, Ordering::Relaxed);
    }
}

/// Commands for the actor.
#[derive(Debug)]
enum ConnectionCommand {
    /// Lease a connection newer than `stale`; `caller` is the span that it is for.
    Lease { stale: Epoch, reply: oneshot::Sender<Result<Arc<LiveConnection>, Unavailable>>, caller: Span },
    /// Connect in the background.
    Wake,
    /// Reconnect in any phase.
    Reconnect,
    /// Replace the entry by one that differs only in fields without effect on the connection.
    ReplaceConfig(Arc<ServerConfig>),
    /// Enable or disable the server.
    SetEnabled { on: bool },
    /// Cancel a task on the server, because its caller has given up.
    CancelTask(String),
    /// Record that the connection of this epoch needs a sign-in.
    NeedsAuth { epoch: Epoch },
    /// Shut down gracefully; running calls may continue for `grace`.
    Stop { grace: Duration, done: oneshot::Sender<()> },
}

/// The grace period for running calls on a connection that is replaced on request.
pub const CALLS_GRACE: Duration = Duration::from_secs(5);

/// A handle of a connection to one server. Handles with different entries may share one connection if they
/// have the same [`PoolKey`].
#[derive(Clone, Debug)]
pub struct Connection {
    /// The name of the server.
    pub name: ServerName,
    /// The entry of the server.
    pub config: Arc<ServerConfig>,
    /// The identity of the connection.
    pub key: PoolKey,
    /// The timeout of a call without progress, unless the entry sets another.
    pub tool_limit: Duration,
    core: Arc<ConnectionCore>,
}

/// A weak handle, which does not keep the connection alive.
#[derive(Clone, Debug)]
pub(crate) struct WeakConnection {
    name: ServerName,
    config: Arc<ServerConfig>,
    key: PoolKey,
    tool_limit: Duration,
    core: Weak<ConnectionCore>,
}

impl WeakConnection {
    /// The handle, if the connection is still alive.
    pub(crate) fn upgrade(&self) -> Option<Connection> {
        let Self { name, config, key, tool_limit, core } = self.clone();
        Some(Connection { name, config, key, tool_limit, core: core.upgrade()? })
    }
}

/// The shared part of all handles of one connection. When the last handle is dropped, the actor ends, and the
/// server with it.
#[derive(Debug)]
struct ConnectionCore {
    users: Arc<ConnectionUsers>,
    /// The OAuth account for the server, the same for all handles.
    account: Option<Account>,
    log: Arc<ServerLog>,
    server_requests: Arc<ServerRequests>,
    watched: Arc<ResourceWatches>,
    state: watch::Receiver<State>,
    commands: mpsc::Sender<ConnectionCommand>,
    _actor: AbortOnDropTask<()>,
}

/// The parts a connection is started with.
#[derive(Debug)]
pub struct ConnectionSetup {
    /// The context for connecting to the server.
    pub context: ConnectContext,
    /// Limits the number of servers that start at once.
    pub gate: StartGate,
    /// Publishes the state.
    pub publisher: StatePublisher,
    /// The timeout of a call without progress.
    pub tool_limit: Duration,
    /// Becomes true, or closes, when the connection that this one replaces has ended. Connecting waits for
    /// it, so that two processes of one server never run at once.
    pub predecessor: Option<watch::Receiver<bool>>,
    /// Whether the server is enabled.
    pub on: bool,
    /// The identity of the connection.
    pub key: PoolKey,
}

impl Connection {
    /// Starts the actor. It connects with the first lease.
    pub fn start(name: ServerName, config: ServerConfig, setup: ConnectionSetup) -> Self {
        let (commands, inbox) = mpsc::channel(MAILBOX);
        let (state, tool_limit) = (setup.publisher.subscribe(), setup.tool_limit);
        let users = setup.publisher.users();
        let key = setup.key;
        let config = Arc::new(config);
        let journal = LogFile::for_server(&setup.context.dialer.paths, &name);
        let messages = setup.context.services.messages.clone();
        let log = Arc::new(ServerLog::new(&config, journal).with_listeners(name.clone(), messages));
        let context = setup.context.for_server(&name);
        let account = context.account(&config);
        let setup = ConnectionSetup { context, ..setup };
        let services = &setup.context.services;
        let roots = services.server_roots(&config, &setup.context.dialer.paths);
        let server_requests = ServerRequests::new(name.clone(), services, roots, Arc::clone(&log))
            .with_observer(setup.context.dialer.hosted.clone());
        let server_requests = Arc::new(server_requests);
        let watched = Arc::<ResourceWatches>::default();
        let (requests, watches) = (Arc::clone(&server_requests), Arc::clone(&watched));
        let actor = ConnectionActor::new(Arc::clone(&config), Arc::clone(&log), requests, watches, setup);
        let core = Arc::new(ConnectionCore {
            users,
            account,
            log,
            server_requests,
            watched,
            state,
            commands,
            _actor: AbortOnDropTask::start(actor.run(inbox)),
        });
        Self { name, config, key, tool_limit, core }
    }

    /// A handle of the same connection for an entry that differs only in fields without effect on the
    /// connection.
    pub fn with_config(&self, config: ServerConfig) -> Self {
        let config = Arc::new(config);
        // The mailbox is full only if the server is in trouble; then its idle timeout does not matter.
        let _full = self.core.commands.try_send(ConnectionCommand::ReplaceConfig(Arc::clone(&config)));
        Self { config, ..self.clone() }
    }

    /// A handle of the same connection for one more user, with its own name and entry.
    #[must_use]
    pub fn with_user(&self, config: ServerConfig, user: ConnectionUser) -> Self {
        let name = user.name.clone();
        self.core.users.add_user(user);
        Self { name, config: Arc::new(config), ..self.clone() }
    }

    /// Removes this handle's name from the names under which a host uses the connection.
    pub fn remove_name(&self, host: HostId) {
        self.core.users.remove_name(host, &self.name);
    }

    /// Removes a host from the users; returns whether it was the last one.
    pub(crate) fn remove_user(&self, host: HostId) -> bool {
        self.core.users.remove_host(host)
    }

    /// Whether another host uses the connection too, or the same host under another name.
    #[must_use]
    pub fn is_shared(&self, host: HostId) -> bool {
        self.core.users.has_others(host, &self.name)
    }

    /// The number of names under which hosts use the connection.
    #[must_use]
    pub fn user_count(&self) -> usize {
        self.core.users.count()
    }

    /// A weak handle, which does not keep the connection alive.
    pub(crate) fn downgrade(&self) -> WeakConnection {
        let Self { name, config, key, tool_limit, core } = self.clone();
        WeakConnection { name, config, key, tool_limit, core: Arc::downgrade(&core) }
    }

    /// Whether both handles belong to one connection.
    pub fn is_same_connection(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.core, &other.core)
    }

    /// Whether the connection can be used at once, so that its published surface is current.
    pub fn is_live(&self) -> bool {
        self.core.state.borrow().live.as_ref().is_some_and(|live| !live.session.peer().is_ended())
    }

    /// The OAuth account for the server, if it supports a sign-in.
    pub fn account(&self) -> Option<&Account> {
        self.core.account.as_ref()
    }

    /// The log of the server.
    pub fn log(&self) -> &Arc<ServerLog> {
        &self.core.log
    }

    /// Answers requests of the server.
    pub fn server_requests(&self) -> &ServerRequests {
        &self.core.server_requests
    }

    /// The watched resources of the server.
    pub fn resource_watches(&self) -> &Arc<ResourceWatches> {
        &self.core.watched
    }

    /// A snapshot of the published state.
    pub fn state(&self) -> State {
        self.core.state.borrow().clone()
    }

    /// Leases a connection: the live one, or a new one that all concurrent callers share.
    pub async fn lease(&self) -> Result<Arc<LiveConnection>, Unavailable> {
        self.lease_after(Epoch::default()).await
    }

    /// The live connection without waiting, if it is newer than `stale`.
    pub fn try_lease(&self, stale: Epoch) -> Option<Arc<LiveConnection>> {
        let state = self.core.state.borrow();
        let live = state.live.as_ref()?;
        let is_good = live.epoch > stale && !live.session.peer().is_ended();
        is_good.then(|| {
            live.record_use();
            Arc::clone(live)
        })
    }

    /// Leases a connection newer than `stale`, which the caller found broken. Otherwise like
    /// [`Connection::lease`].
    pub async fn lease_after(&self, stale: Epoch) -> Result<Arc<LiveConnection>, Unavailable> {
        if let Some(live) = self.try_lease(stale) {
            return Ok(live);
        }
        let (reply, answer) = oneshot::channel();
        self.core
            .commands
            .send(ConnectionCommand::Lease { stale, reply, caller: Span::current() })
            .await
            .map_err(|_| Unavailable::Stopped)?;
        answer.await.unwrap_or(Err(Unavailable::Stopped))
    }

    /// Connects in the background.
    pub fn start_connecting(&self) {
        // A full mailbox holds commands that connect too.
        let _full = self.core.commands.try_send(ConnectionCommand::Wake);
    }

    /// Reconnects in any phase.
    pub async fn reconnect(&self) {
        // An actor that has ended cannot reconnect, and its published state shows that.
        let _stopped = self.core.commands.send(ConnectionCommand::Reconnect).await;
    }

    /// Reports that the connection of `epoch` needs a sign-in.
    pub async fn report_needs_auth(&self, epoch: Epoch) {
        let _stopped = self.core.commands.send(ConnectionCommand::NeedsAuth { epoch }).await;
    }

    /// Cancels a task on the server in the background, because its caller has given up.
    pub fn cancel_task(&self, id: String) {
        // The mailbox is full only if the server is in trouble, and tasks expire by themselves.
        let _full = self.core.commands.try_send(ConnectionCommand::CancelTask(id));
    }

    /// Enables or disables the server.
    pub async fn set_enabled(&self, on: bool) {
        let _stopped = self.core.commands.send(ConnectionCommand::SetEnabled { on }).await;
    }

    /// Whether the actor has received every command sent so far.
    #[cfg(test)]
    pub fn is_mailbox_empty(&self) -> bool {
        self.core.commands.capacity() == MAILBOX
    }

    /// Shuts the connection down gracefully and waits for its end. Running calls may continue for `grace`.
    pub async fn stop(&self, grace: Duration) {
        let (done, ended) = oneshot::channel();
        if self.core.commands.send(ConnectionCommand::Stop { grace, done }).await.is_ok() {
            // An error means that the actor has ended, which is the same.
            let _ended = ended.await;
        }
    }
}
