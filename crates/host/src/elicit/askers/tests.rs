//! Which call a question belongs to.

use mcparley_wire::peer::Boxed;

use super::*;
use crate::call::NobodyToAsk;
use crate::elicit::{Elicitation, Reply};

struct Silent;

impl Elicitor for Silent {
    fn ask<'q>(&'q self, _question: Elicitation<'q>) -> Boxed<'q, Reply> {
        Box::pin(std::future::pending())
    }
}

fn person(number: u64) -> Person {
    Person { number, approver: Arc::new(NobodyToAsk), elicitor: Arc::new(Silent) }
}

/// The owner of a question in a word, and how many calls it could belong to.
fn owner(askers: &Askers) -> (&'static str, usize) {
    match askers.owner() {
        Owner::Host => ("host", 0),
        Owner::Call(_) => ("call", 1),
        Owner::OneOf(calls) => ("one of", calls.len()),
        Owner::Unclear => ("unclear", 0),
    }
}

// G3 F106
#[test]
fn a_question_belongs_to_the_only_call_in_flight_or_to_one_of_one_persons_calls() {
    let askers = Askers::default();
    assert_eq!(owner(&askers), ("host", 0), "no call");
    let first = askers.begin(Some(&person(1)));
    assert_eq!(owner(&askers), ("call", 1));
    assert!(matches!(askers.owner(), Owner::Call(call) if Arc::ptr_eq(&call, first.call())));
    let second = askers.begin(Some(&person(1)));
    assert_eq!(owner(&askers), ("one of", 2), "two calls of one person");
    let third = askers.begin(Some(&person(2)));
    assert_eq!(owner(&askers), ("unclear", 0), "two persons");
    drop((first, second));
    assert_eq!(owner(&askers), ("call", 1), "only the other is left");
    let own = askers.begin(None);
    assert_eq!(owner(&askers), ("unclear", 0), "a person and the host itself");
    drop(third);
    assert_eq!(owner(&askers), ("call", 1), "the host's own call");
    drop(own);
    assert_eq!(owner(&askers), ("host", 0), "none any more");
}

// B112
#[test]
fn the_eleventh_question_of_a_call_is_one_too_many() {
    let askers = Askers::default();
    let call = askers.begin(None);
    for number in 1..=QUESTIONS_PER_CALL {
        assert_eq!(call.call().count_question(), Ok(()), "{number}");
    }
    let excess = Unanswered::TooManyQuestions { limit: QUESTIONS_PER_CALL };
    assert_eq!(call.call().count_question(), Err(excess));
}

// G3 B112
#[test]
fn questions_of_an_unknown_call_are_charged_evenly_to_calls_that_are_still_in_flight() {
    let askers = Askers::default();
    let (first, second) = (askers.begin(None), askers.begin(None));
    let Owner::OneOf(calls) = askers.owner() else { panic!("two calls are in flight") };
    for number in 1..=2 * QUESTIONS_PER_CALL {
        let call = askers.least_asked(&calls).unwrap();
        assert_eq!(call.count_question(), Ok(()), "{number}");
    }
    drop(first);
    let left = askers.least_asked(&calls).unwrap();
    assert!(Arc::ptr_eq(left, second.call()), "the other one has ended");
    drop(second);
    assert!(askers.least_asked(&calls).is_none(), "both have ended");
}
