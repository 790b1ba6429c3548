//! Answers that the other side waits for: each is given once, also by a handler that panics, unless the question is
//! taken back.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::oneshot;

use super::{Boxed, Peer};
use crate::failure::{INTERNAL, RpcError};
use crate::json::RawJson;
use crate::message;

/// The requests of the other side that are being answered, by their ids as they were written.
#[derive(Debug, Default)]
pub(super) struct Owed(Mutex<HashMap<Bytes, oneshot::Sender<()>>>);

/// One answer that is owed.
pub(super) struct Debt {
    peer: Peer,
    id: RawJson,
    all: Arc<Owed>,
    /// Ends when the question is taken back. Of two questions with one id only the first can be.
    taken_back: Option<oneshot::Receiver<()>>,
    is_paid: bool,
}

impl Owed {
    /// Notes that an answer is owed.
    pub(super) fn note(self: &Arc<Self>, peer: Peer, id: RawJson) -> Debt {
        let taken_back = match self.table().entry(key(&id)) {
            Entry::Occupied(_) => None,
            Entry::Vacant(free) => {
                let (sender, taken_back) = oneshot::channel();
                free.insert(sender);
                Some(taken_back)
            }
        };
        Debt { peer, id, all: Arc::clone(self), taken_back, is_paid: false }
    }

    /// The other side does not want the answer any more.
    pub(super) fn release(&self, id: &RawJson) {
        drop(self.table().remove(id.as_bytes()));
    }

    fn table(&self) -> MutexGuard<'_, HashMap<Bytes, oneshot::Sender<()>>> {
        // Every change is one step, so a panic leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Debt {
    /// Gives the answer when there is one. Work on a question that is taken back ends.
    pub(super) async fn pay(mut self, answer: Boxed<'static, Result<RawJson, RpcError>>) {
        let outcome = tokio::select! {
            // First, because what is answered cannot be taken back.
            biased;
            outcome = answer => Some(outcome),
            () = taken_back(self.taken_back.as_mut()) => None,
        };
        self.is_paid = true;
        if let Some(outcome) = outcome {
            let message = Bytes::from(message::response(&self.id, &outcome));
            // If it cannot be sent the conversation is over, and the other side knows.
            let _gone = self.peer.shared.outbound.send(message, None).await;
        }
    }
}

impl Drop for Debt {
    fn drop(&mut self) {
        if self.taken_back.is_some() {
            self.all.release(&self.id);
        }
        if !self.is_paid && !self.peer.is_over() {
            let broke_off = Err(RpcError::new(INTERNAL, "answering broke off"));
            self.peer.shared.outbound.offer(Bytes::from(message::response(&self.id, &broke_off)));
        }
    }
}

async fn taken_back(end: Option<&mut oneshot::Receiver<()>>) {
    match end {
        // Nothing is ever sent: it only ends.
        Some(end) => drop(end.await),
        None => std::future::pending().await,
    }
}

/// Copied: a slice would keep all of the message alive.
fn key(id: &RawJson) -> Bytes {
    Bytes::copy_from_slice(id.as_bytes())
}
