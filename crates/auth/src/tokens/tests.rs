//! The time of a renewal.

use std::time::Duration;

use super::*;

fn tokens(lasts: Option<u64>) -> Tokens {
    let given = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    Tokens {
        access: Secret::new("a".into()),
        kind: Kind::Bearer,
        refresh: None,
        given,
        expires: lasts.map(|seconds| given + Duration::from_secs(seconds)),
        scopes: Vec::new(),
    }
}

// A3 F86
#[test]
fn a_token_is_renewed_before_it_ends_but_not_before_every_request() {
    // Lifetime, age, whether it is due, whether it has expired.
    for (lasts, after, is_due, is_over) in [
        (Some(3600), 0, false, false),
        (Some(3600), 3569, false, false),
        (Some(3600), 3570, true, false),
        (Some(3600), 3600, true, true),
        (Some(10), 4, false, false),
        (Some(10), 5, true, false),
        (Some(10), 10, true, true),
        (Some(0), 0, true, true),
        (None, 1_000_000, false, false),
    ] {
        let tokens = tokens(lasts);
        let now = tokens.given + Duration::from_secs(after);
        assert_eq!(
            (tokens.is_renewal_due(now), tokens.is_expired(now)),
            (is_due, is_over),
            "{lasts:?} {after}"
        );
    }
}

// F86: a clock that was set back by a day neither panics nor renews in a loop.
#[test]
fn clock_that_was_set_back_only_delays_renewal() {
    let tokens = tokens(Some(3600));
    assert!(!tokens.is_renewal_due(tokens.given - Duration::from_secs(86_400)));
    assert!(tokens.is_renewal_due(tokens.given + Duration::from_secs(86_400)));
}
