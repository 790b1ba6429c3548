//! One server, kept alive: a handle for many, one actor behind it (L1–L10).
//!
//! Calls read the published [`Live`] connection and never ask the actor; only who finds none, or finds it
//! spoiled, goes to the mailbox. A hundred callers that meet the same trouble name the same [`Epoch`] and
//! cause one reopening.
//!
//! | what | where |
//! |---|---|
//! | the loop and its transitions | `actor` |
//! | what a phase owns | `phase` |
//! | how long to wait before trying again | `backoff` |
//! | what the server says unasked | `ears` |
//! | lists that changed | `refresh`; in the new era they are asked for by `listen` |
//! | resources that somebody watches | `watched` |
//! | whether anybody uses it | `idle` |
//! | what it is told unasked | `tell` |
//! | what others see | `state` |

mod actor;
mod backoff;
mod idle;
mod listen;
mod notifications;
mod phase;
mod refresh;
mod state;
mod tell;
mod watched;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mcparley_auth::Account;
use mcparley_model::config::ServerConfig;
use mcparley_model::name::ServerName;
use mcparley_model::signature::Signature;
use mcparley_wire::{Session, Spoken};
use tokio::sync::{mpsc, oneshot, watch};

use crate::connect::Surroundings;
use crate::elicit::ServerRequests;
use crate::log::{Journal, Log};
use crate::roots::{RootsGate, ServerRoots};
use crate::start_gate::StartGate;
use crate::task::Owned;
use actor::Actor;

pub(crate) use listen::tells_of_resources;
pub(crate) use notifications::Notifications;
use state::Names;
pub(crate) use state::Publisher;
pub use state::{Event, State, Status, Unavailable};
use watched::Watched;
pub(crate) use watched::{SubscriptionState, Watcher};

/// How many wishes may wait for an actor; who finds no room waits with its wish.
const MAILBOX: usize = 64;

/// The lives of one server, counted. What is reported about an earlier one is ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Epoch(u64);

impl Epoch {
    fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// A connection that can be used now. A caller keeps it for its call and no longer: a retired connection is
/// closed when the last one is given back.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) session: Session,
    pub(crate) epoch: Epoch,
    /// Whether somebody has leased it since the actor looked last.
    used: AtomicBool,
    /// Whether it has answered a call.
    served: AtomicBool,
    /// What its server is to tell about.
    watched: Arc<Watched>,
    /// Keeps calls back until the server has read its roots.
    gate: Arc<RootsGate>,
    /// Its other end sees when the last holder is gone.
    _in_use: mpsc::Sender<()>,
}

impl Live {
    fn new(
        session: Session,
        epoch: Epoch,
        (watched, gate): (Arc<Watched>, Arc<RootsGate>),
        in_use: mpsc::Sender<()>,
    ) -> Self {
        let (used, served) = (AtomicBool::new(true), AtomicBool::new(false));
        Self { session, epoch, used, served, watched, gate, _in_use: in_use }
    }

    /// Waits until the server has read its roots. In the new era it asks for them within a call.
    pub(crate) async fn know_roots(&self, roots: &ServerRoots) {
        match self.session.spoken() {
            Spoken::Old(_) => self.gate.pass(&self.session, roots.version()).await,
            Spoken::New => {}
        }
    }

    /// A call was answered.
    pub(crate) fn served(&self) {
        self.served.store(true, Ordering::Relaxed);
    }

    fn has_served(&self) -> bool {
        self.served.load(Ordering::Relaxed)
    }

    fn touch(&self) {
        self.used.store(true, Ordering::Relaxed);
    }
}

/// What only the actor can do.
#[derive(Debug)]
enum Wish {
    /// A connection younger than this one.
    Lease { stale: Epoch, reply: oneshot::Sender<Result<Arc<Live>, Unavailable>> },
    /// Connect, though nobody waits for it.
    Wake,
    /// Begin anew, whatever there is.
    Reconnect,
    /// From now on this is the entry; what affects the connection is as it was.
    Adjust(Arc<ServerConfig>),
    /// Be there, or do not, until told otherwise.
    Switch { on: bool },
    /// Nobody wants the result of this task any more.
    GiveUpTask(String),
    /// Somebody found out that a sign-in is wanted.
    NeedsAuth { epoch: Epoch },
    /// End in order; calls that run may go on for `grace`.
    Stop { grace: Duration, done: oneshot::Sender<()> },
}

