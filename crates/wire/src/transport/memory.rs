//! In-memory transport: two linked peers in one process.
//!
//! Messages reach the other peer through a queue and a task, never on the sender's stack, so two sides
//! that answer each other at once cannot overflow it.

use std::sync::Arc;

use bytes::Bytes;
use mcparley_model::limits::QUEUE_MESSAGES;
use tokio::sync::mpsc;

use crate::failure::Failure;
use crate::handshake::TransportConnection;
use crate::peer::{BoxedFuture, Handler, Inbox, Outbound, Peer, RequestTicket};
use crate::task::OwnedTasks;

/// Two ends of one connection. It ends for both when this is dropped, or when a handler panics.
#[derive(Debug)]
pub struct MemoryLink {
    /// The client's end.
    pub client: Peer,
    /// The server's end.
    pub server: Peer,
    tasks: OwnedTasks,
}

/// Links two handlers.
#[must_use]
pub fn link_handlers(client: Arc<dyn Handler>, server: Arc<dyn Handler>) -> MemoryLink {
    let (to_server, from_client) = mpsc::channel(QUEUE_MESSAGES);
    let (to_client, from_server) = mpsc::channel(QUEUE_MESSAGES);
    let (client, client_inbox) = Peer::new(Box::new(MemoryPipe(to_server)), client);
    let (server, server_inbox) = Peer::new(Box::new(MemoryPipe(to_client)), server);
    let tasks = OwnedTasks::default();
    tasks.spawn(forward_messages(
        from_client,
        CloseOnDrop { to: server_inbox.clone(), from: client_inbox.clone() },
    ));
    tasks.spawn(forward_messages(from_server, CloseOnDrop { to: client_inbox, from: server_inbox }));
    MemoryLink { client, server, tasks }
}

impl TransportConnection for MemoryLink {
    fn peer(&self) -> &Peer {
        &self.client
    }
}

impl Drop for MemoryLink {
    fn drop(&mut self) {
        self.tasks.abort_all();
    }
}

#[derive(Debug)]
struct MemoryPipe(mpsc::Sender<Bytes>);

impl Outbound for MemoryPipe {
    fn send(&self, message: Bytes, _ticket: Option<RequestTicket>) -> BoxedFuture<'_, Result<(), Failure>> {
        Box::pin(async move {
            self.0.send(message).await.map_err(|_| Failure::Closed { exit: None, sent: false })
        })
    }

    fn try_send(&self, message: Bytes) -> Result<(), Bytes> {
        self.0.try_send(message).map_err(mpsc::error::TrySendError::into_inner)
    }

    fn uses_tickets(&self) -> bool {
        false
    }

    fn send_or_drop(&self, message: Bytes) -> bool {
        // Dropped when the queue is full, as on every transport.
        self.0.try_send(message).is_ok()
    }
}

/// Closes the connection for both sides when one direction ends, also by an abort or a panic: the other side
/// would otherwise wait for responses that never come.
struct CloseOnDrop {
    to: Inbox,
    from: Inbox,
}

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        let failure = Failure::Closed { exit: None, sent: true };
        self.to.close_connection(&failure);
        self.from.close_connection(&failure);
    }
}

async fn forward_messages(mut from: mpsc::Receiver<Bytes>, ends: CloseOnDrop) {
    while let Some(message) = from.recv().await {
        ends.to.deliver_message(&message);
    }
}
