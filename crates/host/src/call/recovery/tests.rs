//! Every failure, first and second time, harmless or not.

use std::time::Duration;

use mcparley_model::text::Untrusted;
use mcparley_wire::{Damage, FailurePhase, Obstacle, RpcError};

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

const PLAIN: RetryConditions =
    RetryConditions { is_idempotent: false, mirrors_headers: false, sign_in: SignInAvailability::Later };
const HARMLESS: RetryConditions =
    RetryConditions { is_idempotent: true, mirrors_headers: false, sign_in: SignInAvailability::Later };

// K6 L7 F52 F53
#[test]
fn retry_step_after_each_failure() {
    use RetryStep::{GiveUp, Reopen, Repeat, SignIn, Wait};
    let two = Duration::from_secs(2);
    let first = RetryBudget::default();
    let again = RetryBudget { repeats: 1 };
    // failure, then: first time; first time of a harmless tool; second time
    let table = [
        (Failure::SessionExpired, Reopen, Reopen, GiveUp),
        (refused(Obstacle::Other), Reopen, Reopen, GiveUp),
        (refused(Obstacle::SignIn), GiveUp, GiveUp, GiveUp),
        (closed(false), Reopen, Reopen, GiveUp),
        (closed(true), GiveUp, Repeat, GiveUp),
        (Failure::Unauthorized { challenge: None }, SignIn, SignIn, SignIn),
        (Failure::Forbidden { challenge: None }, GiveUp, GiveUp, GiveUp),
        (Failure::TimedOut { phase: FailurePhase::Answering, after: Duration::ZERO }, GiveUp, GiveUp, GiveUp),
        (Failure::Damaged(Damage::NotJson), GiveUp, GiveUp, GiveUp),
        (Failure::Protocol("x".into()), GiveUp, GiveUp, GiveUp),
        (Failure::ErrorResponse(RpcError::new(1, "x")), GiveUp, GiveUp, GiveUp),
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
fn header_mismatch_refreshes_headers_once_and_only_in_the_new_era() {
    let mismatch = Failure::ErrorResponse(RpcError::new(HEADER_MISMATCH, "x"));
    let told =
        RetryConditions { is_idempotent: false, mirrors_headers: true, sign_in: SignInAvailability::Later };
    assert_eq!(next_step(&mismatch, RetryBudget::default(), told), RetryStep::RefreshHeaders);
    assert_eq!(next_step(&mismatch, RetryBudget { repeats: 1 }, told), RetryStep::GiveUp);
    assert_eq!(next_step(&mismatch, RetryBudget::default(), HARMLESS), RetryStep::GiveUp);
}

// K6
#[test]
fn execution_status_of_each_failure() {
    use ExecutionStatus::{No, Unknown, Yes};
    let table = [
        (Failure::SessionExpired, No),
        (refused(Obstacle::Other), No),
        (closed(false), No),
        (Failure::QueueFull { limit: 1 }, No),
        (Failure::Unauthorized { challenge: None }, No),
        (Failure::ErrorResponse(RpcError::new(1, "x")), Yes),
        (closed(true), Unknown),
        (Failure::TimedOut { phase: FailurePhase::Answering, after: Duration::ZERO }, Unknown),
        (Failure::Damaged(Damage::Shape), Unknown),
        (Failure::TimedOut { phase: FailurePhase::Connecting, after: Duration::ZERO }, No),
        (status(503, None), Unknown),
        (status(429, Some(2)), No),
        (status(429, None), No),
    ];
    for (failure, expected) in table {
        assert_eq!(execution_status(&failure), expected, "{failure}");
    }
}

// K4
#[test]
fn forbidden_call_requests_scopes_once_if_the_user_can_sign_in_now() {
    let refused = |words: &str| Failure::Forbidden { challenge: Some(Untrusted::new(words)) };
    let more = refused(r#"Bearer error="insufficient_scope", scope="a b""#);
    let there = RetryConditions { sign_in: SignInAvailability::Now, ..PLAIN };
    let again = RetryBudget { repeats: 1 };
    for (failure, spent, nature, step) in [
        (&more, RetryBudget::default(), there, RetryStep::RequestScopes),
        (&more, again, there, RetryStep::GiveUp),
        (&more, RetryBudget::default(), PLAIN, RetryStep::GiveUp),
        (
            &more,
            RetryBudget::default(),
            RetryConditions { sign_in: SignInAvailability::Never, ..PLAIN },
            RetryStep::GiveUp,
        ),
        // No scope helps if access is denied.
        (&refused("Bearer"), RetryBudget::default(), there, RetryStep::GiveUp),
        (&Failure::Forbidden { challenge: None }, RetryBudget::default(), there, RetryStep::GiveUp),
    ] {
        assert_eq!(next_step(failure, spent, nature), step, "{failure:?} {spent:?} {nature:?}");
    }
}

// K4: with credentials in the entry, no sign-in is possible.
#[test]
fn sign_in_is_required_only_where_it_is_possible() {
    let failure = Failure::Unauthorized { challenge: None };
    for (sign_in, step) in [
        (SignInAvailability::Never, RetryStep::GiveUp),
        (SignInAvailability::Later, RetryStep::SignIn),
        (SignInAvailability::Now, RetryStep::SignIn),
    ] {
        assert_eq!(next_step(&failure, RetryBudget::default(), RetryConditions { sign_in, ..PLAIN }), step);
    }
}
