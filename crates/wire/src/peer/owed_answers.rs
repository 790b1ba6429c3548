//! Responses that the other side waits for: each is sent exactly once, even if the handler panics, unless the
//! request is canceled.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::oneshot;

use super::{BoxedFuture, Peer};
use crate::failure::{INTERNAL, RpcError};
use crate::json_pieces::JsonPieces;
use crate::message;
use crate::message::response_parts::ResponseParts;
use mcparley_json::RawJson;

/// The requests of the other side that are being answered, by their raw ids.
#[derive(Debug, Default)]
pub(super) struct OwedAnswers(Mutex<HashMap<Bytes, oneshot::Sender<()>>>);

/// A request that is being answered.
pub(super) struct OwedAnswer {
    peer: Peer,
    id: RawJson,
    all: Arc<OwedAnswers>,
    /// Resolves when the request is canceled. Of two requests with the same id only the first can be.
    canceled: Option<oneshot::Receiver<()>>,
    is_answered: bool,
}

impl OwedAnswers {
    /// Registers a request that has to be answered.
    pub(super) fn add_request(self: &Arc<Self>, peer: Peer, id: RawJson) -> OwedAnswer {
        let taken_back = match self.lock_table().entry(table_key(&id)) {
            Entry::Occupied(_) => None,
            Entry::Vacant(free) => {
                let (sender, taken_back) = oneshot::channel();
                free.insert(sender);
                Some(taken_back)
            }
        };
        OwedAnswer { peer, id, all: Arc::clone(self), canceled: taken_back, is_answered: false }
    }

    /// Cancels a request that needs no response any more.
    pub(super) fn cancel_request(&self, id: &RawJson) {
        drop(self.lock_table().remove(id.as_bytes()));
    }

    fn lock_table(&self) -> MutexGuard<'_, HashMap<Bytes, oneshot::Sender<()>>> {
        // Every change is one step, so a panic leaves no partial change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OwedAnswer {
    /// Sends the response when it is ready. A canceled request is dropped.
    pub(super) async fn send_answer(mut self, answer: BoxedFuture<'static, Result<JsonPieces, RpcError>>) {
        let outcome = tokio::select! {
            // First, because a finished answer cannot be canceled.
            biased;
            outcome = answer => Some(outcome),
            () = wait_for_cancellation(self.canceled.as_mut()) => None,
        };
        self.is_answered = true;
        if let Some(outcome) = outcome {
            let message = match outcome {
                Ok(result) => ResponseParts::from_pieces(&self.id, result),
                Err(error) => ResponseParts::from_error(&self.id, &error),
            };
            if let Err(message) = self.peer.shared.outbound.try_send_parts(message) {
                // If it cannot be sent the connection is over, and the other side knows.
                let _gone = self.peer.shared.outbound.send_parts(message).await;
            }
        }
    }
}

impl Drop for OwedAnswer {
    fn drop(&mut self) {
        if self.canceled.is_some() {
            self.all.cancel_request(&self.id);
        }
        if !self.is_answered && !self.peer.is_ended() {
            let aborted = RpcError::new(INTERNAL, "the request was aborted");
            let message = Bytes::from(message::encode_error(Some(&self.id), &aborted));
            self.peer.shared.outbound.send_or_drop(message);
        }
    }
}

async fn wait_for_cancellation(end: Option<&mut oneshot::Receiver<()>>) {
    match end {
        // No value is ever sent: the channel only closes.
        Some(end) => drop(end.await),
        None => std::future::pending().await,
    }
}

/// Copied: a slice would keep all of the message alive.
fn table_key(id: &RawJson) -> Bytes {
    Bytes::copy_from_slice(id.as_bytes())
}
