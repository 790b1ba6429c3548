//! The calls that wait for an answer.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::{oneshot, watch};

use super::call::Progress;
use crate::failure::Failure;
use crate::json::RawJson;
use crate::message::Id;

/// Calls by id. A short lock around plain data, never held across a wait.
#[derive(Debug, Default)]
pub(super) struct Pending(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    /// In the order of their ids, which are numbers of ours: nothing to hash, and new ones come at the end.
    waiting: BTreeMap<u64, Waiting>,
    closed: bool,
}

#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) answer: oneshot::Sender<Result<RawJson, Failure>>,
    /// The newest progress; older ones are overtaken, so a million of them cost nothing (F62).
    pub(super) progress: Option<watch::Sender<Option<Progress>>>,
    pub(super) stays: Stays,
}

/// Whether a request stays open.
#[derive(Debug)]
pub(super) enum Stays {
    /// It is answered like any other.
    No,
    /// It does, once the other side has taken it.
    Asked(oneshot::Sender<RawJson>),
    /// It does, until the other side ends it.
    Taken,
}

impl From<Option<oneshot::Sender<RawJson>>> for Stays {
    fn from(acknowledged: Option<oneshot::Sender<RawJson>>) -> Self {
        acknowledged.map_or(Self::No, Self::Asked)
    }
}

impl Pending {
    /// Notes a call; `false` when the conversation has ended meanwhile.
    pub(super) fn insert(&self, id: u64, waiting: Waiting) -> bool {
        let mut table = self.table();
        if table.closed {
            return false;
        }
        table.waiting.insert(id, waiting);
        true
    }

    /// Takes a call out; `false` when it had its answer already.
    pub(super) fn forget(&self, id: u64) -> bool {
        self.table().waiting.remove(&id).is_some()
    }

    /// Answers a call; `false` when nobody waits for this id.
    pub(super) fn answer(&self, id: &Id, answer: Result<RawJson, Failure>) -> bool {
        let Id::Number(id) = id else { return false };
        let waiting = self.table().waiting.remove(id);
        // A caller that went away in this moment wants no answer any more.
        waiting.map(|waiting| waiting.answer.send(answer).is_ok()).is_some()
    }

    /// Answers the only call there is: what names no call can only mean that one. `false` for none or several.
    /// A subscription that stands expects no answer.
    pub(super) fn answer_only(&self, answer: Result<RawJson, Failure>) -> bool {
        let mut table = self.table();
        let mut calls = table.waiting.iter().filter(|(_, waiting)| !matches!(waiting.stays, Stays::Taken));
        let only = match (calls.next(), calls.next()) {
            (Some((id, _)), None) => *id,
            (Some(_), Some(_)) | (None, _) => return false,
        };
        let waiting = table.waiting.remove(&only);
        drop(table);
        waiting.map(|waiting| waiting.answer.send(answer).is_ok()).is_some()
    }

    /// Tells a subscription that it was taken.
    pub(super) fn acknowledge(&self, id: u64, acknowledgement: RawJson) {
        let mut table = self.table();
        let Some(waiting) = table.waiting.get_mut(&id) else { return };
        match std::mem::replace(&mut waiting.stays, Stays::Taken) {
            // Whoever asked and is gone gives it up right now.
            Stays::Asked(sender) => drop(sender.send(acknowledgement)),
            Stays::Taken => {}
            Stays::No => waiting.stays = Stays::No,
        }
    }

    /// Ends a subscription that the other side takes back; other calls are not its to end.
    pub(super) fn end(&self, id: u64) {
        let mut table = self.table();
        if table.waiting.get(&id).is_some_and(|waiting| !matches!(waiting.stays, Stays::No)) {
            let waiting = table.waiting.remove(&id);
            drop(table);
            // As above.
            drop(waiting.map(|waiting| waiting.answer.send(Ok(RawJson::from_text("{}")))));
        }
    }

    /// Hands progress to its call.
    pub(super) fn progress(&self, id: u64, progress: Progress) {
        if let Some(Waiting { progress: Some(sender), .. }) = self.table().waiting.get(&id) {
            sender.send_replace(Some(progress));
        }
    }

    /// Fails every call, and every later one.
    pub(super) fn fail_all(&self, failure: &Failure) {
        let mut table = self.table();
        table.closed = true;
        let waiting = std::mem::take(&mut table.waiting);
        drop(table);
        for (_, waiting) in waiting {
            // As above: nobody waits, nobody misses it.
            drop(waiting.answer.send(Err(failure.clone())));
        }
    }

    pub(super) fn len(&self) -> usize {
        self.table().waiting.len()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // A panic while holding it cannot leave the table half changed: every change is one step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
