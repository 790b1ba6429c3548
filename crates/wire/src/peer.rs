//! One end of a conversation: requests out, answers back, and the other side's wishes.
//!
//! Symmetric and transport-blind. A transport gives an `Outbound` and feeds what comes to the `Inbox`;
//! nothing that comes can block what follows it: answers wake their callers, notifications are handed over
//! without waiting, requests of the other side run beside.

mod call;
mod inbox;
mod owed;
mod pending;
mod refusal;

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use mcparley_model::limits::MESSAGE_BYTES;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use crate::failure::{Failure, METHOD_NOT_FOUND, RpcError};
use crate::json::RawJson;
use crate::message;
use pending::Pending;

pub use call::{CallOptions, Prepared, Progress};
pub(crate) use inbox::Inbox;
pub use inbox::{StrayRecord, Strays};

/// How long the other side has to hear that a call is given up, before it may be ended.
const HEARING: Duration = Duration::from_millis(50);

/// A future that a trait object can give.
pub type Boxed<'f, T> = Pin<Box<dyn Future<Output = T> + Send + 'f>>;

/// Where a peer's messages go.
pub(crate) trait Outbound: Send + Sync + 'static {
    /// Sends one message; waits while the queue is full. A request comes with its ticket.
    fn send(&self, message: Bytes, ticket: Option<Ticket>) -> Boxed<'_, Result<(), Failure>>;

    /// Sends one message if that takes no waiting, and gives it back if it does. Saves the making of a future, which
    /// for small messages is a good part of the whole work.
    fn push(&self, message: Bytes) -> Result<(), Bytes> {
        Err(message)
    }

    /// Whether it looks at tickets at all.
    fn takes_tickets(&self) -> bool {
        true
    }

    /// Sends one message if there is room for it now. For what is worth sending and not worth waiting for.
    fn offer(&self, message: Bytes);

    /// Waits until nothing is left to be sent.
    fn flush(&self) -> Boxed<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// A request on its way: whose answer is awaited, and whether somebody still waits for it.
#[derive(Debug)]
pub(crate) struct Ticket {
    /// The request's id.
    pub(crate) id: u64,
    /// Closes when the call has its answer or its caller is gone. Transports with a stream for each request
    /// close that stream then.
    pub(crate) over: oneshot::Receiver<()>,
    /// What it says in its headers too, for transports that have some.
    pub(crate) headers: Vec<(String, String)>,
}

/// What the other side's wishes are answered with.
pub trait Handler: Send + Sync + 'static {
    /// Answers a request.
    fn request(&self, method: &str, params: Option<RawJson>) -> Boxed<'static, Result<RawJson, RpcError>>;

    /// Answers a request whose id is this, byte for byte. Only for who has to know it: a subscription goes by it.
    fn asked(
        &self,
        _id: &RawJson,
        method: &str,
        params: Option<RawJson>,
    ) -> Boxed<'static, Result<RawJson, RpcError>> {
        self.request(method, params)
    }

    /// Hears that a request has its answer: it is sent, or cannot be sent any more.
    fn answered(&self, _method: &str) {}

    /// Takes a notification. Must not wait: what follows comes after it.
    fn notification(&self, method: &str, params: Option<RawJson>);

    /// How many bytes a message to it may have, after decompression. Asked once for each conversation.
    fn message_limit(&self) -> usize {
        MESSAGE_BYTES
    }

    /// Learns its own end of a conversation, before anything is said on it. Only for who speaks unasked.
    fn joined(&self, _peer: &Peer) {}
}

/// Answers `ping`, refuses everything else and listens to nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deaf;

impl Handler for Deaf {
    fn request(&self, method: &str, _params: Option<RawJson>) -> Boxed<'static, Result<RawJson, RpcError>> {
        let answer = match method {
            "ping" => Ok(RawJson::from_text("{}")),
            _ => Err(RpcError::new(METHOD_NOT_FOUND, "method not found")),
        };
        Box::pin(std::future::ready(answer))
    }

    fn notification(&self, _method: &str, _params: Option<RawJson>) {}
}

