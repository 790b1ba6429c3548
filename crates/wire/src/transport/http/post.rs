//! The queue of POSTs: every message in a task of its own, and only so many at once.

use std::sync::Arc;

use bytes::Bytes;
use mcparley_model::limits::{QUEUE_BYTES, QUEUE_MESSAGES};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use crate::failure::Failure;
use crate::peer::{Boxed, Outbound, Ticket};
use crate::task::Tasks;

/// What even the smallest message takes of the room, so that one number bounds both bytes and connections.
const SMALLEST: usize = QUEUE_BYTES / QUEUE_MESSAGES;

/// What brings one message to the server.
pub(in crate::transport) trait Deliver: Clone + Send + Sync + 'static {
    /// Makes a request; its answer or failure goes to its call. Ends when nobody waits for it any more.
    fn ask(&self, message: Bytes, ticket: Ticket) -> impl Future<Output = ()> + Send;

    /// Sends what has no answer.
    fn tell(&self, message: Bytes) -> impl Future<Output = Result<(), Failure>> + Send;
}

/// Where messages go. When there is no room, callers wait, and what is only offered is dropped.
#[derive(Debug)]
pub(in crate::transport) struct Posts {
    posts: mpsc::Sender<Post>,
    requests: Arc<Semaphore>,
    /// Apart, because a request may wait for an answer of ours: room that it holds must not be needed for that.
    others: Arc<Semaphore>,
}

/// One message on its way.
#[derive(Debug)]
pub(in crate::transport) struct Post {
    message: Bytes,
    kind: Kind,
    room: OwnedSemaphorePermit,
}

#[derive(Debug)]
enum Kind {
    /// Its outcome is told to the call.
    Request(Ticket),
    /// Its outcome is told to whoever sends it, so that what must come in order can.
    Other(oneshot::Sender<Result<(), Failure>>),
}

impl Posts {
    pub(in crate::transport) fn new() -> (Self, mpsc::Receiver<Post>) {
        // The two rooms let in no more than this, so the channel is never full.
        let (posts, waiting) = mpsc::channel(2 * QUEUE_MESSAGES);
        let room = || Arc::new(Semaphore::new(QUEUE_BYTES));
        (Self { posts, requests: room(), others: room() }, waiting)
    }
}

fn share(message: &Bytes) -> Result<u32, Failure> {
    let bytes = message.len().max(SMALLEST);
    let too_large = Failure::TooLarge { limit: QUEUE_BYTES };
    u32::try_from(bytes).ok().filter(|_| bytes <= QUEUE_BYTES).ok_or(too_large)
}

fn closed() -> Failure {
    Failure::Closed { exit: None, sent: false }
}

impl Outbound for Posts {
    fn send(&self, message: Bytes, ticket: Option<Ticket>) -> Boxed<'_, Result<(), Failure>> {
        Box::pin(async move {
            let room = if ticket.is_some() { &self.requests } else { &self.others };
            let room = Arc::clone(room).acquire_many_owned(share(&message)?).await.map_err(|_| closed())?;
            let (kind, receipt) = match ticket {
                Some(ticket) => (Kind::Request(ticket), None),
                None => {
                    let (sender, receipt) = oneshot::channel();
                    (Kind::Other(sender), Some(receipt))
                }
            };
            self.posts.send(Post { message, kind, room }).await.map_err(|_| closed())?;
            match receipt {
                Some(receipt) => receipt.await.unwrap_or(Err(closed())),
                None => Ok(()),
            }
        })
    }

    fn offer(&self, message: Bytes) {
        let Ok(share) = share(&message) else { return };
        if let Ok(room) = Arc::clone(&self.others).try_acquire_many_owned(share) {
            let (sender, _receipt) = oneshot::channel();
            // An end of the conversation is the only reason to fail, and then nobody needs it.
            let _ended = self.posts.try_send(Post { message, kind: Kind::Other(sender), room });
        }
    }

    /// Every message holds its room until the server has taken it. Requests are not waited for: they have answers.
    fn flush(&self) -> Boxed<'_, ()> {
        let all = u32::try_from(QUEUE_BYTES).unwrap_or(u32::MAX);
        Box::pin(async move { drop(self.others.acquire_many(all).await) })
    }
}

/// Sends what comes, until nobody can send any more.
pub(in crate::transport) async fn run(mut waiting: mpsc::Receiver<Post>, deliver: impl Deliver) {
    let tasks = Tasks::default();
    while let Some(Post { message, kind, room }) = waiting.recv().await {
        let deliver = deliver.clone();
        tasks.spawn(async move {
            match kind {
                Kind::Request(ticket) => deliver.ask(message, ticket).await,
                Kind::Other(receipt) => {
                    let outcome = deliver.tell(message).await;
                    // Nobody waits for what was only offered.
                    let _unwanted = receipt.send(outcome);
                }
            }
            drop(room);
        });
    }
}
