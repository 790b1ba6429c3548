//! What counts, and what makes three.

use std::time::Duration;

use mcparley_model::text::Untrusted;

use super::{Sign, Strikes};
use crate::failure::{Damage, Failure, Phase, RpcError};

// L5 F30
#[test]
fn what_a_failure_shows_about_its_server() {
    use Sign::{Broken, Gone, None, There};
    let timed_out = |phase| Failure::TimedOut { phase, after: Duration::ZERO };
    let refused = |obstacle| Failure::Refused { obstacle, reason: "x".into(), hint: Option::None };
    let table = [
        (refused(crate::Obstacle::PortClosed), Gone),
        (refused(crate::Obstacle::SignIn), None),
        (Failure::Closed { exit: Option::None, sent: true }, Broken),
        (Failure::Closed { exit: Option::None, sent: false }, Broken),
        (timed_out(Phase::Connecting), Broken),
        (timed_out(Phase::Answering), None),
        (Failure::QueueFull { limit: 1 }, None),
        (Failure::Damaged(Damage::NotJson), There),
        (Failure::Protocol("x".into()), There),
        (Failure::Answered(RpcError::new(1, "x")), There),
        (Failure::TooLarge { limit: 1 }, There),
        (Failure::Unauthorized { challenge: Option::None }, There),
        (Failure::Forbidden { challenge: Option::None }, There),
        (Failure::SessionExpired, There),
        (Failure::Status { code: 502, retry_after: Option::None, text: Untrusted::default() }, There),
    ];
    for (failure, expected) in table {
        assert_eq!(Sign::of(&failure), expected, "{failure}");
    }
}

// L5
#[test]
fn three_broken_connections_in_a_row_or_an_empty_address_end_it() {
    use Sign::{Broken, Gone, None, There};
    let table: [(&[Sign], bool); 8] = [
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
        let is_gone = signs.iter().fold(false, |_, sign| strikes.count(*sign));
        assert_eq!(is_gone, expected, "{signs:?}");
    }
}