/// Our end of a conversation. Cheap to clone; all clones are the same end.
#[derive(Clone)]
pub struct Peer {
    shared: Arc<Shared>,
}

struct Shared {
    outbound: Box<dyn Outbound>,
    pending: Pending,
    next: AtomicU64,
    /// Why the conversation is over, once it is.
    ended: watch::Sender<Option<Failure>>,
    /// When a call was given up last, as the other side was told.
    gave_up: Mutex<Option<Instant>>,
    /// Whether it is over: every call asks, and looking here takes no lock.
    over: AtomicBool,
}

impl Peer {
    pub(crate) fn new(outbound: Box<dyn Outbound>, handler: Arc<dyn Handler>) -> (Self, Inbox) {
        let (ended, _) = watch::channel(None);
        let shared = Shared {
            outbound,
            pending: Pending::default(),
            next: AtomicU64::new(1),
            ended,
            gave_up: Mutex::default(),
            over: AtomicBool::new(false),
        };
        let peer = Self { shared: Arc::new(shared) };
        handler.joined(&peer);
        let inbox = Inbox::new(peer.clone(), handler);
        (peer, inbox)
    }

    /// Tells the other side something.
    ///
    /// # Errors
    /// When the conversation is over.
    pub async fn notify(&self, method: &str, params: Option<&RawJson>) -> Result<(), Failure> {
        self.check()?;
        self.shared.outbound.send(Bytes::from(message::notification(method, params)), None).await
    }

    /// Waits until everything is sent that was offered, above all that a call is given up, and lets a moment pass in
    /// which the other side can hear that. Not longer than `limit`: it may not read.
    pub(crate) async fn flush(&self, limit: Duration) {
        let flushed = async {
            self.shared.outbound.flush().await;
            let last = *self.gave_up();
            if let Some(at) = last {
                tokio::time::sleep_until(at + HEARING).await;
            }
        };
        let _late = tokio::time::timeout(limit, flushed).await;
    }

    fn gave_up(&self) -> MutexGuard<'_, Option<Instant>> {
        self.shared.gave_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the conversation is over, and says why.
    pub async fn ended(&self) -> Failure {
        let mut ended = self.shared.ended.subscribe();
        let failure = ended.wait_for(Option::is_some).await.ok().and_then(|failure| failure.clone());
        failure.unwrap_or(Failure::Closed { exit: None, sent: true })
    }

    /// Whether the conversation is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.shared.over.load(Ordering::Acquire)
    }

    /// Why the conversation is over, if it is.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        self.shared.ended.borrow().clone()
    }

    /// Whether something can still be sent. What cannot was certainly not executed, whatever ended the conversation:
    /// that is the business of those who were waiting then, and another connection may do better.
    fn check(&self) -> Result<(), Failure> {
        if !self.is_over() {
            return Ok(());
        }
        match self.shared.ended.borrow().as_ref() {
            Some(Failure::Closed { exit, .. }) => Err(Failure::Closed { exit: *exit, sent: false }),
            Some(_) => Err(Failure::Closed { exit: None, sent: false }),
            None => Ok(()),
        }
    }

    fn next_id(&self) -> u64 {
        self.shared.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Ends the conversation because of `why`: every waiting call fails with `calls`.
    fn end(&self, why: &Failure, calls: &Failure) {
        let first = self.shared.ended.send_if_modified(|ended| {
            let first = ended.is_none();
            if first {
                *ended = Some(why.clone());
                self.shared.over.store(true, Ordering::Release);
            }
            first
        });
        if first {
            self.shared.pending.fail_all(calls);
        }
    }
}

impl std::fmt::Debug for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Peer").field("waiting", &self.shared.pending.len()).finish_non_exhaustive()
    }
}
