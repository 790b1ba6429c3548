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
//! | what others see | `state` |

mod actor;
mod backoff;
mod ears;
mod listen;
mod phase;
mod refresh;
mod state;

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::config::ServerConfig;
use mcparley_model::name::ServerName;
use mcparley_wire::Session;
use tokio::sync::{mpsc, oneshot, watch};

use crate::connect::Surroundings;
use crate::log::{Journal, Log};
use crate::task::Owned;
use actor::Actor;

pub(crate) use actor::Rooms;
pub(crate) use ears::Ears;
pub(crate) use state::Publisher;
pub use state::{Event, State, Status, Unavailable};

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
    /// Its other end sees when the last holder is gone.
    _in_use: mpsc::Sender<()>,
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
    /// Somebody found out that a sign-in is wanted.
    NeedsAuth { epoch: Epoch },
    /// End in order.
    Stop { done: oneshot::Sender<()> },
}

/// The handle of one server.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) name: ServerName,
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) log: Arc<Log>,
    /// How long a call may take without a word from the server, unless the entry says otherwise.
    pub(crate) tool_limit: Duration,
    state: watch::Receiver<State>,
    wishes: mpsc::Sender<Wish>,
    _actor: Owned<()>,
}

impl Connection {
    /// Starts the actor; it connects when the first lease is asked for.
    pub(crate) fn start(
        name: ServerName,
        config: ServerConfig,
        surroundings: Surroundings,
        rooms: Rooms,
        publisher: Publisher,
        tool_limit: Duration,
    ) -> Self {
        let (wishes, inbox) = mpsc::channel(MAILBOX);
        let state = publisher.subscribe();
        let config = Arc::new(config);
        let journal = Journal::of(&surroundings.places, &name);
        let log = Arc::new(Log::new(&config, journal));
        let actor = Actor::new(Arc::clone(&config), surroundings, rooms, publisher, Arc::clone(&log));
        Self { name, config, log, tool_limit, state, wishes, _actor: Owned::start(actor.run(inbox)) }
    }

    /// What everyone may know.
    pub(crate) fn state(&self) -> State {
        self.state.borrow().clone()
    }

    /// A connection to use: the one there is, or one that is opened for everybody who asks meanwhile.
    pub(crate) async fn lease(&self) -> Result<Arc<Live>, Unavailable> {
        self.lease_after(Epoch::default()).await
    }

    /// As [`Connection::lease`], when the one of epoch `stale` was found to be of no use.
    pub(crate) async fn lease_after(&self, stale: Epoch) -> Result<Arc<Live>, Unavailable> {
        if let Some(live) = self.state.borrow().live.as_ref()
            && live.epoch > stale
            && !live.session.peer().is_over()
        {
            return Ok(Arc::clone(live));
        }
        let (reply, answer) = oneshot::channel();
        self.wishes.send(Wish::Lease { stale, reply }).await.map_err(|_| Unavailable::Stopped)?;
        answer.await.unwrap_or(Err(Unavailable::Stopped))
    }

    /// Connects without waiting for it.
    pub(crate) fn wake(&self) {
        // A mailbox that is full holds wishes that wake it too.
        let _full = self.wishes.try_send(Wish::Wake);
    }

    /// Begins anew, whatever there is.
    pub(crate) async fn reconnect(&self) {
        // An actor that has ended cannot reconnect, and its state says so.
        let _stopped = self.wishes.send(Wish::Reconnect).await;
    }

    /// Tells that the connection of `epoch` wants a sign-in.
    pub(crate) async fn needs_auth(&self, epoch: Epoch) {
        let _stopped = self.wishes.send(Wish::NeedsAuth { epoch }).await;
    }

    /// Ends it in order and waits for the end.
    pub(crate) async fn stop(&self) {
        let (done, ended) = oneshot::channel();
        if self.wishes.send(Wish::Stop { done }).await.is_ok() {
            // The other end is dropped when the actor has ended, which is the same.
            let _ended = ended.await;
        }
    }
}
