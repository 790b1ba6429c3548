//! Tests of the retrieval measurement, with a small set.

use std::fs;
use std::process::{Command, Output};

use serde_json::{Value, json};

fn retrieval(set: &Value, options: &[&str]) -> (Output, Value) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("garden.json");
    fs::write(&file, set.to_string()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcparley-bench"));
    let output = command.args(["retrieval", "--json", "--check", "--set"]).arg(&file).args(options).output();
    let output = output.unwrap();
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    (output, report)
}

fn garden(queries: &Value) -> Value {
    let tool = |name: &str, text: &str| json!({ "name": name, "description": text, "inputSchema": { "type": "object", "properties": {} } });
    let tools = [tool("water_plants", "Waters the plants."), tool("mow.lawn", "Cuts the grass.")];
    json!({ "tools": tools, "queries": queries })
}

// N10
#[test]
fn ranks_are_counted_and_goals_checked() {
    let set =
        garden(&json!([["give the plants some water", ["water_plants"]], ["ride a horse", ["mow.lawn"]]]));
    let (output, report) = retrieval(&set, &["--hit-at-5", "0.5"]);
    assert!(output.status.success(), "{}\n{report:#}", String::from_utf8_lossy(&output.stderr));
    let figures = json!({ "hit@1": 0.5, "hit@5": 0.5, "hit@10": 0.5, "MRR": 0.5 });
    assert_eq!((&report[0]["mcparley"], &report[0]["bm25"]), (&figures, &figures));
    assert_eq!((&report[0]["set"], &report[0]["namesFirst"]), (&json!("garden"), &json!(2)));
    let (output, report) = retrieval(&set, &["--hit-at-5", "0.6"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && error.contains("hit@5 is 0.500, the goal 0.6"),
        "{error}\n{report:#}"
    );
}

// N10
#[test]
fn set_without_a_query_misses_its_goals() {
    let (output, _) = retrieval(&garden(&json!([])), &[]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("garden has no query"), "{error}");
}