/// How long calls may go on that run on a connection which is replaced by wish (F69).
pub(crate) const CALLS_GRACE: Duration = Duration::from_secs(5);

/// The handle of one server. Handles with different entries may share one connection, as long as the entries have
/// one [`Signature`].
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    pub(crate) name: ServerName,
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) signature: Signature,
    /// How long a call may take without a word from the server, unless the entry says otherwise.
    pub(crate) tool_limit: Duration,
    core: Arc<Core>,
}

/// What all handles of one connection share. When the last is gone the actor ends, and the server with it.
#[derive(Debug)]
struct Core {
    names: Arc<Names>,
    /// Who we are to the server, whatever its handles are called.
    account: Option<Account>,
    log: Arc<Log>,
    server_requests: Arc<ServerRequests>,
    watched: Arc<Watched>,
    state: watch::Receiver<State>,
    wishes: mpsc::Sender<Wish>,
    _actor: Owned<()>,
}

/// What a connection is started with.
#[derive(Debug)]
pub(crate) struct Beginning {
    pub(crate) surroundings: Surroundings,
    pub(crate) gate: StartGate,
    pub(crate) publisher: Publisher,
    pub(crate) tool_limit: Duration,
    /// Turns true, or ends, when the server that had this place before is gone; nothing is started until then.
    pub(crate) predecessor: Option<watch::Receiver<bool>>,
    /// Whether it is switched on.
    pub(crate) on: bool,
}

impl Connection {
    /// Starts the actor; it connects when the first lease is asked for.
    pub(crate) fn start(name: ServerName, config: ServerConfig, beginning: Beginning) -> Self {
        let (wishes, inbox) = mpsc::channel(MAILBOX);
        let (state, tool_limit) = (beginning.publisher.subscribe(), beginning.tool_limit);
        let names = beginning.publisher.names();
        let signature = Signature::of(&config);
        let config = Arc::new(config);
        let journal = Journal::of(&beginning.surroundings.paths, &name);
        let messages = beginning.surroundings.messages().clone();
        let log = Arc::new(Log::new(&config, journal).heard_as(name.clone(), messages));
        let surroundings = beginning.surroundings.of_server(&name);
        let account = surroundings.account(&config);
        let beginning = Beginning { surroundings, ..beginning };
        let server_requests =
            Arc::new(ServerRequests::new(name.clone(), &beginning.surroundings, &config, Arc::clone(&log)));
        let watched = Arc::<Watched>::default();
        let notifications = (Arc::clone(&server_requests), Arc::clone(&watched));
        let actor = Actor::new(Arc::clone(&config), Arc::clone(&log), notifications, beginning);
        let core = Arc::new(Core {
            names,
            account,
            log,
            server_requests,
            watched,
            state,
            wishes,
            _actor: Owned::start(actor.run(inbox)),
        });
        Self { name, config, signature, tool_limit, core }
    }

    /// The same connection under an entry that differs only in what does not affect it (C11).
    pub(crate) fn adjusted(&self, config: ServerConfig) -> Self {
        let config = Arc::new(config);
        // A full mailbox belongs to a server in trouble; its idle limit is of no importance then.
        let _full = self.core.wishes.try_send(Wish::Adjust(Arc::clone(&config)));
        Self { config, ..self.clone() }
    }

    /// The same connection under another name: of entries with one signature there is one connection (L4).
    pub(crate) fn also(&self, name: ServerName, config: ServerConfig) -> Self {
        self.core.names.add(name.clone());
        Self { name, config: Arc::new(config), ..self.clone() }
    }

    /// It does not go by this handle's name any more.
    pub(crate) fn drop_name(&self) {
        self.core.names.remove(&self.name);
    }

