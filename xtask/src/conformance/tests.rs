//! What is run, and what counts as passed.

use serde_json::json;

use super::plan::required_of_clients;
use super::verdict::{Checks, End, Verdict, judge};

const GOOD: End = End { suite: Some(0), client: Some(0) };

fn checks(statuses: &[&str]) -> Checks {
    let items: Vec<_> = statuses.iter().map(|status| json!({ "id": "a-check", "status": status })).collect();
    Checks::count(&json!(items))
}

fn reason(checks: &Checks, end: End) -> String {
    match judge(checks, end) {
        Verdict::Passed => "passed".to_owned(),
        Verdict::Failed(reason) => reason,
    }
}

#[test]
fn only_what_a_client_must_pass_is_read_from_the_list() {
    let list = "Required (3)\n\nServer scenarios (a server):\n  - ping\n\nClient scenarios (a client):\n  - initialize\n  - auth/one\n\nRun and reported, but never scored:\n  extension (1):\n    - auth/two [client]\n";
    assert_eq!(required_of_clients(list), ["initialize", "auth/one"]);
    assert!(required_of_clients("").is_empty());
}

#[test]
fn a_scenario_passes_only_when_something_was_checked_and_nothing_was_wrong() {
    assert_eq!(reason(&checks(&["SUCCESS", "INFO", "SKIPPED"]), GOOD), "passed");
    assert_eq!(reason(&checks(&["INFO", "SKIPPED"]), GOOD), "nothing was checked");
    assert_eq!(reason(&checks(&[]), GOOD), "nothing was checked");
    assert_eq!(reason(&checks(&["SUCCESS", "FAILURE"]), GOOD), "a-check");
    assert_eq!(reason(&checks(&["SUCCESS", "WARNING", "WARNING"]), GOOD), "a-check");
}

#[test]
fn the_end_of_the_client_counts_and_only_the_suite_excuses_an_error() {
    let fine = checks(&["SUCCESS"]);
    let end = |suite, client| reason(&fine, End { suite, client });
    assert_eq!(end(Some(0), Some(1)), "passed");
    assert_eq!(end(Some(1), Some(1)), "the client ended with exit code 1");
    assert_eq!(end(Some(1), Some(0)), "the suite ended with exit code 1");
    assert_eq!(end(Some(0), Some(101)), "the client crashed with exit code 101");
    assert_eq!(end(Some(0), Some(139)), "the client crashed with exit code 139");
    assert_eq!(end(Some(1), None), "the client ran out of time");
    assert_eq!(end(None, Some(0)), "the suite did not end");
}
