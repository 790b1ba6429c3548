//! Calls in flight, and the questions charged to them.

use mcparley_wire::Cause;
use mcparley_wire::peer::{BoxedFuture, PingHandler};
use mcparley_wire::transport::memory::link_handlers;

use super::*;
use crate::elicit::{Elicitation, ElicitationReply};
use crate::principal::Principal;

struct Silent;

impl Elicitor for Silent {
    fn ask<'q>(&'q self, _question: Elicitation<'q>) -> BoxedFuture<'q, ElicitationReply> {
        Box::pin(std::future::pending())
    }
}

fn context(principal: &str) -> Arc<CallClient> {
    let principal = Arc::new(Principal::new(PrincipalId::new(principal)));
    Arc::new(CallClient { principal, elicitor: Arc::new(Silent), sampler: None, roots: None, line: None })
}

const SHARED: RouteClues = RouteClues { cause: Cause::Connection, related_task: None, is_question: false };

/// The route of a message on the shared channel in a word, and how many calls it could belong to.
fn route(calls: &InFlightCalls) -> (&'static str, usize) {
    match calls.route_message(&SHARED) {
        MessageRoute::Host => ("host", 0),
        MessageRoute::Call(_) => ("call", 1),
        MessageRoute::OneOf(calls) => ("one of", calls.len()),
        MessageRoute::Ambiguous => ("unclear", 0),
    }
}

// G3 F106
#[test]
fn question_belongs_to_the_only_call_or_to_one_of_one_principals_calls() {
    let calls = InFlightCalls::default();
    assert_eq!(route(&calls), ("host", 0), "no call");
    let first = calls.register_call(Some(&context("1")), "t", None);
    assert_eq!(route(&calls), ("call", 1));
    assert!(
        matches!(calls.route_message(&SHARED), MessageRoute::Call(call) if Arc::ptr_eq(&call, first.call()))
    );
    let second = calls.register_call(Some(&context("1")), "t", None);
    assert_eq!(route(&calls), ("one of", 2), "two calls of one principal");
    let third = calls.register_call(Some(&context("2")), "t", None);
    assert_eq!(route(&calls), ("unclear", 0), "two principals");
    drop((first, second));
    assert_eq!(route(&calls), ("call", 1), "only the other is left");
    let own = calls.register_call(None, "t", None);
    assert_eq!(route(&calls), ("unclear", 0), "a principal and the host itself");
    drop(third);
    assert_eq!(route(&calls), ("call", 1), "the host's own call");
    drop(own);
    assert_eq!(route(&calls), ("host", 0), "none any more");
}

// G3 X5
#[tokio::test]
async fn call_is_found_by_its_newest_request_and_by_its_task() {
    let (calls, link) =
        (InFlightCalls::default(), link_handlers(Arc::new(PingHandler), Arc::new(PingHandler)));
    let (first, second) = (
        calls.register_call(Some(&context("1")), "t", None),
        calls.register_call(Some(&context("2")), "t", None),
    );
    let ids = [(); 3].map(|()| link.client.prepare_request().id());
    first.note_request(ids[0]);
    second.note_request(ids[1]);
    first.note_request(ids[2]);
    second.note_task("t");
    let found = |cause, task: Option<&str>| match calls.route_message(&RouteClues {
        cause,
        related_task: task.map(str::to_owned),
        is_question: false,
    }) {
        MessageRoute::Call(call) if Arc::ptr_eq(&call, first.call()) => Some("first"),
        MessageRoute::Call(call) if Arc::ptr_eq(&call, second.call()) => Some("second"),
        MessageRoute::Call(_) | MessageRoute::OneOf(_) | MessageRoute::Host | MessageRoute::Ambiguous => None,
    };
    assert_eq!(found(Cause::Ours(ids[2]), None), Some("first"));
    assert_eq!(found(Cause::Ours(ids[1]), None), Some("second"));
    assert_eq!(found(Cause::Ours(ids[0]), None), None, "that request has its answer");
    assert_eq!(found(Cause::Connection, Some("t")), Some("second"));
}

