//! Tests of the soak test, with a short run.

use std::process::{Command, Output};

use serde_json::Value;

fn soak(options: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcparley-bench"));
    command.args(["soak", "--check", "--json"]).args(options.split(' ')).output().unwrap()
}

fn report(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

fn count(report: &Value, place: &str) -> u64 {
    report.pointer(place).and_then(Value::as_u64).unwrap_or_else(|| panic!("{place} in {report}"))
}

// L6 K6: the promises of the long run. How much memory grows only the long run can tell: within seconds heaps are
// still filling, so what is caught here is a leak of everything.
#[test]
fn every_promise_holds_while_servers_are_killed_under_heavy_load() {
    let output = soak("--for 20s --servers 10+10 --rate 100 --kill-every 500ms --growth 25");
    let report = report(&output);
    assert!(output.status.success(), "{}\n{report:#}", String::from_utf8_lossy(&output.stderr));
    // Otherwise the promises would prove nothing.
    assert!(count(&report, "/kills/local") > 5 && count(&report, "/kills/remote") > 5, "{report:#}");
    assert!(count(&report, "/endings/answered") > 1000, "{report:#}");
}

#[test]
fn a_broken_promise_fails_the_heavy_soak() {
    let output = soak("--for 1s --servers 1+1 --rate 20 --kill-every 500ms --growth=-100");
    let report = report(&output);
    assert!(!output.status.success(), "{report:#}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said, "error: memory, from the warm-up to the end\n");
}
