//! Whose question it is.

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

fn word(askers: &Askers) -> &'static str {
    match askers.whom() {
        Whom::Host => "host",
        Whom::Person(_) => "person",
        Whom::Unclear => "unclear",
    }
}

// G3
#[test]
fn a_question_goes_to_a_person_only_while_all_calls_in_flight_are_theirs() {
    let askers = Askers::default();
    assert_eq!(word(&askers), "host", "nobody calls");
    let first = askers.begin(Some(&person(1)));
    let second = askers.begin(Some(&person(1)));
    assert_eq!(word(&askers), "person", "two calls of one person");
    let third = askers.begin(Some(&person(2)));
    assert_eq!(word(&askers), "unclear", "two persons");
    drop((first, second));
    assert_eq!(word(&askers), "person", "only the other is left");
    let own = askers.begin(None);
    assert_eq!(word(&askers), "unclear", "a person and the host itself");
    drop(third);
    assert_eq!(word(&askers), "host", "the host itself");
    drop(own);
    assert_eq!(word(&askers), "host", "nobody any more");
}
