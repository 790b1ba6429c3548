//! Which call a server's question belongs to (G3).
//!
//! A server that sends a request of its own, as servers of the old era do, does not say for which call. While it has one
//! call in flight, it can only be that one. With several calls of one person that person is asked, one question after
//! the other; with several persons nobody is, because the wrong one might answer.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcparley_model::limits::QUESTIONS_PER_CALL;
use tokio::sync::{Notify, Semaphore, SemaphorePermit, watch};

use super::{Elicitor, Unanswered};
use crate::call::Person;

/// The calls of one server that are in flight, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Askers(Mutex<Vec<Arc<CallInFlight>>>);

/// One call in flight, as far as questions are concerned.
#[derive(Debug)]
pub(super) struct CallInFlight {
    /// The person it is made for; the host's own elicitor is asked without one.
    person: Option<Person>,
    /// A call has one question at a time.
    pub(super) turn: Semaphore,
    /// How many of its questions are open.
    open: watch::Sender<usize>,
    /// How many questions the server has asked.
    asked: AtomicU32,
    /// Tells that the server has asked too many.
    exceeded: Notify,
}

/// The owner of a question.
#[derive(Debug)]
pub(super) enum Owner {
    /// No call is in flight: the host's own elicitor is asked.
    Host,
    /// This call.
    Call(Arc<CallInFlight>),
    /// One of these calls, which are all of one person.
    OneOf(Vec<Arc<CallInFlight>>),
    /// A call of one of several persons.
    Unclear,
}

/// A call in flight, for as long as this lives.
#[derive(Debug)]
pub(crate) struct InFlight<'d> {
    askers: &'d Askers,
    call: Arc<CallInFlight>,
}

impl Askers {
    pub(super) fn begin(&self, person: Option<&Person>) -> InFlight<'_> {
        let call = Arc::new(CallInFlight {
            person: person.cloned(),
            turn: Semaphore::new(1),
            open: watch::Sender::new(0),
            asked: AtomicU32::new(0),
            exceeded: Notify::new(),
        });
        self.calls().push(Arc::clone(&call));
        InFlight { askers: self, call }
    }

    pub(super) fn owner(&self) -> Owner {
        let calls = self.calls();
        let number = |call: &Arc<CallInFlight>| call.person.as_ref().map(|person| person.number);
        match calls.as_slice() {
            [] => Owner::Host,
            [call] => Owner::Call(Arc::clone(call)),
            [first, others @ ..] if others.iter().all(|other| number(other) == number(first)) => {
                Owner::OneOf(calls.clone())
            }
            [..] => Owner::Unclear,
        }
    }

    /// The call that a question of one of these is asked for: one that is still in flight, if possible without an open
    /// question, and with the fewest so far, so that none is charged with the questions of all.
    pub(super) fn least_asked<'c>(&self, calls: &'c [Arc<CallInFlight>]) -> Option<&'c Arc<CallInFlight>> {
        let in_flight = self.calls();
        let is_left = |call: &&Arc<CallInFlight>| in_flight.iter().any(|other| Arc::ptr_eq(other, call));
        let left = calls.iter().filter(is_left);
        left.min_by_key(|call| (call.is_asking(), call.asked.load(Ordering::Relaxed)))
    }

    fn calls(&self) -> MutexGuard<'_, Vec<Arc<CallInFlight>>> {
        // Every change is one step, so a panic leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallInFlight {
    /// The elicitor of its person, or else the host's own.
    pub(super) fn elicitor(&self, host: Option<&Arc<dyn Elicitor>>) -> Option<Arc<dyn Elicitor>> {
        self.person.as_ref().map(|person| &person.elicitor).or(host).cloned()
    }

    /// Counts a question of the server; the call ends when there are too many.
    ///
    /// # Errors
    /// When this one is too many.
    pub(super) fn count_question(&self) -> Result<(), Unanswered> {
        if self.asked.fetch_add(1, Ordering::Relaxed) < QUESTIONS_PER_CALL {
            return Ok(());
        }
        self.exceeded.notify_one();
        Err(Unanswered::TooManyQuestions { limit: QUESTIONS_PER_CALL })
    }

    /// Whether a person is being asked on its behalf.
    pub(super) fn is_asking(&self) -> bool {
        self.turn.available_permits() == 0
    }

    /// Takes its turn if it is free; where no call is free, the oldest has to do.
    pub(super) fn begin_asking(&self) -> Option<SemaphorePermit<'_>> {
        self.turn.try_acquire().ok()
    }

    /// Opens a question; the clock of the call stands still until what this gives is dropped.
    pub(super) fn open_question(self: &Arc<Self>) -> OpenQuestion {
        self.open.send_modify(|count| *count += 1);
        OpenQuestion(Arc::clone(self))
    }
}

impl Owner {
    /// Opens a question of every call that it may belong to.
    pub(super) fn open_question(&self) -> Vec<OpenQuestion> {
        match self {
            Self::Host | Self::Unclear => Vec::new(),
            Self::Call(call) => vec![call.open_question()],
            Self::OneOf(calls) => calls.iter().map(CallInFlight::open_question).collect(),
        }
    }
}

/// A question of a call that is open for as long as this lives.
pub(super) struct OpenQuestion(Arc<CallInFlight>);

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        self.0.open.send_modify(|count| *count = count.saturating_sub(1));
    }
}

impl InFlight<'_> {
    pub(super) fn call(&self) -> &Arc<CallInFlight> {
        &self.call
    }

    /// How many questions of the call are open, as it changes.
    pub(crate) fn open_questions(&self) -> watch::Receiver<usize> {
        self.call.open.subscribe()
    }

    /// Waits until the server has asked more questions than one call may have.
    pub(crate) async fn too_many_questions(&self) -> Unanswered {
        self.call.exceeded.notified().await;
        Unanswered::TooManyQuestions { limit: QUESTIONS_PER_CALL }
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.askers.calls().retain(|call| !Arc::ptr_eq(call, &self.call));
    }
}

#[cfg(test)]
mod tests;
