//! Messages as lines of a byte stream, in both directions.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use mcparley_model::limits::{QUEUE_BYTES, QUEUE_MESSAGES};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::failure::Failure;
use crate::frame::Lines;
use crate::peer::{Boxed, Inbox, Outbound, Ticket};

/// How much is asked for in one read, and how much is written at once.
const READ_BYTES: usize = 64 * 1024;

/// With less room than this a new buffer is taken. Small messages share one: a fresh buffer for each costs more
/// than reading it.
const LEAST_ROOM: usize = 16 * 1024;

/// A queue to a writer. Full means: callers wait, and what is only offered is dropped.
#[derive(Debug)]
pub(super) struct Queue {
    messages: mpsc::Sender<Queued>,
    room: Arc<Semaphore>,
}

/// A message and its share of the queue's bytes.
#[derive(Debug)]
struct Queued {
    message: Bytes,
    _room: OwnedSemaphorePermit,
}

/// The other end of the queue.
#[derive(Debug)]
pub(super) struct Outgoing(mpsc::Receiver<Queued>);

impl Queue {
    pub(super) fn new() -> (Self, Outgoing) {
        let (messages, outgoing) = mpsc::channel(QUEUE_MESSAGES);
        (Self { messages, room: Arc::new(Semaphore::new(QUEUE_BYTES)) }, Outgoing(outgoing))
    }
}

fn share(message: &Bytes) -> Result<u32, Failure> {
    let too_large = Failure::TooLarge { limit: QUEUE_BYTES };
    u32::try_from(message.len()).ok().filter(|bytes| *bytes as usize <= QUEUE_BYTES).ok_or(too_large)
}

impl Outbound for Queue {
    fn send(&self, message: Bytes, _ticket: Option<Ticket>) -> Boxed<'_, Result<(), Failure>> {
        Box::pin(async move {
            let closed = || Failure::Closed { exit: None, sent: false };
            let share = share(&message)?;
            let room = Arc::clone(&self.room).acquire_many_owned(share).await.map_err(|_| closed())?;
            self.messages.send(Queued { message, _room: room }).await.map_err(|_| closed())
        })
    }

    fn push(&self, message: Bytes) -> Result<(), Bytes> {
        let Ok(share) = share(&message) else { return Err(message) };
        match Arc::clone(&self.room).try_acquire_many_owned(share) {
            Ok(room) => {
                let sent = self.messages.try_send(Queued { message, _room: room });
                sent.map_err(|unsent| unsent.into_inner().message)
            }
            Err(_) => Err(message),
        }
    }

    fn takes_tickets(&self) -> bool {
        false
    }

    fn offer(&self, message: Bytes) {
        let Ok(share) = share(&message) else { return };
        if let Ok(room) = Arc::clone(&self.room).try_acquire_many_owned(share) {
            // Dropped when the queue is full: the other side does not read anyway.
            let _full = self.messages.try_send(Queued { message, _room: room });
        }
    }
}

/// Writes what is queued until the queue or the stream ends. Closes the stream at the end.
pub(super) async fn write(mut outgoing: Outgoing, mut stream: impl AsyncWrite + Unpin) {
    let mut buffer = BytesMut::new();
    while let Some(first) = outgoing.0.recv().await {
        append(&mut buffer, &first);
        let mut written = vec![first];
        // What waits already goes out in the same write.
        while buffer.len() < READ_BYTES
            && let Ok(next) = outgoing.0.try_recv()
        {
            append(&mut buffer, &next);
            written.push(next);
        }
        if stream.write_all(&buffer).await.is_err() {
            return;
        }
        if stream.flush().await.is_err() {
            return;
        }
        buffer.clear();
    }
    // The other side sees the end of its input when the stream is dropped, whether or not this works.
    let _closed = stream.shutdown().await;
}

fn append(buffer: &mut BytesMut, queued: &Queued) {
    buffer.extend_from_slice(&queued.message);
    buffer.extend_from_slice(b"\n");
}

/// Reads lines and delivers them until the stream ends.
pub(super) async fn read(mut stream: impl AsyncRead + Unpin, inbox: &Inbox) {
    let mut lines = Lines::default();
    loop {
        let buffer = lines.buffer();
        if buffer.capacity() - buffer.len() < LEAST_ROOM {
            buffer.reserve(READ_BYTES);
        }
        match stream.read_buf(lines.buffer()).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        while let Some(frame) = lines.next() {
            inbox.deliver_frame(frame);
        }
    }
    // Half a line is still worth reading: it may name the call it was meant for.
    if let Some(rest) = lines.rest() {
        inbox.deliver(&rest);
    }
}
