//! JSON-RPC peer: one end of a connection, with our requests and their responses, and the messages of the
//! other side.
//!
//! Symmetric and independent of the transport. A transport provides an `Outbound` and feeds messages to the
//! `Inbox`; no message can block the next one: responses wake their callers, notifications are passed on
//! without waiting, requests of the other side run concurrently.

mod call;
mod inbox;
pub(crate) mod incoming;
mod owed_answers;
mod pending;
mod progress;
pub(crate) mod refusal;
pub(crate) mod replies;

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
use crate::json_pieces::JsonPieces;
use crate::message;
use crate::message::response_parts::ResponseParts;
use incoming::{Incoming, Notice, RequestId};
use mcparley_json::RawJson;
use pending::PendingCalls;

pub use call::{PeerCallOptions, PreparedRequest, ProgressUpdate};
pub(crate) use inbox::Inbox;
pub use inbox::{StrayCounts, StrayRecord};
pub use progress::{NewestProgress, ProgressReceiver, ProgressSender, progress_channel};

/// Time for the other side to read a cancellation, before the connection may be closed.
const HEARING: Duration = Duration::from_millis(50);

/// A boxed future, for traits that are used as objects.
pub type BoxedFuture<'f, T> = Pin<Box<dyn Future<Output = T> + Send + 'f>>;

/// Sends the messages of a peer over a transport.
pub(crate) trait Outbound: Send + Sync + 'static {
    /// Sends one message; waits while the queue is full (backpressure). A request comes with its ticket.
    fn send(&self, message: Bytes, ticket: Option<RequestTicket>) -> BoxedFuture<'_, Result<(), Failure>>;

    /// Sends one message if that takes no waiting, and returns it otherwise. Saves the allocation of a
    /// future, which for small messages is a good part of the whole work.
    fn try_send(&self, message: Bytes) -> Result<(), Bytes> {
        Err(message)
    }

    /// Sends one message in parts; waits while the queue is full. Transports that write parts do not copy
    /// them.
    fn send_parts(&self, message: ResponseParts) -> BoxedFuture<'_, Result<(), Failure>> {
        self.send(message.into_message(), None)
    }

    /// Sends one message in parts if that takes no waiting, and returns it otherwise.
    fn try_send_parts(&self, message: ResponseParts) -> Result<(), ResponseParts> {
        Err(message)
    }

    /// Whether the transport uses tickets.
    fn uses_tickets(&self) -> bool {
        true
    }

    /// Sends one message if the queue has space, and returns whether it had. For messages that may be
    /// dropped.
    fn send_or_drop(&self, message: Bytes) -> bool;

    /// Waits until the queue is empty.
    fn flush(&self) -> BoxedFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// A request that is being sent, for transports with a stream for each request.
#[derive(Debug)]
pub(crate) struct RequestTicket {
    /// The request's id.
    pub(crate) id: u64,
    /// Closes when the call has its response or its caller is gone; the stream of the request is closed then.
    pub(crate) done: oneshot::Receiver<()>,
    /// Parameters that are also sent as headers, for transports that have headers.
    pub(crate) headers: Vec<(String, String)>,
}

/// Handles the messages of the other side.
pub trait Handler: Send + Sync + 'static {
    /// Answers a request. Dropping the future cancels the request.
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>>;

    /// Answers a request like [`Handler::handle_request`], with a result in pieces. For handlers that forward
    /// large results.
    fn handle_request_in_pieces(
        &self,
        incoming: Incoming,
    ) -> BoxedFuture<'static, Result<JsonPieces, RpcError>> {
        let answer = self.handle_request(incoming);
        Box::pin(async move { answer.await.map(JsonPieces::from) })
    }

    /// Receives a notification. Must not wait: the next message comes after it.
    fn handle_notice(&self, notice: Notice);

    /// Called when a request of this method is done: its response is sent, or cannot be sent any more.
    fn on_request_done(&self, _method: &str) {}

    /// Limit of one inbound message in bytes, after decompression. Read once for each connection.
    fn message_limit(&self) -> usize {
        MESSAGE_BYTES
    }

    /// Receives our end of a connection before its first message. Only for handlers that send requests of
    /// their own.
    fn on_connect(&self, _peer: &Peer) {}
}