// B112
#[test]
fn eleventh_question_of_a_call_is_over_the_limit() {
    let calls = InFlightCalls::default();
    let call = calls.register_call(None, "t", None);
    for number in 1..=QUESTIONS_PER_CALL {
        assert_eq!(call.call().count_question(), Ok(()), "{number}");
    }
    let excess = UnansweredRequest::TooManyQuestions { limit: QUESTIONS_PER_CALL };
    assert_eq!(call.call().count_question(), Err(excess));
}

// G3 B112
#[test]
fn questions_of_an_unknown_call_are_charged_evenly_to_calls_that_are_still_in_flight() {
    let in_flight = InFlightCalls::default();
    let (first, second) =
        (in_flight.register_call(None, "t", None), in_flight.register_call(None, "t", None));
    let MessageRoute::OneOf(calls) = in_flight.route_message(&SHARED) else {
        panic!("two calls are in flight")
    };
    for number in 1..QUESTIONS_PER_CALL * 2 {
        assert!(in_flight.charge_least_asked(&calls).unwrap().is_some(), "{number}");
    }
    drop(first);
    let left = in_flight.charge_least_asked(&calls).unwrap().unwrap();
    assert!(Arc::ptr_eq(&left, second.call()), "the other one has ended");
    assert!(in_flight.charge_least_asked(&calls).is_err(), "both have had all their questions");
    drop(second);
    assert!(in_flight.charge_least_asked(&calls).unwrap().is_none(), "both have ended");
}

// G3 X5: a log message is never given to a call by what its tool did before.
#[test]
fn question_among_calls_of_several_principals_belongs_to_the_only_one_that_may_ask() {
    let calls = InFlightCalls::default();
    let question = RouteClues { is_question: true, ..SHARED };
    calls.register_call(Some(&context("1")), "echo", None).note_finish();
    let (quiet, asking) = (
        calls.register_call(Some(&context("1")), "echo", None),
        calls.register_call(Some(&context("2")), "ask", None),
    );
    let is_asking = |route| matches!(route, MessageRoute::Call(call) if Arc::ptr_eq(&call, asking.call()));
    assert!(is_asking(calls.route_message(&question)));
    assert_eq!(route(&calls), ("unclear", 0), "a log message");
    let open = asking.call().begin_asking(&calls);
    assert!(is_asking(calls.route_message(&question)), "a second question of the only one that may ask");
    drop(open);
    let _third = calls.register_call(Some(&context("3")), "new", None);
    let unclear = calls.route_message(&question);
    assert!(matches!(unclear, MessageRoute::Ambiguous), "two that may ask");
    calls.learn_question(&unclear);
    drop(quiet);
    assert!(calls.lane.questions_of("new").may_ask() && !calls.lane.questions_of("echo").may_ask());
}

// F95 H20: the server may have sent messages of a canceled call before it learned of the cancellation.
#[tokio::test(start_paused = true)]
async fn message_after_a_cancellation_is_not_given_to_the_call_of_another_principal() {
    let (calls, link) =
        (InFlightCalls::default(), link_handlers(Arc::new(PingHandler), Arc::new(PingHandler)));
    let start = |principal: &str| {
        let call = calls.register_call(Some(&context(principal)), "t", None).on_shared_channel(true);
        call.note_request(link.client.prepare_request().id());
        call
    };
    let (canceled, answered, other) = (start("1"), start("2"), start("3"));
    answered.note_answer();
    drop(answered);
    assert_eq!(route(&calls), ("unclear", 0));
    drop(canceled);
    assert_eq!(route(&calls), ("unclear", 0), "it may be of the canceled call");
    tokio::time::advance(CANCELED_CALL_TIME).await;
    assert_eq!(route(&calls), ("call", 1));
    drop(other);
}
