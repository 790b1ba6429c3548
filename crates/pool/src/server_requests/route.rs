//! Routes a server's message to the call in flight that it belongs to.
//!
//! Pure on purpose: a wrong route would show one client's question to another, so every rule is a row of a
//! table test. The first matching rule decides.
//!
//! | rule | for |
//! |---|---|
//! | the message came on the stream of a request of the call | old HTTP |
//! | the message names the task that the call has become | tasks of 2025-11-25 |
//! | the message came on the stream of a request of no call: the host | old HTTP |
//! | one call is in flight: that call | shared channels |
//! | all calls in flight are of one principal: one of them | shared channels |
//! | a question, and only calls of one principal may ask now: one of them | shared channels |
//! | no call is in flight: the host | shared channels |
//! | calls of several principals are in flight: no user is asked | shared channels |
//!
//! Two kinds of messages need no table. A question in the answer to a request belongs to that request's call
//! ([`super::ServerRequests::answer_input_request`]), and progress names the request in its token, which
//! `mcparley_wire` resolves.

use mcparley_wire::{Cause, RawJson, RequestId};

use crate::principal::PrincipalId;

/// The `_meta` key by which a message names its task (2025-11-25).
const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// The destination of a server's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MessageRoute<C> {
    /// A single call.
    Call(C),
    /// One of several calls, which all have one principal.
    OneOf(Vec<C>),
    /// The host itself: the message belongs to no call.
    Host,
    /// Unknown: calls of several principals are in flight.
    Ambiguous,
}

/// The facts about a message that identify its call.
#[derive(Clone, Debug)]
pub(super) struct RouteClues {
    pub(super) cause: Cause,
    /// The task that the message names.
    pub(super) related_task: Option<String>,
    /// Whether the message is a question: a tool that has finished without one before does not ask.
    pub(super) is_question: bool,
}

/// The facts about a call in flight that messages are compared with.
pub(super) trait RouteCandidate: Clone {
    /// The principal of the call; `None` for the host's own calls.
    fn principal(&self) -> Option<&PrincipalId>;

    /// Whether the call waits for the answer to this request.
    fn awaits_request(&self, request: RequestId) -> bool;

    /// Whether the call has become this task.
    fn follows_task(&self, task: &str) -> bool;

    /// Whether the call may ask: its tool is not known as quiet.
    fn may_ask(&self) -> bool;

    /// Whether a question of the call is open, and its questions are told apart: calls of one principal that do
    /// so run one after the other until they have asked, so the next question is not of this one.
    fn has_asked_exactly(&self) -> bool;
}

impl RouteClues {
    pub(super) fn from_message(cause: Cause, params: Option<&RawJson>) -> Self {
        let task = params.and_then(|params| params.member("_meta")?.member(RELATED_TASK)?.member("taskId"));
        Self { cause, related_task: task.and_then(|task| task.decode().ok()), is_question: false }
    }

    pub(super) fn from_question(cause: Cause, params: Option<&RawJson>) -> Self {
        Self { is_question: true, ..Self::from_message(cause, params) }
    }
}

/// Finds the call that a message belongs to.
pub(super) fn resolve_call<C: RouteCandidate>(clues: &RouteClues, calls: &[C]) -> MessageRoute<C> {
    let of_request = match clues.cause {
        Cause::Ours(request) => calls.iter().find(|call| call.awaits_request(request)),
        Cause::Connection => None,
    };
    let of_task =
        || calls.iter().find(|call| clues.related_task.as_deref().is_some_and(|it| call.follows_task(it)));
    if let Some(call) = of_request.or_else(of_task) {
        return MessageRoute::Call(call.clone());
    }
    match (clues.cause, calls) {
        (Cause::Ours(_), _) | (Cause::Connection, []) => MessageRoute::Host,
        (Cause::Connection, [call]) => MessageRoute::Call(call.clone()),
        (Cause::Connection, [..]) if clues.is_question => {
            let asking: Vec<C> = calls.iter().filter(|call| call.may_ask()).cloned().collect();
            match asking.as_slice() {
                [] => resolve_by_principal(calls),
                [call] => MessageRoute::Call(call.clone()),
                [..] => resolve_unasked(resolve_by_principal(&asking)),
            }
        }
        (Cause::Connection, [..]) => resolve_by_principal(calls),
    }
}

/// The calls of one principal that have not asked yet, if the others are told apart. Never decides between
/// principals.
fn resolve_unasked<C: RouteCandidate>(route: MessageRoute<C>) -> MessageRoute<C> {
    let MessageRoute::OneOf(calls) = route else { return route };
    let unasked: Vec<C> = calls.iter().filter(|call| !call.has_asked_exactly()).cloned().collect();
    match unasked.as_slice() {
        [] => MessageRoute::OneOf(calls),
        [call] => MessageRoute::Call(call.clone()),
        [..] => MessageRoute::OneOf(unasked),
    }
}

/// One of several calls, if all are of one principal.
fn resolve_by_principal<C: RouteCandidate>(calls: &[C]) -> MessageRoute<C> {
    match calls {
        [first, others @ ..] if others.iter().all(|other| other.principal() == first.principal()) => {
            MessageRoute::OneOf(calls.to_vec())
        }
        [..] => MessageRoute::Ambiguous,
    }
}

#[cfg(test)]
mod tests;
