//! One connection to one scripted server, and what must hold of both.

use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::config::{Era, ServerConfig, Transport};
use mcparley_model::expand::Env;
use mcparley_model::name::ServerName;
use shuttle::future::{JoinHandle, spawn};
use tokio::sync::{broadcast, watch};

use super::path::Path;
use super::server::{DIE, Manner, Server};
use super::until;
use crate::connect::Surroundings;
use crate::connection::{Beginning, Connection, Epoch, Live, Publisher, State, Status, Unavailable};
use crate::paths::Paths;
use crate::start_gate::StartGate;

/// More events than any schedule brings.
const EVENTS: usize = 256;

pub(super) struct World {
    pub(super) connection: Connection,
    pub(super) server: Arc<Server>,
    state: watch::Receiver<State>,
    path: Path,
    onlooker: JoinHandle<()>,
}

impl World {
    pub(super) fn new(manner: Manner) -> Self {
        let server = Arc::new(Server::new(manner));
        let name = ServerName::new("scripted");
        let (events, path) = broadcast::channel(EVENTS);
        let changes = Arc::new(watch::Sender::new(0));
        let publisher = Publisher::new(name.clone(), Status::Dormant, Arc::default(), changes, events);
        let state = publisher.subscribe();
        let beginning = Beginning {
            surroundings: surroundings(&server),
            gate: StartGate::new(1, 1),
            publisher,
            tool_limit: Duration::from_secs(60),
            predecessor: None,
            on: true,
        };
        let connection = Connection::start(name, config(), beginning);
        server.seen_through(state.clone());
        let onlooker = spawn(look_on(state.clone()));
        Self { connection, server, state, path: Path::new(path), onlooker }
    }

    /// The first connection, which nothing disturbs.
    pub(super) async fn first(&self) -> Arc<Live> {
        self.connection.lease().await.expect("a server that is well")
    }

    /// A caller that found the connection of epoch `stale` to be of no use. Fails when it is given that one again.
    pub(super) fn call(&self, stale: Epoch) -> JoinHandle<Result<Epoch, Unavailable>> {
        let connection = self.connection.clone();
        spawn(async move {
            let given = connection.lease_after(stale).await.map(|live| live.epoch);
            assert!(given.as_ref().map_or(true, |epoch| *epoch > stale), "a stale connection was given");
            given
        })
    }

    /// Somebody with a wish, who waits for it as long as it takes.
    pub(super) fn wish<W>(&self, wish: impl FnOnce(Connection) -> W) -> JoinHandle<()>
    where
        W: Future<Output = ()> + Send + 'static,
    {
        spawn(wish(self.connection.clone()))
    }

    /// The server's side of a connection ends, after a while.
    pub(super) fn kill(&self, live: &Live) -> JoinHandle<()> {
        let peer = live.session.peer().clone();
        spawn(async move {
            // What is over cannot be ended.
            let _over = peer.notify(DIE, None).await;
        })
    }

    /// The server's tools change.
    pub(super) fn change(&self) -> JoinHandle<()> {
        let server = Arc::clone(&self.server);
        spawn(async move { server.change().await })
    }

    pub(super) fn status(&self) -> Status {
        self.state.borrow().status.clone()
    }

    /// Who is published as usable.
    pub(super) fn live(&self) -> Option<Arc<Live>> {
        self.state.borrow().live.clone()
    }

    /// Waits until no wish is left and nothing is under way.
    pub(super) async fn settled(&self) {
        until(|| self.connection.is_heard() && self.status().is_settled()).await;
    }

    /// Waits until the server is connected, one connection is open and no more, and what is known of it is what it
    /// offers.
    pub(super) async fn connected(&mut self) {
        self.settled().await;
        let tool = self.server.tool();
        let is_known = |state: &State| state.surface.tools.iter().any(|known| known.name.as_str() == tool);
        until(|| self.live().is_some() && is_known(&self.state.borrow()) && self.connection.is_heard()).await;
        until(|| self.server.open() == 1).await;
        self.path.check();
    }

    /// Waits until no connection is open any more.
    pub(super) async fn closed(&mut self) {
        until(|| self.server.open() == 0).await;
        self.path.check();
    }

    /// Where the server has been.
    pub(super) fn path(&self) -> &[&'static str] {
        self.path.been()
    }

    /// Ends a world in which nothing is under way any more.
    pub(super) async fn end(self) {
        let openings = self.server.openings();
        let server = self.give_back().await;
        assert_eq!(server.openings(), openings, "opened for nobody");
    }

    /// Gives the handle back; that ends whatever is left, and nobody knows the server any more.
    pub(super) async fn give_back(mut self) -> Arc<Server> {
        drop(self.connection);
        self.onlooker.await.expect("the onlooker saw the end");
        until(|| Arc::strong_count(&self.server) == 1).await;
        assert_eq!(self.server.open(), 0, "left open");
        self.path.check();
        self.server
    }
}

/// Lives are only counted up, and nothing can be used that is not connected.
async fn look_on(mut state: watch::Receiver<State>) {
    let mut newest = Epoch::default();
    while state.changed().await.is_ok() {
        let State { status, live, .. } = state.borrow_and_update().clone();
        let Some(live) = live else { continue };
        assert!(matches!(status, Status::Connected { .. }), "usable as {status:?}");
        assert!(live.epoch >= newest, "an earlier life came back");
        newest = live.epoch;
    }
}

fn surroundings(server: &Arc<Server>) -> Surroundings {
    let nowhere = FilePath::new("/nowhere");
    let mut surroundings = Surroundings::new(&Env::default(), &Paths::of(nowhere, nowhere));
    // How fast time passes belongs to the schedule, so no limit would be long enough.
    surroundings.limit = Duration::from_secs(1_000_000);
    let server: Arc<dyn mcparley_wire::peer::Handler> = Arc::clone(server) as _;
    surroundings.with_inside([("scripted".to_owned(), server)])
}

pub(super) fn config() -> ServerConfig {
    ServerConfig {
        transport: Transport::Sdk { name: "scripted".to_owned() },
        timeout: None,
        idle_timeout: None,
        always_load: false,
        required: false,
        era: Era::Old,
        enabled_tools: Vec::new(),
        disabled_tools: Vec::new(),
        roots: mcparley_model::config::RootsPolicy::Offered,
    }
}
