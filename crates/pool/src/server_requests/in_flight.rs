//! The calls in flight on one server, to which its questions belong.
//!
//! The `route` module decides which call a question belongs to.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use mcparley_model::limits::QUESTIONS_PER_CALL;
use mcparley_wire::RequestId;
use tokio::sync::{Notify, Semaphore, SemaphorePermit, watch};

use super::route::{MessageRoute, RouteCandidate, RouteClues, resolve_call};
use crate::call_client::CallClient;
use crate::elicit::{Elicitor, UnansweredRequest};
use crate::principal::PrincipalId;
use crate::roots::Root;
use crate::sample::Sampler;

/// The calls in flight on one server, oldest first.
#[derive(Debug, Default)]
pub(super) struct InFlightCalls(Mutex<Vec<Arc<InFlightCall>>>);

/// One call in flight, with the state of its questions.
#[derive(Debug)]
pub(super) struct InFlightCall {
    /// The client of the call; `None` for the host's own calls.
    client: Option<Arc<CallClient>>,
    /// The id of the last request sent for the call.
    request: Mutex<Option<RequestId>>,
    /// The task that the call has become.
    task: OnceLock<String>,
    /// Semaphore: one question of the call at a time.
    pub(super) turn: Semaphore,
    /// The number of open questions.
    open: watch::Sender<usize>,
    /// The number of questions asked so far.
    asked: AtomicU32,
    /// Notified when the server has asked too many.
    exceeded: Notify,
}

/// Guard that keeps a call registered as in flight until it is dropped.
#[derive(Debug)]
pub struct InFlightGuard<'d> {
    calls: &'d InFlightCalls,
    call: Arc<InFlightCall>,
}

impl InFlightCalls {
    /// Registers a call.
    pub(super) fn register_call(&self, client: Option<&Arc<CallClient>>) -> InFlightGuard<'_> {
        let call = Arc::new(InFlightCall {
            client: client.cloned(),
            request: Mutex::default(),
            task: OnceLock::new(),
            turn: Semaphore::new(1),
            open: watch::Sender::new(0),
            asked: AtomicU32::new(0),
            exceeded: Notify::new(),
        });
        self.lock_calls().push(Arc::clone(&call));
        InFlightGuard { calls: self, call }
    }

    /// Finds the call that a message belongs to.
    pub(super) fn route_message(&self, clues: &RouteClues) -> MessageRoute<Arc<InFlightCall>> {
        resolve_call(clues, &self.lock_calls())
    }

    /// Charges a question to one of these calls that is still in flight: preferably one without an open
    /// question, and the one with the fewest so far, so that no single call pays for the questions of all.
    ///
    /// # Errors
    /// If the call has used up its number of questions.
    pub(super) fn charge_least_asked(
        &self,
        calls: &[Arc<InFlightCall>],
    ) -> Result<Option<Arc<InFlightCall>>, UnansweredRequest> {
        let in_flight = self.lock_calls();
        let left = calls.iter().filter(|call| in_flight.iter().any(|other| Arc::ptr_eq(other, call)));
        let least = left.min_by_key(|call| (call.is_asking(), call.asked.load(Ordering::Relaxed)));
        least.map(|call| call.count_question().map(|()| Arc::clone(call))).transpose()
    }

    fn lock_calls(&self) -> MutexGuard<'_, Vec<Arc<InFlightCall>>> {
        // Every change is a single step, so a panic leaves the list consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InFlightCall {
    /// The elicitor of the call's client, or else the host's own.
    pub(super) fn elicitor(&self, host: Option<&Arc<dyn Elicitor>>) -> Option<Arc<dyn Elicitor>> {
        self.client.as_ref().map(|client| &client.elicitor).or(host).cloned()
    }

    /// The sampler of the call's client.
    pub(super) fn sampler(&self) -> Option<&Arc<dyn Sampler>> {
        self.client.as_ref()?.sampler.as_ref()
    }

    /// The roots of the call's client.
    pub(super) fn roots(&self) -> Option<&[Root]> {
        self.client.as_ref()?.roots.as_deref()
    }

    /// Counts a question of the server; too many end the call.
    ///
    /// # Errors
    /// If this question is over the limit.
    pub(super) fn count_question(&self) -> Result<(), UnansweredRequest> {
        if self.asked.fetch_add(1, Ordering::Relaxed) < QUESTIONS_PER_CALL {
            return Ok(());
        }
        self.exceeded.notify_one();
        Err(UnansweredRequest::TooManyQuestions { limit: QUESTIONS_PER_CALL })
    }

    /// Whether the user is being asked on behalf of this call.
    fn is_asking(&self) -> bool {
        self.turn.available_permits() == 0
    }

    /// Takes the call's permit if it is free; if no call is free, the question is asked without one.
    pub(super) fn try_take_turn(&self) -> Option<SemaphorePermit<'_>> {
        self.turn.try_acquire().ok()
    }

    /// Opens a question; the timeout of the call is paused until the result is dropped.
    pub(super) fn open_question(self: &Arc<Self>) -> OpenQuestion {
        self.open.send_modify(|count| *count += 1);
        OpenQuestion(Arc::clone(self))
    }

    fn lock_request(&self) -> MutexGuard<'_, Option<RequestId>> {
        self.request.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RouteCandidate for Arc<InFlightCall> {
    fn principal(&self) -> Option<&PrincipalId> {
        self.client.as_ref().map(|client| &client.principal.id)
    }

    fn awaits_request(&self, request: RequestId) -> bool {
        *self.lock_request() == Some(request)
    }

    fn follows_task(&self, task: &str) -> bool {
        self.task.get().is_some_and(|known| known == task)
    }
}

impl MessageRoute<Arc<InFlightCall>> {
    /// Opens a question on every call that it may belong to.
    pub(super) fn open_question(&self) -> Vec<OpenQuestion> {
        match self {
            Self::Host | Self::Ambiguous => Vec::new(),
            Self::Call(call) => vec![call.open_question()],
            Self::OneOf(calls) => calls.iter().map(InFlightCall::open_question).collect(),
        }
    }

    /// The oldest call that the message may belong to. All such calls have one principal.
    pub(super) fn first_call(&self) -> Option<&Arc<InFlightCall>> {
        match self {
            Self::Host | Self::Ambiguous => None,
            Self::Call(call) => Some(call),
            Self::OneOf(calls) => calls.first(),
        }
    }
}

/// Guard of an open question of a call.
pub(super) struct OpenQuestion(Arc<InFlightCall>);

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        self.0.open.send_modify(|count| *count = count.saturating_sub(1));
    }
}

impl InFlightGuard<'_> {
    pub(super) fn call(&self) -> &Arc<InFlightCall> {
        &self.call
    }

    /// Records the id of a request of the call before it is sent: messages on its stream belong to the call.
    pub fn note_request(&self, request: RequestId) {
        *self.call.lock_request() = Some(request);
    }

    /// Records the task that the call has become: messages that name it belong to the call.
    pub fn note_task(&self, task: &str) {
        self.call.task.get_or_init(|| task.to_owned());
    }

    /// Follows the number of open questions of the call.
    pub fn open_questions(&self) -> watch::Receiver<usize> {
        self.call.open.subscribe()
    }

    /// Waits until the server has asked more questions than one call may have; returns the error.
    pub async fn too_many_questions(&self) -> UnansweredRequest {
        self.call.exceeded.notified().await;
        UnansweredRequest::TooManyQuestions { limit: QUESTIONS_PER_CALL }
    }
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.calls.lock_calls().retain(|call| !Arc::ptr_eq(call, &self.call));
    }
}

#[cfg(test)]
mod tests;
