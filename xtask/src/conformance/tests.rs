//! Tests of the scenario list and the pass criteria.

use serde_json::json;

use super::plan::required_of;
use super::verdict::{
    ScenarioExit, ScenarioVerdict, SuiteChecks, evaluate_scenario, evaluate_server_scenario,
};

const GOOD: ScenarioExit = ScenarioExit { suite: Some(0), client: Some(0) };

fn checks(statuses: &[&str]) -> SuiteChecks {
    let items: Vec<_> = statuses.iter().map(|status| json!({ "id": "a-check", "status": status })).collect();
    SuiteChecks::from_items(&json!(items))
}

fn reason(checks: &SuiteChecks, end: ScenarioExit) -> String {
    match evaluate_scenario(checks, end) {
        ScenarioVerdict::Passed => "passed".to_owned(),
        ScenarioVerdict::Failed(reason) => reason,
    }
}

#[test]
fn only_required_scenarios_of_a_side_are_parsed() {
    let list = "Required (3)\n\nServer scenarios (a server):\n  - ping\n\nClient scenarios (a client):\n  - initialize\n  - auth/one\n\nRun and reported, but never scored:\n  extension (1):\n    - auth/two [client]\n";
    assert_eq!(required_of("Client", list), ["initialize", "auth/one"]);
    assert_eq!(required_of("Server", list), ["ping"]);
    assert!(required_of("Client", "").is_empty());
}

#[test]
fn scenario_passes_only_with_checks_and_without_failures() {
    assert_eq!(reason(&checks(&["SUCCESS", "INFO", "SKIPPED"]), GOOD), "passed");
    assert_eq!(reason(&checks(&["INFO", "SKIPPED"]), GOOD), "nothing was checked");
    assert_eq!(reason(&checks(&[]), GOOD), "nothing was checked");
    assert_eq!(reason(&checks(&["SUCCESS", "FAILURE"]), GOOD), "a-check");
    assert_eq!(reason(&checks(&["SUCCESS", "WARNING", "WARNING"]), GOOD), "a-check");
}

#[test]
fn client_exit_code_counts_unless_suite_expected_error() {
    let fine = checks(&["SUCCESS"]);
    let end = |suite, client| reason(&fine, ScenarioExit { suite, client });
    assert_eq!(end(Some(0), Some(1)), "passed");
    assert_eq!(end(Some(1), Some(1)), "the client exited with code 1");
    assert_eq!(end(Some(1), Some(0)), "the suite exited with code 1");
    assert_eq!(end(Some(0), Some(101)), "the client crashed with exit code 101");
    assert_eq!(end(Some(0), Some(139)), "the client crashed with exit code 139");
    assert_eq!(end(Some(1), None), "the client timed out");
    assert_eq!(end(None, Some(0)), "the suite did not exit");
}

#[test]
fn server_scenario_that_checked_nothing_fails_unless_the_suite_never_checks_it() {
    let verdict =
        |name: &str, statuses: &[&str], suite| match evaluate_server_scenario(name, &checks(statuses), suite)
        {
            ScenarioVerdict::Passed => "passed".to_owned(),
            ScenarioVerdict::Failed(reason) => reason,
        };
    assert_eq!(verdict("ping", &["SUCCESS"], Some(0)), "passed");
    assert_eq!(verdict("ping", &["SKIPPED"], Some(0)), "nothing was checked");
    assert_eq!(verdict("tasks-status-notifications", &["SKIPPED"], Some(0)), "passed");
    assert_eq!(verdict("tasks-status-notifications", &[], Some(0)), "nothing was checked");
    assert_eq!(verdict("tasks-status-notifications", &["FAILURE"], Some(1)), "a-check");
    assert_eq!(verdict("ping", &["SUCCESS", "WARNING"], Some(0)), "a-check");
    assert_eq!(verdict("ping", &["SUCCESS"], Some(1)), "the suite exited with code 1");
    assert_eq!(verdict("ping", &["SUCCESS"], None), "the suite did not exit");
}
