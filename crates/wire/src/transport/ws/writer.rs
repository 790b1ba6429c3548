//! The writing half of a socket: queued messages and pings.

use futures_util::SinkExt;
use tokio::sync::Notify;
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

use super::SocketSender;
use crate::failure::{Damage, Failure};
use crate::peer::Inbox;
use crate::transport::queue::{OutgoingMessages, QueuedMessage};

/// Limit of one batched write.
const WRITE_BYTES: usize = 64 * 1024;

/// The writing half of a socket.
pub(super) struct SocketWriter<'w> {
    pub(super) outlet: &'w mut SocketSender,
    pub(super) outgoing: &'w mut OutgoingMessages,
    pub(super) inbox: &'w Inbox,
    /// Notified when the server has to be pinged.
    pub(super) ping: &'w Notify,
}

impl SocketWriter<'_> {
    /// Writes queued messages until a write fails. The reader goes on independently.
    pub(super) async fn write_until_failure(mut self) {
        loop {
            let written = tokio::select! {
                next = self.outgoing.next() => match next {
                    Some(first) => self.write_batch(first).await,
                    None => return,
                },
                () = self.ping.notified() => self.outlet.send(Message::Ping(bytes::Bytes::new())).await,
            };
            if written.is_err() {
                return;
            }
        }
    }

    /// Writes a batch: messages that are queued already go out in the same write, and hold their share of the
    /// queue until then.
    async fn write_batch(&mut self, first: QueuedMessage) -> Result<(), Error> {
        let mut bytes = 0;
        let mut written = Vec::new();
        let mut next = Some(first);
        while let Some(queued) = next {
            bytes += queued.parts.total_bytes();
            match Utf8Bytes::try_from(queued.message()) {
                Ok(text) => self.outlet.feed(Message::Text(text)).await?,
                Err(_) => self.fail_invalid_text(&queued),
            }
            written.push(queued);
            next = if bytes < WRITE_BYTES { self.outgoing.try_next() } else { None };
        }
        self.outlet.flush().await
    }

    /// Fails the call of a message that is not UTF-8, which would end the connection for all calls.
    fn fail_invalid_text(&self, queued: &QueuedMessage) {
        if let Some(call) = queued.call {
            self.inbox.fail_call(call, Failure::Damaged(Damage::NotJson));
        }
    }
}
