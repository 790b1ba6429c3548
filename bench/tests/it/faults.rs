//! Tests of the fault measurement, with a short run.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

// F90 F91 F97 F99
#[test]
fn every_fault_has_a_row_with_its_outcome_and_time() {
    let bench = Path::new(env!("CARGO_BIN_EXE_mcparley-bench"));
    let mcparley = bench.with_file_name("mcparley");
    assert!(mcparley.is_file(), "build it with `cargo build -p mcparley-cli`");
    let mut command = Command::new(bench);
    command.args(["faults", "--json", "--rounds", "1", "--seconds", "1", "--mcparley"]);
    let output = command.arg(mcparley).output().unwrap();
    // Whether the promised times hold says the long run: here other tests run beside it.
    assert!(output.status.success(), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let rows = report.as_array().unwrap();
    let ids: Vec<&str> = rows.iter().filter_map(|row| row["id"].as_str()).collect();
    assert_eq!(ids, ["F90", "F90", "F91", "F99", "F97"]);
    let row = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap();
    assert!(row("F91")["outcome"].as_str().unwrap().contains("canceled"), "{report:#}");
    assert_eq!(row("F99")["kept"], true, "{report:#}");
    assert!(row("F97")["outcome"].as_str().unwrap().contains(" 0 otherwise"), "{report:#}");
}
