//! Two peers in one process, linked (T5).
//!
//! What one sends reaches the other through a queue and a task, never on the sender's stack, so two sides
//! that answer each other at once cannot exhaust it.

use std::sync::Arc;

use bytes::Bytes;
use mcparley_model::limits::QUEUE_MESSAGES;
use tokio::sync::mpsc;

use crate::failure::Failure;
use crate::handshake::Carrier;
use crate::peer::{Boxed, Handler, Inbox, Outbound, Peer, Ticket};
use crate::task::Tasks;

/// Two ends of one conversation. It ends for both when this is dropped, or when a handler panics.
#[derive(Debug)]
pub struct Link {
    /// The end that asks.
    pub client: Peer,
    /// The end that answers.
    pub server: Peer,
    tasks: Tasks,
}

/// Links two handlers.
#[must_use]
pub fn link(client: Arc<dyn Handler>, server: Arc<dyn Handler>) -> Link {
    let (to_server, from_client) = mpsc::channel(QUEUE_MESSAGES);
    let (to_client, from_server) = mpsc::channel(QUEUE_MESSAGES);
    let (client, client_inbox) = Peer::new(Box::new(Pipe(to_server)), client);
    let (server, server_inbox) = Peer::new(Box::new(Pipe(to_client)), server);
    let tasks = Tasks::default();
    tasks.spawn(carry(from_client, Close { to: server_inbox.clone(), from: client_inbox.clone() }));
    tasks.spawn(carry(from_server, Close { to: client_inbox, from: server_inbox }));
    Link { client, server, tasks }
}

impl Carrier for Link {
    fn peer(&self) -> &Peer {
        &self.client
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.tasks.abort();
    }
}

#[derive(Debug)]
struct Pipe(mpsc::Sender<Bytes>);

impl Outbound for Pipe {
    fn send(&self, message: Bytes, _ticket: Option<Ticket>) -> Boxed<'_, Result<(), Failure>> {
        Box::pin(async move {
            self.0.send(message).await.map_err(|_| Failure::Closed { exit: None, sent: false })
        })
    }

    fn push(&self, message: Bytes) -> Result<(), Bytes> {
        self.0.try_send(message).map_err(mpsc::error::TrySendError::into_inner)
    }

    fn takes_tickets(&self) -> bool {
        false
    }

    fn offer(&self, message: Bytes) {
        // Dropped when the queue is full, as on every transport.
        let _full = self.0.try_send(message);
    }
}

/// Ends the conversation for both sides when one direction ends, by being aborted or by a panic included: a side
/// that is still there would wait for answers that nobody can give.
struct Close {
    to: Inbox,
    from: Inbox,
}

impl Drop for Close {
    fn drop(&mut self) {
        let failure = Failure::Closed { exit: None, sent: true };
        self.to.close(&failure);
        self.from.close(&failure);
    }
}

async fn carry(mut from: mpsc::Receiver<Bytes>, ends: Close) {
    while let Some(message) = from.recv().await {
        ends.to.deliver(&message);
    }
}
