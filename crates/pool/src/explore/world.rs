//! One connection to one scripted server, and the conditions that must hold for both.

use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::config::{Era, ServerConfig, TransportConfig};
use mcparley_model::expand::Env;
use mcparley_model::name::ServerName;
use shuttle::future::{JoinHandle, spawn};
use tokio::sync::{broadcast, watch};

use super::path::Path;
use super::server::{DIE, Server, ServerBehavior};
use super::until;
use crate::connect::ConnectContext;
use crate::connection::{
    Connection, ConnectionSetup, ConnectionUser, Epoch, LiveConnection, ServerStatus, State, StatePublisher,
    Unavailable,
};
use crate::host_id::HostId;
use crate::pool_key::PoolKey;
use crate::start_gate::StartGate;
use mcparley_config::Paths;

/// More events than any schedule produces.
const EVENTS: usize = 256;

pub(super) struct World {
    pub(super) connection: Connection,
    pub(super) server: Arc<Server>,
    state: watch::Receiver<State>,
    path: Path,
    onlooker: JoinHandle<()>,
}

impl World {
    pub(super) fn new(behavior: ServerBehavior) -> Self {
        let server = Arc::new(Server::new(behavior));
        let name = ServerName::new("scripted");
        let (events, path) = broadcast::channel(EVENTS);
        let changes = Arc::new(watch::Sender::new(0));
        let host = HostId::new();
        let user = ConnectionUser { host, name: name.clone(), changes, events };
        let publisher = StatePublisher::new(user, ServerStatus::Dormant, Arc::default());
        let state = publisher.subscribe();
        let context = context(&server);
        let setup = ConnectionSetup {
            context: context.clone(),
            gate: StartGate::new(1, 1),
            publisher,
            tool_limit: Duration::from_secs(60),
            predecessor: None,
            on: true,
            key: PoolKey::for_config(&context, &config(), host),
        };
        let connection = Connection::start(name, config(), setup);
        server.seen_through(state.clone());
        let onlooker = spawn(look_on(state.clone()));
        Self { connection, server, state, path: Path::new(path), onlooker }
    }

    /// Opens the first connection, undisturbed.
    pub(super) async fn first(&self) -> Arc<LiveConnection> {
        self.connection.lease().await.expect("a server that is well")
    }

    /// A caller that found the connection of epoch `stale` broken. Fails if it gets that one again.
    pub(super) fn call(&self, stale: Epoch) -> JoinHandle<Result<Epoch, Unavailable>> {
        let connection = self.connection.clone();
        spawn(async move {
            let given = connection.lease_after(stale).await.map(|live| live.epoch);
            assert!(given.as_ref().map_or(true, |epoch| *epoch > stale), "a stale connection was given");
            given
        })
    }

    /// Spawns a task that sends a command and waits for its end.
    pub(super) fn wish<W>(&self, wish: impl FnOnce(Connection) -> W) -> JoinHandle<()>
    where
        W: Future<Output = ()> + Send + 'static,
    {
        spawn(wish(self.connection.clone()))
    }

    /// Closes the server's end of a connection after a while.
    pub(super) fn kill(&self, live: &LiveConnection) -> JoinHandle<()> {
        let peer = live.session.peer().clone();
        spawn(async move {
            // An error means that the connection is closed already.
            let _over = peer.notify(DIE, None).await;
        })
    }

    /// Changes the server's tools.
    pub(super) fn change(&self) -> JoinHandle<()> {
        let server = Arc::clone(&self.server);
        spawn(async move { server.change().await })
    }

    pub(super) fn status(&self) -> ServerStatus {
        self.state.borrow().status.clone()
    }

    /// The published live connection.
    pub(super) fn live(&self) -> Option<Arc<LiveConnection>> {
        self.state.borrow().live.clone()
    }

    /// Waits until no command is pending and no attempt is running.
    pub(super) async fn settled(&self) {
        until(|| self.connection.is_mailbox_empty() && self.status().is_settled()).await;
    }

    /// Waits until the server is connected with exactly one open connection, and its published surface is
    /// current.
    pub(super) async fn connected(&mut self) {
        self.settled().await;
        let tool = self.server.tool();
        let is_known = |state: &State| state.surface.tools.iter().any(|known| known.name.as_str() == tool);
        until(|| {
            self.live().is_some() && is_known(&self.state.borrow()) && self.connection.is_mailbox_empty()
        })
        .await;
        until(|| self.server.open() == 1).await;
        self.path.check();
    }

    /// Waits until no connection is open any more.
    pub(super) async fn closed(&mut self) {
        until(|| self.server.open() == 0).await;
        self.path.check();
    }

    /// The published states of the server so far.
    pub(super) fn path(&self) -> &[&'static str] {
        self.path.been()
    }

    /// Ends the world after all activity has ended.
    pub(super) async fn end(self) {
        let openings = self.server.openings();
        let server = self.give_back().await;
        assert_eq!(server.openings(), openings, "opened for nobody");
    }

    /// Drops the last handle, which closes all that is left.
    pub(super) async fn give_back(mut self) -> Arc<Server> {
        drop(self.connection);
        self.onlooker.await.expect("the onlooker saw the end");
        until(|| Arc::strong_count(&self.server) == 1).await;
        assert_eq!(self.server.open(), 0, "left open");
        self.path.check();
        self.server
    }
}

/// Checks that epochs only grow, and that only a connected server has a live connection.
async fn look_on(mut state: watch::Receiver<State>) {
    let mut newest = Epoch::default();
    while state.changed().await.is_ok() {
        let State { status, live, .. } = state.borrow_and_update().clone();
        let Some(live) = live else { continue };
        assert!(matches!(status, ServerStatus::Connected { .. }), "usable as {status:?}");
        assert!(live.epoch >= newest, "an earlier life came back");
        newest = live.epoch;
    }
}

fn context(server: &Arc<Server>) -> ConnectContext {
    let nowhere = FilePath::new("/nowhere");
    let mut context = ConnectContext::new(&Env::default(), &Paths::new(nowhere, nowhere));
    // The speed of time is part of the schedule, so no timeout would be long enough.
    context.dialer.limit = Duration::from_secs(1_000_000);
    let server: Arc<dyn mcparley_wire::peer::Handler> = Arc::clone(server) as _;
    context.with_in_process_servers([("scripted".to_owned(), server)])
}

pub(super) fn config() -> ServerConfig {
    ServerConfig {
        transport: TransportConfig::Sdk { name: "scripted".to_owned() },
        timeout: None,
        idle_timeout: None,
        always_load: false,
        required: false,
        era: Era::Old,
        enabled_tools: Vec::new(),
        disabled_tools: Vec::new(),
        roots: mcparley_model::config::RootsPolicy::Offered,
        share: mcparley_model::config::SharePolicy::Auto,
        credentials: mcparley_model::config::CredentialPolicy::Auto,
    }
}
