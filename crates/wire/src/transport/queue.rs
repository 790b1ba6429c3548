//! The bounded send queue of one server, limited in messages and in bytes.

use std::sync::Arc;

use bytes::Bytes;
use mcparley_model::limits::{QUEUE_BYTES, QUEUE_MESSAGES};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use crate::failure::Failure;
use crate::message::response_parts::ResponseParts;
use crate::peer::{BoxedFuture, Outbound, RequestTicket};

/// The sending end of the queue. When it is full, callers wait (backpressure), and optional messages are
/// dropped.
#[derive(Debug)]
pub(super) struct SendQueue {
    messages: mpsc::Sender<QueuedMessage>,
    room: Arc<Semaphore>,
    /// Whether the writer needs the call id of each message.
    tracks_calls: bool,
}

/// A queued message with its share of the queue's bytes.
#[derive(Debug)]
pub(super) struct QueuedMessage {
    pub(super) parts: ResponseParts,
    /// The id of its call, if it is a request and the writer needs it.
    pub(super) call: Option<u64>,
    _room: OwnedSemaphorePermit,
}

/// The receiving end of the queue.
#[derive(Debug)]
pub(super) struct OutgoingMessages {
    messages: mpsc::Receiver<QueuedMessage>,
    /// Resolves when the queue has to be closed, although senders still exist.
    stop: Option<oneshot::Receiver<()>>,
}

impl SendQueue {
    pub(super) fn new() -> (Self, OutgoingMessages) {
        Self::with_tracking(false)
    }

    /// A queue whose writer can tell which calls were never sent. Costs every request a ticket.
    pub(super) fn with_call_ids() -> (Self, OutgoingMessages) {
        Self::with_tracking(true)
    }

    fn with_tracking(names_calls: bool) -> (Self, OutgoingMessages) {
        let (messages, outgoing) = mpsc::channel(QUEUE_MESSAGES);
        let outgoing = OutgoingMessages { messages: outgoing, stop: None };
        (Self { messages, room: Arc::new(Semaphore::new(QUEUE_BYTES)), tracks_calls: names_calls }, outgoing)
    }
}

impl OutgoingMessages {
    /// Closes the queue when `stop` resolves, after the messages that are queued then.
    pub(super) fn stop_with(self, stop: oneshot::Receiver<()>) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// Returns the next message; `None` once the queue is closed and empty.
    pub(super) async fn next(&mut self) -> Option<QueuedMessage> {
        if let Some(stop) = &mut self.stop {
            tokio::select! {
                biased;
                message = self.messages.recv() => return message,
                // A sent value and a dropped sender mean the same.
                _ = stop => {}
            }
            self.stop = None;
            self.close();
        }
        self.messages.recv().await
    }

    /// Returns the next message, if one is queued.
    pub(super) fn try_next(&mut self) -> Option<QueuedMessage> {
        self.messages.try_recv().ok()
    }

    /// Closes the queue; queued messages can still be taken out.
    pub(super) fn close(&mut self) {
        self.messages.close();
    }
}

impl SendQueue {
    async fn queue_message(&self, parts: ResponseParts, call: Option<u64>) -> Result<(), Failure> {
        let closed = || Failure::Closed { exit: None, sent: false };
        let share = permit_count(&parts)?;
        let room = Arc::clone(&self.room).acquire_many_owned(share).await.map_err(|_| closed())?;
        self.messages.send(QueuedMessage { parts, call, _room: room }).await.map_err(|_| closed())
    }
}

impl QueuedMessage {
    /// The message in one part.
    pub(super) fn message(&self) -> Bytes {
        self.parts.clone().into_message()
    }
}

fn permit_count(message: &ResponseParts) -> Result<u32, Failure> {
    let too_large = Failure::TooLarge { limit: QUEUE_BYTES };
    u32::try_from(message.total_bytes()).ok().filter(|bytes| *bytes as usize <= QUEUE_BYTES).ok_or(too_large)
}

impl Outbound for SendQueue {
    fn send(&self, message: Bytes, ticket: Option<RequestTicket>) -> BoxedFuture<'_, Result<(), Failure>> {
        Box::pin(self.queue_message(message.into(), ticket.map(|ticket| ticket.id)))
    }

    fn try_send(&self, message: Bytes) -> Result<(), Bytes> {
        self.try_send_parts(message.into()).map_err(ResponseParts::into_message)
    }

    fn send_parts(&self, message: ResponseParts) -> BoxedFuture<'_, Result<(), Failure>> {
        Box::pin(self.queue_message(message, None))
    }

    fn try_send_parts(&self, parts: ResponseParts) -> Result<(), ResponseParts> {
        let Ok(share) = permit_count(&parts) else { return Err(parts) };
        match Arc::clone(&self.room).try_acquire_many_owned(share) {
            Ok(room) => {
                let sent = self.messages.try_send(QueuedMessage { parts, call: None, _room: room });
                sent.map_err(|unsent| unsent.into_inner().parts)
            }
            Err(_) => Err(parts),
        }
    }

    fn uses_tickets(&self) -> bool {
        self.tracks_calls
    }

    fn send_or_drop(&self, message: Bytes) -> bool {
        // Dropped when the queue is full: the other side does not read anyway.
        self.try_send(message).is_ok()
    }

    /// Waits until all messages are written: each holds its share until then.
    fn flush(&self) -> BoxedFuture<'_, ()> {
        let all = u32::try_from(QUEUE_BYTES).unwrap_or(u32::MAX);
        Box::pin(async move { drop(self.room.acquire_many(all).await) })
    }
}
