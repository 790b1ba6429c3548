//! Tests of the misrouting test, with a short run.

use std::process::{Command, Output};

use serde_json::Value;

fn misrouting(options: &str) -> (Output, Value) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcparley-bench"));
    let output = command.args(["misrouting", "--check", "--json"]).args(options.split(' ')).output().unwrap();
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    (output, report)
}

fn count(report: &Value, name: &str) -> u64 {
    report[name].as_u64().unwrap_or_else(|| panic!("{name} in {report}"))
}

// F95 H20 G3 X5
#[test]
fn no_message_of_ten_thousand_calls_with_colliding_ids_reaches_another_client() {
    let (output, report) = misrouting("--calls 10000 --clients 100");
    assert!(output.status.success(), "{}\n{report:#}", String::from_utf8_lossy(&output.stderr));
    assert_eq!((count(&report, "calls"), count(&report, "misrouted")), (10_000, 0), "{report:#}");
    // Otherwise the promises would prove nothing.
    for name in ["answered", "progress", "logs"] {
        assert!(count(&report, name) > 1000, "{name} in {report:#}");
    }
    for name in ["questions", "canceled", "dropped"] {
        assert!(count(&report, name) > 100, "{name} in {report:#}");
    }
}

// F89 F95 H20
#[test]
fn no_message_reaches_another_client_while_servers_are_killed() {
    let (output, report) = misrouting("--calls 3000 --clients 60 --kill");
    assert!(output.status.success(), "{}\n{report:#}", String::from_utf8_lossy(&output.stderr));
    assert!(count(&report, "kills") > 0 && count(&report, "answered") > 0, "{report:#}");
}

#[test]
fn run_without_calls_breaks_its_promises() {
    let (output, report) = misrouting("--calls 0 --clients 1");
    assert!(!output.status.success(), "{report:#}");
}
