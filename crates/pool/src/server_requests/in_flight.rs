//! The calls in flight on one server, to which its questions belong.
//!
//! The `route` module decides which call a question belongs to.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use mcparley_model::limits::{CANCELED_CALL_TIME, CANCELED_CALLS, QUESTIONS_PER_CALL};
use mcparley_wire::RequestId;
use tokio::sync::{Notify, Semaphore, SemaphorePermit, watch};
use tokio::time::Instant;

use super::question_lane::{LaneCall, LanePlace, QuestionLane, ToolQuestions};
use super::route::{MessageRoute, RouteCandidate, RouteClues, resolve_call};
use crate::call_client::CallClient;
use crate::client_line::ClientLine;
use crate::elicit::{Elicitor, UnansweredRequest};
use crate::principal::PrincipalId;
use crate::roots::Root;
use crate::sample::Sampler;

/// The calls in flight on one server.
#[derive(Debug, Default)]
pub(super) struct InFlightCalls {
    /// The calls, oldest first.
    calls: Mutex<Vec<Arc<InFlightCall>>>,
    pub(super) lane: QuestionLane,
}

/// One call in flight, with the state of its questions.
#[derive(Debug)]
pub(super) struct InFlightCall {
    /// The client of the call; `None` for the host's own calls.
    client: Option<Arc<CallClient>>,
    /// Whether the tool asks questions.
    questions: Arc<ToolQuestions>,
    /// The call in the question lane.
    lane: Option<Arc<LaneCall>>,
    /// The number of requests that the client is asked on behalf of this call.
    asking: AtomicU32,
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
    /// The time until which messages of the call may still come, after it was canceled.
    canceled: OnceLock<Instant>,
    /// Whether the connection of the call has ended, so that it asks no more.
    is_closed: AtomicBool,
}

/// Guard that keeps a call registered as in flight until it is dropped.
#[derive(Debug)]
pub struct InFlightGuard<'d> {
    calls: &'d InFlightCalls,
    call: Arc<InFlightCall>,
    place: Option<LanePlace<'d>>,
    /// Whether messages of the call may come after it was canceled, on a channel that does not say so.
    is_shared: bool,
    is_answered: AtomicBool,
}

impl InFlightCalls {
    /// Registers a call of a tool.
    pub(super) fn register_call<'d>(
        &'d self,
        client: Option<&Arc<CallClient>>,
        tool: &str,
        place: Option<LanePlace<'d>>,
    ) -> InFlightGuard<'d> {
        let call = Arc::new(InFlightCall {
            client: client.cloned(),
            questions: self.lane.questions_of(tool),
            lane: place.as_ref().map(|place| Arc::clone(place.call())),
            asking: AtomicU32::new(0),
            request: Mutex::default(),
            task: OnceLock::new(),
            turn: Semaphore::new(1),
            open: watch::Sender::new(0),
            asked: AtomicU32::new(0),
            exceeded: Notify::new(),
            canceled: OnceLock::new(),
            is_closed: AtomicBool::new(false),
        });
        let mut calls = self.lock_calls();
        remove_late(&mut calls);
        calls.push(Arc::clone(&call));
        drop(calls);
        InFlightGuard { calls: self, call, place, is_shared: false, is_answered: AtomicBool::new(false) }
    }

    /// Finds the call that a message belongs to.
    pub(super) fn route_message(&self, clues: &RouteClues) -> MessageRoute<Arc<InFlightCall>> {
        let mut calls = self.lock_calls();
        remove_late(&mut calls);
        resolve_call(clues, &calls)
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
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns from a question on a shared channel which tools ask.
    pub(super) fn learn_question(&self, route: &MessageRoute<Arc<InFlightCall>>) {
        match route {
            MessageRoute::Host => {}
            MessageRoute::Call(call) => self.lane.learn_question(&call.questions),
            MessageRoute::OneOf(calls) => {
                calls.iter().for_each(|call| self.lane.learn_question(&call.questions));
            }
            MessageRoute::Ambiguous => {
                // A quiet tool has asked only if there is no other.
                let calls = self.lock_calls();
                let has_other = calls.iter().any(|call| call.questions.may_ask());
                let may_be = calls.iter().filter(|call| !has_other || call.questions.may_ask());
                may_be.for_each(|call| self.lane.learn_question(&call.questions));
            }
        }
    }
}

