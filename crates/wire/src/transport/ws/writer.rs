//! What goes out on the socket: what is queued, and pings.

use futures_util::SinkExt;
use tokio::sync::Notify;
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

use super::Outlet;
use crate::failure::{Damage, Failure};
use crate::peer::Inbox;
use crate::transport::queue::{Outgoing, Queued};

/// How much is written at once.
const WRITE_BYTES: usize = 64 * 1024;

/// The writing half of a socket.
pub(super) struct Writer<'w> {
    pub(super) outlet: &'w mut Outlet,
    pub(super) outgoing: &'w mut Outgoing,
    pub(super) inbox: &'w Inbox,
    /// Comes when the server is to show that it is there.
    pub(super) ping: &'w Notify,
}

impl Writer<'_> {
    /// Writes what is queued until that fails. What is still to be read is not its concern.
    pub(super) async fn run(mut self) {
        loop {
            let written = tokio::select! {
                next = self.outgoing.next() => match next {
                    Some(first) => self.write(first).await,
                    None => return,
                },
                () = self.ping.notified() => self.outlet.send(Message::Ping(bytes::Bytes::new())).await,
            };
            if written.is_err() {
                return;
            }
        }
    }

    /// What waits already goes out in the same write. All of it keeps its room in the queue until it is written.
    async fn write(&mut self, first: Queued) -> Result<(), Error> {
        let mut bytes = 0;
        let mut written = Vec::new();
        let mut next = Some(first);
        while let Some(queued) = next {
            bytes += queued.message.len();
            match Utf8Bytes::try_from(queued.message.clone()) {
                Ok(text) => self.outlet.feed(Message::Text(text)).await?,
                Err(_) => self.refuse(&queued),
            }
            written.push(queued);
            next = if bytes < WRITE_BYTES { self.outgoing.waiting() } else { None };
        }
        self.outlet.flush().await
    }

    /// Text that is none would end the conversation of everybody else.
    fn refuse(&self, queued: &Queued) {
        if let Some(call) = queued.call {
            self.inbox.fail_call(call, Failure::Damaged(Damage::NotJson));
        }
    }
}
