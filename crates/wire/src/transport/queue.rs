//! What waits to be written to one server, bounded in number and in bytes.

use std::sync::Arc;

use bytes::Bytes;
use mcparley_model::limits::{QUEUE_BYTES, QUEUE_MESSAGES};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use crate::failure::Failure;
use crate::peer::{Boxed, Outbound, Ticket};

/// A queue to a writer. Full means: callers wait, and what is only offered is dropped.
#[derive(Debug)]
pub(super) struct Queue {
    messages: mpsc::Sender<Queued>,
    room: Arc<Semaphore>,
    /// Whether the writer wants to know whose call a message is.
    names_calls: bool,
}

/// A message and its share of the queue's bytes.
#[derive(Debug)]
pub(super) struct Queued {
    pub(super) message: Bytes,
    /// The call it makes, if it makes one and the writer wants to know.
    pub(super) call: Option<u64>,
    _room: OwnedSemaphorePermit,
}

/// The other end of the queue.
#[derive(Debug)]
pub(super) struct Outgoing {
    messages: mpsc::Receiver<Queued>,
    /// Ends when nothing more is to be taken, though somebody could still send.
    until: Option<oneshot::Receiver<()>>,
}

impl Queue {
    pub(super) fn new() -> (Self, Outgoing) {
        Self::with(false)
    }

    /// One whose writer can tell which calls were never sent. Costs every request a ticket.
    pub(super) fn naming_calls() -> (Self, Outgoing) {
        Self::with(true)
    }

    fn with(names_calls: bool) -> (Self, Outgoing) {
        let (messages, outgoing) = mpsc::channel(QUEUE_MESSAGES);
        let outgoing = Outgoing { messages: outgoing, until: None };
        (Self { messages, room: Arc::new(Semaphore::new(QUEUE_BYTES)), names_calls }, outgoing)
    }
}

impl Outgoing {
    /// The same, which ends when `stop` does: with the last message that waits then.
    pub(super) fn until(self, stop: oneshot::Receiver<()>) -> Self {
        Self { until: Some(stop), ..self }
    }

    /// The next message; nothing once nobody can send any more.
    pub(super) async fn next(&mut self) -> Option<Queued> {
        if let Some(stop) = &mut self.until {
            tokio::select! {
                biased;
                message = self.messages.recv() => return message,
                // Whether it was told or is gone means the same.
                _ = stop => {}
            }
            self.until = None;
            self.close();
        }
        self.messages.recv().await
    }

    /// The next message, if it is here already.
    pub(super) fn waiting(&mut self) -> Option<Queued> {
        self.messages.try_recv().ok()
    }

    /// Takes no more; what is here already can still be taken out.
    pub(super) fn close(&mut self) {
        self.messages.close();
    }
}

fn share(message: &Bytes) -> Result<u32, Failure> {
    let too_large = Failure::TooLarge { limit: QUEUE_BYTES };
    u32::try_from(message.len()).ok().filter(|bytes| *bytes as usize <= QUEUE_BYTES).ok_or(too_large)
}

impl Outbound for Queue {
    fn send(&self, message: Bytes, ticket: Option<Ticket>) -> Boxed<'_, Result<(), Failure>> {
        Box::pin(async move {
            let closed = || Failure::Closed { exit: None, sent: false };
            let share = share(&message)?;
            let room = Arc::clone(&self.room).acquire_many_owned(share).await.map_err(|_| closed())?;
            let call = ticket.map(|ticket| ticket.id);
            self.messages.send(Queued { message, call, _room: room }).await.map_err(|_| closed())
        })
    }

    fn push(&self, message: Bytes) -> Result<(), Bytes> {
        let Ok(share) = share(&message) else { return Err(message) };
        match Arc::clone(&self.room).try_acquire_many_owned(share) {
            Ok(room) => {
                let sent = self.messages.try_send(Queued { message, call: None, _room: room });
                sent.map_err(|unsent| unsent.into_inner().message)
            }
            Err(_) => Err(message),
        }
    }

    fn takes_tickets(&self) -> bool {
        self.names_calls
    }

    fn offer(&self, message: Bytes) {
        let Ok(share) = share(&message) else { return };
        if let Ok(room) = Arc::clone(&self.room).try_acquire_many_owned(share) {
            // Dropped when the queue is full: the other side does not read anyway.
            let _full = self.messages.try_send(Queued { message, call: None, _room: room });
        }
    }

    /// Every message holds its room until it is written.
    fn flush(&self) -> Boxed<'_, ()> {
        let all = u32::try_from(QUEUE_BYTES).unwrap_or(u32::MAX);
        Box::pin(async move { drop(self.room.acquire_many(all).await) })
    }
}