/// A handler that answers `ping`, refuses every other request and ignores notifications.
#[derive(Clone, Copy, Debug, Default)]
pub struct PingHandler;

impl Handler for PingHandler {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        let answer = match &*incoming.method {
            "ping" => Ok(RawJson::from_text("{}")),
            _ => Err(RpcError::new(METHOD_NOT_FOUND, "method not found")),
        };
        Box::pin(std::future::ready(answer))
    }

    fn handle_notice(&self, _notice: Notice) {}
}

/// Number of the next connection of this process.
static NEXT_CONNECTION: AtomicU64 = AtomicU64::new(1);

/// Our end of a connection. Cheap to clone; all clones are the same end.
#[derive(Clone)]
pub struct Peer {
    shared: Arc<Shared>,
}

struct Shared {
    /// The number of the connection in this process.
    connection: u64,
    outbound: Box<dyn Outbound>,
    pending: PendingCalls,
    next: AtomicU64,
    /// The reason why the connection ended, once it has.
    ended: watch::Sender<Option<Failure>>,
    /// Time of the last cancellation that was sent.
    last_cancellation: Mutex<Option<Instant>>,
    /// Whether the connection has ended: every call checks this, and it takes no lock.
    over: AtomicBool,
}

impl Peer {
    pub(crate) fn new(outbound: Box<dyn Outbound>, handler: Arc<dyn Handler>) -> (Self, Inbox) {
        let (ended, _) = watch::channel(None);
        let shared = Shared {
            connection: NEXT_CONNECTION.fetch_add(1, Ordering::Relaxed),
            outbound,
            pending: PendingCalls::default(),
            next: AtomicU64::new(1),
            ended,
            last_cancellation: Mutex::default(),
            over: AtomicBool::new(false),
        };
        let peer = Self { shared: Arc::new(shared) };
        handler.on_connect(&peer);
        let inbox = Inbox::new(peer.clone(), handler);
        (peer, inbox)
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// When the connection has ended.
    pub async fn notify(&self, method: &str, params: Option<&RawJson>) -> Result<(), Failure> {
        self.check_open()?;
        self.shared.outbound.send(Bytes::from(message::encode_notification(method, params)), None).await
    }

    /// Waits until all queued messages are sent, above all cancellations, and gives the other side a moment
    /// to read them.
    /// Not longer than `limit`: the other side may not read.
    pub async fn flush(&self, limit: Duration) {
        let flushed = async {
            self.shared.outbound.flush().await;
            let last = *self.last_cancellation();
            if let Some(at) = last {
                tokio::time::sleep_until(at + HEARING).await;
            }
        };
        let _late = tokio::time::timeout(limit, flushed).await;
    }

    fn last_cancellation(&self) -> MutexGuard<'_, Option<Instant>> {
        self.shared.last_cancellation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the connection ends, and returns the reason.
    pub async fn wait_until_ended(&self) -> Failure {
        let mut ended = self.shared.ended.subscribe();
        let failure = ended.wait_for(Option::is_some).await.ok().and_then(|failure| failure.clone());
        failure.unwrap_or(Failure::Closed { exit: None, sent: true })
    }

    /// Whether the connection has ended.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.shared.over.load(Ordering::Acquire)
    }

    /// The reason why the connection ended, if it has.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        self.shared.ended.borrow().clone()
    }

    /// Checks that the connection is open. A request that cannot be sent was certainly not executed, however
    /// the connection ended, so the caller may retry on another one.
    fn check_open(&self) -> Result<(), Failure> {
        if !self.is_ended() {
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

    fn request_id(&self, number: u64) -> RequestId {
        RequestId { connection: self.shared.connection, number }
    }

    /// Ends the connection because of `why`: every waiting call fails with `calls`.
    fn end_connection(&self, why: &Failure, calls: &Failure) {
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
