//! Round trip of cached failures, and the backoff as a table and as properties.
use proptest::prelude::*;

use super::*;

fn error(failure: Failure) -> ConnectError {
    ConnectError::new(failure, Untrusted::new("its last words"))
}

// L12
#[test]
fn cached_failure_keeps_its_error_and_shows_its_age() {
    let closed =
        Failure::Closed { exit: Some(ServerExit { code: Some(3), signal: None, loss: None }), sent: true };
    let timed_out = Failure::TimedOut { phase: FailurePhase::Connecting, after: Duration::from_secs(30) };
    let refused = Failure::Refused {
        obstacle: Obstacle::NoProgram,
        reason: Arc::from("there is no program `x`"),
        hint: Some(Arc::from("install it")),
    };
    let all = [
        closed,
        timed_out,
        refused,
        Failure::Protocol(Arc::from("it speaks version 9999, which is not supported")),
        Failure::ErrorResponse(RpcError::new(-32603, "broken")),
        Failure::Forbidden { challenge: None },
        Failure::Status { code: 503, retry_after: None, text: Untrusted::new("later") },
    ];
    for failure in all {
        let error = error(failure);
        let record = FailureRecord::new(&error, Duration::from_secs(2), 4, "stamp".to_owned()).unwrap();
        let read = FailureRecord::parse(&record.to_text().unwrap()).unwrap();
        assert_eq!(read, record);
        let again = read.to_error(Duration::from_secs(180)).unwrap();
        assert_eq!(again.to_string(), format!("{error} (3 min ago)"));
        assert_eq!(again.stderr.raw(), "its last words");
    }
}

// L12 A4
#[test]
fn failures_of_this_machine_and_sign_in_needs_are_not_cached() {
    let resources =
        Failure::Refused { obstacle: Obstacle::Resources, reason: Arc::from("no memory"), hint: None };
    for failure in [resources, Failure::Unauthorized { challenge: None }, Failure::SessionExpired] {
        assert_eq!(FailureRecord::new(&error(failure), Duration::ZERO, 1, String::new()), None);
    }
}

// L12
#[test]
fn backoff_doubles_from_a_minute_or_twenty_attempts_up_to_a_day() {
    let minutes = |count, took| backoff_time(count, Duration::from_secs(took)).as_secs() / 60;
    assert_eq!([1, 2, 3, 4].map(|count| minutes(count, 0)), [1, 2, 4, 8]);
    assert_eq!([1, 2, 3].map(|count| minutes(count, 30)), [10, 20, 40]);
    assert_eq!([20, u32::MAX].map(|count| minutes(count, 30)), [24 * 60; 2]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    // L12: more failures and longer attempts never shorten the backoff, and nothing exceeds its bounds.
    #[test]
    fn backoff_grows_with_failures_and_attempts_within_its_bounds(
        count in prop_oneof![0..24_u32, any::<u32>()],
        took in prop_oneof![0..100_000_u64, any::<u64>()],
    ) {
        let took = Duration::from_millis(took);
        let time = backoff_time(count, took);
        prop_assert!((FAILURE_FIRST..=FAILURE_LONGEST).contains(&time));
        prop_assert!(time <= backoff_time(count.saturating_add(1), took));
        prop_assert!(time <= backoff_time(count, took.saturating_mul(2)));
        // A server that failed once is tried again after a fixed share of its attempt.
        let first = took.saturating_mul(FAILURE_SHARE).clamp(FAILURE_FIRST, FAILURE_LONGEST);
        prop_assert_eq!(backoff_time(1, took), first);
    }
}

// L12 B09
#[test]
fn damaged_failure_records_are_ignored() {
    for text in ["", "{}", "[]", r#"{"format":1}"#] {
        assert_eq!(FailureRecord::parse(text), None);
    }
}
