//! The calls that wait for a response.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::call::ProgressUpdate;
use super::progress::ProgressSender;
use crate::failure::Failure;
use crate::message::Id;
use mcparley_json::RawJson;

/// Pending calls by id. A short lock around plain data, never held across an await.
#[derive(Debug, Default)]
pub(super) struct PendingCalls(Mutex<CallTable>);

#[derive(Debug, Default)]
struct CallTable {
    /// Ordered by id, which our counter yields: no hashing, and new calls come at the end.
    waiting: BTreeMap<u64, WaitingCall>,
    closed: bool,
}

#[derive(Debug)]
pub(super) struct WaitingCall {
    pub(super) answer: oneshot::Sender<Result<RawJson, Failure>>,
    /// The progress; the queue is bounded, so a million reports cost nothing.
    pub(super) progress: Option<ProgressSender>,
    pub(super) subscription: CallSubscription,
}

/// Whether a request is a subscription, which stays open after its acknowledgement.
#[derive(Debug)]
pub(super) enum CallSubscription {
    /// An ordinary request, with one response.
    NotSubscription,
    /// A subscription that the other side has not acknowledged yet.
    Requested(oneshot::Sender<RawJson>),
    /// An acknowledged subscription, open until the other side ends it.
    Acknowledged,
}

impl From<Option<oneshot::Sender<RawJson>>> for CallSubscription {
    fn from(acknowledged: Option<oneshot::Sender<RawJson>>) -> Self {
        acknowledged.map_or(Self::NotSubscription, Self::Requested)
    }
}

impl PendingCalls {
    /// Adds a call; `false` when the connection has ended meanwhile.
    pub(super) fn insert_call(&self, id: u64, waiting: WaitingCall) -> bool {
        let mut table = self.lock_table();
        if table.closed {
            return false;
        }
        table.waiting.insert(id, waiting);
        true
    }

    /// Removes a call; `false` when it had its response already.
    pub(super) fn remove_call(&self, id: u64) -> bool {
        self.lock_table().waiting.remove(&id).is_some()
    }

    /// Answers a call; `false` when no call waits under this id.
    pub(super) fn answer_call(&self, id: &Id, answer: Result<RawJson, Failure>) -> bool {
        let Id::Number(id) = id else { return false };
        let waiting = self.lock_table().waiting.remove(id);
        // If the caller was dropped at this moment, the response is not needed any more.
        waiting.map(|waiting| waiting.answer.send(answer).is_ok()).is_some()
    }

    /// Answers the only call that waits: a response without an id can only be for that one. `false` for none
    /// or several.
    /// An acknowledged subscription expects no response.
    pub(super) fn answer_only_call(&self, answer: Result<RawJson, Failure>) -> bool {
        let mut table = self.lock_table();
        let mut calls = table
            .waiting
            .iter()
            .filter(|(_, waiting)| !matches!(waiting.subscription, CallSubscription::Acknowledged));
        let only = match (calls.next(), calls.next()) {
            (Some((id, _)), None) => *id,
            (Some(_), Some(_)) | (None, _) => return false,
        };
        let waiting = table.waiting.remove(&only);
        drop(table);
        waiting.map(|waiting| waiting.answer.send(answer).is_ok()).is_some()
    }

    /// Marks a subscription as acknowledged.
    pub(super) fn acknowledge_subscription(&self, id: u64, acknowledgement: RawJson) {
        let mut table = self.lock_table();
        let Some(waiting) = table.waiting.get_mut(&id) else { return };
        match std::mem::replace(&mut waiting.subscription, CallSubscription::Acknowledged) {
            // If the caller is gone, its request is canceled right now.
            CallSubscription::Requested(sender) => drop(sender.send(acknowledgement)),
            CallSubscription::Acknowledged => {}
            CallSubscription::NotSubscription => waiting.subscription = CallSubscription::NotSubscription,
        }
    }

    /// Ends a subscription that the other side cancels; other calls cannot be ended by it.
    pub(super) fn end_subscription(&self, id: u64) {
        let mut table = self.lock_table();
        if table
            .waiting
            .get(&id)
            .is_some_and(|waiting| !matches!(waiting.subscription, CallSubscription::NotSubscription))
        {
            let waiting = table.waiting.remove(&id);
            drop(table);
            // As above.
            drop(waiting.map(|waiting| waiting.answer.send(Ok(RawJson::from_text("{}")))));
        }
    }

    /// Passes progress to its call.
    pub(super) fn send_progress(&self, id: u64, progress: ProgressUpdate) {
        if let Some(WaitingCall { progress: Some(sender), .. }) = self.lock_table().waiting.get(&id) {
            sender.send_update(progress);
        }
    }

    /// Fails every pending call, and every later one.
    pub(super) fn fail_all(&self, failure: &Failure) {
        let mut table = self.lock_table();
        table.closed = true;
        let waiting = std::mem::take(&mut table.waiting);
        drop(table);
        for (_, waiting) in waiting {
            // As above: a dropped caller needs no response.
            drop(waiting.answer.send(Err(failure.clone())));
        }
    }

    pub(super) fn len(&self) -> usize {
        self.lock_table().waiting.len()
    }

    fn lock_table(&self) -> MutexGuard<'_, CallTable> {
        // A panic while holding the lock cannot leave a partial change: every change is one step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
