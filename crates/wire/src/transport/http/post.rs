//! The queue of POSTs: each message is sent in a task of its own, and a semaphore limits their number and
//! size.

use std::sync::Arc;

use bytes::Bytes;
use mcparley_model::limits::{QUEUE_BYTES, QUEUE_MESSAGES};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use crate::failure::Failure;
use crate::peer::{BoxedFuture, Outbound, RequestTicket};
use crate::task::OwnedTasks;

/// Minimal share of a message, so that one semaphore limits both bytes and connections.
const SMALLEST: usize = QUEUE_BYTES / QUEUE_MESSAGES;

/// Delivers one message to the server.
pub(in crate::transport) trait DeliverPost: Clone + Send + Sync + 'static {
    /// Sends a request; its response or failure goes to its call. Ends when the call is gone.
    fn deliver_request(&self, message: Bytes, ticket: RequestTicket) -> impl Future<Output = ()> + Send;

    /// Sends a message that has no response.
    fn deliver_one_way(&self, message: Bytes) -> impl Future<Output = Result<(), Failure>> + Send;
}

/// The sending end of the queue. When it is full, callers wait (backpressure), and optional messages are
/// dropped.
#[derive(Debug)]
pub(in crate::transport) struct PostQueue {
    posts: mpsc::Sender<QueuedPost>,
    requests: Arc<Semaphore>,
    /// Separate, because a request may wait for a response of ours: its permits must not be needed for that.
    others: Arc<Semaphore>,
}

/// One message in the queue.
#[derive(Debug)]
pub(in crate::transport) struct QueuedPost {
    message: Bytes,
    kind: Kind,
    room: OwnedSemaphorePermit,
}

#[derive(Debug)]
enum Kind {
    /// A request; its outcome goes to the call.
    Request(RequestTicket),
    /// Any other message; its outcome goes to its sender, so that messages can be sent in order.
    Other(oneshot::Sender<Result<(), Failure>>),
}

impl PostQueue {
    pub(in crate::transport) fn new() -> (Self, mpsc::Receiver<QueuedPost>) {
        // The two semaphores admit no more messages than this, so the channel is never full.
        let (posts, waiting) = mpsc::channel(2 * QUEUE_MESSAGES);
        let room = || Arc::new(Semaphore::new(QUEUE_BYTES));
        (Self { posts, requests: room(), others: room() }, waiting)
    }
}

fn permit_count(message: &Bytes) -> Result<u32, Failure> {
    let bytes = message.len().max(SMALLEST);
    let too_large = Failure::TooLarge { limit: QUEUE_BYTES };
    u32::try_from(bytes).ok().filter(|_| bytes <= QUEUE_BYTES).ok_or(too_large)
}

fn closed_failure() -> Failure {
    Failure::Closed { exit: None, sent: false }
}

impl Outbound for PostQueue {
    fn send(&self, message: Bytes, ticket: Option<RequestTicket>) -> BoxedFuture<'_, Result<(), Failure>> {
        Box::pin(async move {
            let room = if ticket.is_some() { &self.requests } else { &self.others };
            let room = Arc::clone(room)
                .acquire_many_owned(permit_count(&message)?)
                .await
                .map_err(|_| closed_failure())?;
            let (kind, receipt) = match ticket {
                Some(ticket) => (Kind::Request(ticket), None),
                None => {
                    let (sender, receipt) = oneshot::channel();
                    (Kind::Other(sender), Some(receipt))
                }
            };
            self.posts.send(QueuedPost { message, kind, room }).await.map_err(|_| closed_failure())?;
            match receipt {
                Some(receipt) => receipt.await.unwrap_or(Err(closed_failure())),
                None => Ok(()),
            }
        })
    }

    fn send_or_drop(&self, message: Bytes) -> bool {
        let Ok(share) = permit_count(&message) else { return false };
        let Ok(room) = Arc::clone(&self.others).try_acquire_many_owned(share) else { return false };
        let (sender, _receipt) = oneshot::channel();
        // Fails only when the connection has ended.
        self.posts.try_send(QueuedPost { message, kind: Kind::Other(sender), room }).is_ok()
    }

    /// Waits until the server has accepted every message, which holds its permits until then. Requests are
    /// not waited for:
    /// they have responses.
    fn flush(&self) -> BoxedFuture<'_, ()> {
        let all = u32::try_from(QUEUE_BYTES).unwrap_or(u32::MAX);
        Box::pin(async move { drop(self.others.acquire_many(all).await) })
    }
}

/// Sends queued messages, until the queue is closed.
pub(in crate::transport) async fn run_post_queue(
    mut waiting: mpsc::Receiver<QueuedPost>,
    deliver: impl DeliverPost,
) {
    let tasks = OwnedTasks::default();
    while let Some(QueuedPost { message, kind, room }) = waiting.recv().await {
        let deliver = deliver.clone();
        tasks.spawn(async move {
            match kind {
                Kind::Request(ticket) => deliver.deliver_request(message, ticket).await,
                Kind::Other(receipt) => {
                    let outcome = deliver.deliver_one_way(message).await;
                    // An optional message has no waiting sender.
                    let _unwanted = receipt.send(outcome);
                }
            }
            drop(room);
        });
    }
}
