//! Every failure, first and second time, harmless or not.

use std::time::Duration;

use mcparley_model::text::Untrusted;
use mcparley_wire::{Damage, Obstacle, Phase, RpcError};

use super::*;

fn refused(obstacle: Obstacle) -> Failure {
    Failure::Refused { obstacle, reason: "x".into(), hint: None }
}

fn closed(sent: bool) -> Failure {
    Failure::Closed { exit: None, sent }
}

fn status(code: u16, retry_after: Option<u64>) -> Failure {
    Failure::Status { code, retry_after: retry_after.map(Duration::from_secs), text: Untrusted::default() }
}

const PLAIN: Nature = Nature { harmless: false, has_headers: false, person: Person::Away };
const HARMLESS: Nature = Nature { harmless: true, has_headers: false, person: Person::Away };

// K6 L7 F52 F53
#[test]
fn what_follows_each_failure() {
    use Step::{GiveUp, Reopen, Repeat, SignIn, Wait};
    let two = Duration::from_secs(2);
    let first = Spent::default();
    let again = Spent { repeats: 1 };
    // failure, then: first time; first time of a harmless tool; second time
    let table = [
        (Failure::SessionExpired, Reopen, Reopen, GiveUp),
        (refused(Obstacle::Other), Reopen, Reopen, GiveUp),
        (refused(Obstacle::SignIn), GiveUp, GiveUp, GiveUp),
        (closed(false), Reopen, Reopen, GiveUp),
        (closed(true), GiveUp, Repeat, GiveUp),
        (Failure::Unauthorized { challenge: None }, SignIn, SignIn, SignIn),
        (Failure::Forbidden { challenge: None }, GiveUp, GiveUp, GiveUp),
        (Failure::TimedOut { phase: Phase::Answering, after: Duration::ZERO }, GiveUp, GiveUp, GiveUp),
        (Failure::Damaged(Damage::NotJson), GiveUp, GiveUp, GiveUp),
        (Failure::Protocol("x".into()), GiveUp, GiveUp, GiveUp),
        (Failure::Answered(RpcError::new(1, "x")), GiveUp, GiveUp, GiveUp),
        (Failure::TooLarge { limit: 1 }, GiveUp, GiveUp, GiveUp),
        (Failure::QueueFull { limit: 1 }, GiveUp, GiveUp, GiveUp),
        (status(429, None), GiveUp, GiveUp, GiveUp),
        (status(429, Some(2)), GiveUp, Wait(two), GiveUp),
        (status(503, Some(2)), GiveUp, Wait(two), GiveUp),
        (status(503, Some(61)), GiveUp, GiveUp, GiveUp),
        (status(503, None), GiveUp, GiveUp, GiveUp),
        (status(500, Some(2)), GiveUp, GiveUp, GiveUp),
        (status(502, Some(2)), GiveUp, GiveUp, GiveUp),
        (status(504, Some(2)), GiveUp, GiveUp, GiveUp),
    ];
    for (failure, plain, harmless, second) in table {
        let steps = [
            next_step(&failure, first, PLAIN),
            next_step(&failure, first, HARMLESS),
            next_step(&failure, again, HARMLESS),
        ];
        assert_eq!(steps, [plain, harmless, second], "{failure}");
    }
}

// H26: a code that means nothing where there are no headers.
#[test]
fn headers_that_do_not_fit_are_looked_up_once_and_only_where_there_are_some() {
    let mismatch = Failure::Answered(RpcError::new(HEADER_MISMATCH, "x"));
    let told = Nature { harmless: false, has_headers: true, person: Person::Away };
    assert_eq!(next_step(&mismatch, Spent::default(), told), Step::Relist);
    assert_eq!(next_step(&mismatch, Spent { repeats: 1 }, told), Step::GiveUp);
    assert_eq!(next_step(&mismatch, Spent::default(), HARMLESS), Step::GiveUp);
}

// K6
#[test]
fn what_is_known_of_the_effects() {
    use Executed::{No, Unknown, Yes};
    let table = [
        (Failure::SessionExpired, No),
        (refused(Obstacle::Other), No),
        (closed(false), No),
        (Failure::QueueFull { limit: 1 }, No),
        (Failure::Unauthorized { challenge: None }, No),
        (Failure::Answered(RpcError::new(1, "x")), Yes),
        (closed(true), Unknown),
        (Failure::TimedOut { phase: Phase::Answering, after: Duration::ZERO }, Unknown),
        (Failure::Damaged(Damage::Shape), Unknown),
        (Failure::TimedOut { phase: Phase::Connecting, after: Duration::ZERO }, No),
        (status(503, None), Unknown),
        (status(429, Some(2)), No),
        (status(429, None), No),
    ];
    for (failure, expected) in table {
        assert_eq!(executed(&failure), expected, "{failure}");
    }
}

// K4
#[test]
fn who_may_not_asks_for_more_rights_once_if_somebody_is_there() {
    let refused = |words: &str| Failure::Forbidden { challenge: Some(Untrusted::new(words)) };
    let more = refused(r#"Bearer error="insufficient_scope", scope="a b""#);
    let there = Nature { person: Person::There, ..PLAIN };
    let again = Spent { repeats: 1 };
    for (failure, spent, nature, step) in [
        (&more, Spent::default(), there, Step::AskMore),
        (&more, again, there, Step::GiveUp),
        (&more, Spent::default(), PLAIN, Step::GiveUp),
        (&more, Spent::default(), Nature { person: Person::Nobody, ..PLAIN }, Step::GiveUp),
        // No scope helps who is not welcome.
        (&refused("Bearer"), Spent::default(), there, Step::GiveUp),
        (&Failure::Forbidden { challenge: None }, Spent::default(), there, Step::GiveUp),
    ] {
        assert_eq!(next_step(failure, spent, nature), step, "{failure:?} {spent:?} {nature:?}");
    }
}

// K4: where the entry says who we are, nobody can sign in.
#[test]
fn a_sign_in_is_wanted_only_where_there_can_be_one() {
    let failure = Failure::Unauthorized { challenge: None };
    for (person, step) in
        [(Person::Nobody, Step::GiveUp), (Person::Away, Step::SignIn), (Person::There, Step::SignIn)]
    {
        assert_eq!(next_step(&failure, Spent::default(), Nature { person, ..PLAIN }), step);
    }
}
