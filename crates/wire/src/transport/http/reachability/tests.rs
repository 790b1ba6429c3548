//! Evidence of reachability, and the count of strikes.

use std::time::Duration;

use mcparley_model::text::Untrusted;

use super::{ReachabilitySign, Strikes};
use crate::failure::{Damage, Failure, FailurePhase, RpcError};

// L5 F30
#[test]
fn each_failure_is_classified_as_evidence_of_reachability() {
    use ReachabilitySign::{Broken, Gone, None, There};
    let timed_out = |phase| Failure::TimedOut { phase, after: Duration::ZERO };
    let refused = |obstacle| Failure::Refused { obstacle, reason: "x".into(), hint: Option::None };
    let table = [
        (refused(crate::Obstacle::PortClosed), Gone),
        (refused(crate::Obstacle::SignIn), None),
        (Failure::Closed { exit: Option::None, sent: true }, Broken),
        (Failure::Closed { exit: Option::None, sent: false }, Broken),
        (timed_out(FailurePhase::Connecting), Broken),
        (timed_out(FailurePhase::Answering), None),
        (Failure::QueueFull { limit: 1 }, None),
        (Failure::Damaged(Damage::NotJson), There),
        (Failure::Protocol("x".into()), There),
        (Failure::ErrorResponse(RpcError::new(1, "x")), There),
        (Failure::TooLarge { limit: 1 }, There),
        (Failure::Unauthorized { challenge: Option::None }, There),
        (Failure::Forbidden { challenge: Option::None }, There),
        (Failure::SessionExpired, There),
        (Failure::Status { code: 502, retry_after: Option::None, text: Untrusted::default() }, There),
    ];
    for (failure, expected) in table {
        assert_eq!(ReachabilitySign::from_failure(&failure), expected, "{failure}");
    }
}

// L5
#[test]
fn three_broken_connections_or_a_refused_one_end_the_connection() {
    use ReachabilitySign::{Broken, Gone, None, There};
    let table: [(&[ReachabilitySign], bool); 8] = [
        (&[], false),
        (&[Broken, Broken], false),
        (&[Broken, Broken, Broken], true),
        (&[Broken, Broken, There, Broken, Broken], false),
        (&[Broken, Broken, There, Broken, Broken, Broken], true),
        (&[Broken, None, Broken, None, Broken], true),
        (&[There, Gone], true),
        (&[Broken, Broken, None], false),
    ];
    for (signs, expected) in table {
        let mut strikes = Strikes::default();
        let is_gone = signs.iter().fold(false, |_, sign| strikes.count_sign(*sign));
        assert_eq!(is_gone, expected, "{signs:?}");
    }
}