    /// The same connection under another name and entry, for somebody who shares it. It stays what its owner wants.
    pub(crate) fn known_as(&self, name: ServerName, config: ServerConfig) -> Self {
        Self { name, config: Arc::new(config), ..self.clone() }
    }

    /// Whether both are handles of one connection.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.core, &other.core)
    }

    /// Whether it can be used at once, so that what is published of it holds.
    pub(crate) fn is_live(&self) -> bool {
        self.core.state.borrow().live.as_ref().is_some_and(|live| !live.session.peer().is_over())
    }

    /// The sign-in to the server, where there can be one.
    pub(crate) fn account(&self) -> Option<&Account> {
        self.core.account.as_ref()
    }

    /// What happened to it.
    pub(crate) fn log(&self) -> &Arc<Log> {
        &self.core.log
    }

    /// Where its server's wishes are answered.
    pub(crate) fn server_requests(&self) -> &ServerRequests {
        &self.core.server_requests
    }

    /// Which of its resources somebody watches.
    pub(crate) fn watched(&self) -> &Arc<Watched> {
        &self.core.watched
    }

    /// What everyone may know.
    pub(crate) fn state(&self) -> State {
        self.core.state.borrow().clone()
    }

    /// A connection to use: the one there is, or one that is opened for everybody who asks meanwhile.
    pub(crate) async fn lease(&self) -> Result<Arc<Live>, Unavailable> {
        self.lease_after(Epoch::default()).await
    }

    /// The connection there is, if it is younger than `stale`.
    pub(crate) fn ready(&self, stale: Epoch) -> Option<Arc<Live>> {
        let state = self.core.state.borrow();
        let live = state.live.as_ref()?;
        let is_good = live.epoch > stale && !live.session.peer().is_over();
        is_good.then(|| {
            live.touch();
            Arc::clone(live)
        })
    }

    /// As [`Connection::lease`], when the one of epoch `stale` was found to be of no use.
    pub(crate) async fn lease_after(&self, stale: Epoch) -> Result<Arc<Live>, Unavailable> {
        if let Some(live) = self.ready(stale) {
            return Ok(live);
        }
        let (reply, answer) = oneshot::channel();
        self.core.wishes.send(Wish::Lease { stale, reply }).await.map_err(|_| Unavailable::Stopped)?;
        answer.await.unwrap_or(Err(Unavailable::Stopped))
    }

    /// Connects without waiting for it.
    pub(crate) fn wake(&self) {
        // A mailbox that is full holds wishes that wake it too.
        let _full = self.core.wishes.try_send(Wish::Wake);
    }

    /// Begins anew, whatever there is.
    pub(crate) async fn reconnect(&self) {
        // An actor that has ended cannot reconnect, and its state says so.
        let _stopped = self.core.wishes.send(Wish::Reconnect).await;
    }

    /// Tells that the connection of `epoch` wants a sign-in.
    pub(crate) async fn needs_auth(&self, epoch: Epoch) {
        let _stopped = self.core.wishes.send(Wish::NeedsAuth { epoch }).await;
    }

    /// Tells the server, when there is time, that nobody wants the result of a task any more.
    pub(crate) fn give_up_task(&self, id: String) {
        // A full mailbox belongs to a server in trouble, and tasks end by themselves.
        let _full = self.core.wishes.try_send(Wish::GiveUpTask(id));
    }

    /// Takes it out of use until it is switched on again.
    pub(crate) async fn switch(&self, on: bool) {
        let _stopped = self.core.wishes.send(Wish::Switch { on }).await;
    }

    /// Whether the actor has taken every wish there was.
    #[cfg(test)]
    pub(crate) fn is_heard(&self) -> bool {
        self.core.wishes.capacity() == MAILBOX
    }

    /// Ends it in order and waits for the end. Calls that run may go on for `grace`.
    pub(crate) async fn stop(&self, grace: Duration) {
        let (done, ended) = oneshot::channel();
        if self.core.wishes.send(Wish::Stop { grace, done }).await.is_ok() {
            // The other end is dropped when the actor has ended, which is the same.
            let _ended = ended.await;
        }
    }
}