impl InFlightCall {
    /// The elicitor of the call's client, or else the host's own.
    pub(super) fn elicitor(&self, host: Option<&Arc<dyn Elicitor>>) -> Option<Arc<dyn Elicitor>> {
        self.client.as_ref().map(|client| &client.elicitor).or(host).cloned()
    }

    /// The line to the call's client, for calls of a gateway.
    pub(super) fn line(&self) -> Option<&Arc<dyn ClientLine>> {
        self.client.as_ref()?.line.as_ref()
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
        self.turn.available_permits() == 0 || self.asking.load(Ordering::Relaxed) > 0
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

    /// Notes that the client is asked on behalf of this call until the result is dropped.
    pub(super) fn begin_asking(self: &Arc<Self>, calls: &InFlightCalls) -> AskingCall {
        self.asking.fetch_add(1, Ordering::Relaxed);
        if let Some(lane) = &self.lane {
            calls.lane.note_asked(lane);
        }
        AskingCall(Arc::clone(self))
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

    fn may_ask(&self) -> bool {
        let is_over = self.canceled.get().is_some_and(|until| {
            let early = CANCELED_CALL_TIME.saturating_sub(self.questions.canceled_time());
            *until <= Instant::now() + early
        });
        let is_closed = self.is_closed.load(Ordering::Relaxed);
        self.questions.may_ask() && !is_over && !is_closed
    }

    fn has_asked_exactly(&self) -> bool {
        self.is_asking() && self.line().is_some_and(|line| line.relays_input())
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

/// Guard of a call on whose behalf the client is asked.
pub(super) struct AskingCall(Arc<InFlightCall>);

impl Drop for AskingCall {
    fn drop(&mut self) {
        self.0.asking.fetch_sub(1, Ordering::Relaxed);
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
        self.is_answered.store(false, Ordering::Relaxed);
    }

    /// Records the task that the call has become: messages that name it belong to the call.
    pub fn note_task(&self, task: &str) {
        self.call.task.get_or_init(|| task.to_owned());
    }

    /// Keeps the call among the candidates for a while after it was canceled: on a channel that does not say
    /// which call a message belongs to, the server may send some before it learns of the cancellation.
    #[must_use]
    pub fn on_shared_channel(mut self, is_shared: bool) -> Self {
        self.is_shared = is_shared;
        self
    }

    /// Notes that the server has answered the last request of the call.
    pub fn note_answer(&self) {
        self.is_answered.store(true, Ordering::Relaxed);
    }

    /// Notes that the connection has ended: log messages of the call may still be on their way, but no
    /// question.
    pub fn note_closed(&self) {
        self.call.is_closed.store(true, Ordering::Relaxed);
    }

    /// Learns that the call has finished; without a question, its tool is quiet.
    pub fn note_finish(&self) {
        if self.call.asked.load(Ordering::Relaxed) == 0 {
            self.calls.lane.learn_quiet(&self.call.questions);
        }
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
        let is_sent = self.call.lock_request().is_some();
        if self.is_shared && is_sent && !self.is_answered.load(Ordering::Relaxed) {
            self.call.canceled.get_or_init(|| Instant::now() + CANCELED_CALL_TIME);
            if let Some(place) = &mut self.place
                && !self.call.is_closed.load(Ordering::Relaxed)
            {
                place.keep_until(Instant::now() + self.call.questions.canceled_time());
            }
            return;
        }
        self.calls.lock_calls().retain(|call| !Arc::ptr_eq(call, &self.call));
    }
}

/// Removes canceled calls whose time is over, and the oldest ones beyond their limit.
fn remove_late(calls: &mut Vec<Arc<InFlightCall>>) {
    let mut left = calls.iter().filter(|call| call.canceled.get().is_some()).count();
    if left == 0 {
        return;
    }
    let now = Instant::now();
    calls.retain(|call| {
        let is_late = call.canceled.get().is_some_and(|until| *until <= now || left > CANCELED_CALLS);
        left -= usize::from(is_late);
        !is_late
    });
}

#[cfg(test)]
mod tests;
