//! Every failure, first and second time, harmless or not.

use std::time::Duration;

use mcparley_model::text::Untrusted;
use mcparley_wire::{Damage, Obstacle, Phase, RpcError};

use super::*;

fn refused() -> Failure {
    Failure::Refused { obstacle: Obstacle::Other, reason: "x".into(), hint: None }
}

fn closed(sent: bool) -> Failure {
    Failure::Closed { exit: None, sent }
}

fn status() -> Failure {
    Failure::Status { code: 503, retry_after: None, text: Untrusted::default() }
}

// K6 L7
#[test]
fn what_follows_each_failure() {
    use Step::{GiveUp, Reopen, Repeat, SignIn};
    let first = Spent::default();
    let again = Spent { repeats: 1 };
    // failure, then: first time; first time of a harmless tool; second time
    let table = [
        (Failure::SessionExpired, Reopen, Reopen, GiveUp),
        (refused(), Reopen, Reopen, GiveUp),
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
        (status(), GiveUp, GiveUp, GiveUp),
    ];
    for (failure, plain, harmless, second) in table {
        let steps = [
            next_step(&failure, first, false),
            next_step(&failure, first, true),
            next_step(&failure, again, true),
        ];
        assert_eq!(steps, [plain, harmless, second], "{failure}");
    }
}

// K6
#[test]
fn what_is_known_of_the_effects() {
    use Executed::{No, Unknown, Yes};
    let table = [
        (Failure::SessionExpired, No),
        (refused(), No),
        (closed(false), No),
        (Failure::QueueFull { limit: 1 }, No),
        (Failure::Unauthorized { challenge: None }, No),
        (Failure::Answered(RpcError::new(1, "x")), Yes),
        (closed(true), Unknown),
        (Failure::TimedOut { phase: Phase::Answering, after: Duration::ZERO }, Unknown),
        (Failure::Damaged(Damage::Shape), Unknown),
        (status(), Unknown),
    ];
    for (failure, expected) in table {
        assert_eq!(executed(&failure), expected, "{failure}");
    }
}
