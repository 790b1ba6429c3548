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

// N10
#[test]
fn set_without_a_tool_misses_its_goals() {
    let (output, _) = retrieval(&json!({ "tools": [], "queries": [["mow", ["mow.lawn"]]] }), &[]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("garden has no tool"), "{error}");
}

/// A folder of word vectors in which riding means the same as mowing.
fn write_vectors(folder: &std::path::Path) {
    let header = r#"{"embeddings":{"dtype":"I8","shape":[3,2],"data_offsets":[0,6]}}"#;
    let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[9, 0, 8, 1, 0, 9]].concat();
    fs::write(folder.join("model.safetensors"), file).unwrap();
    let tokenizer = json!({ "model": { "type": "WordPiece", "vocab": { "ride": 0, "mow": 1, "water": 2 } } });
    fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
}

// N10
#[test]
fn vectors_are_measured_beside_words() {
    let folder = tempfile::tempdir().unwrap();
    write_vectors(folder.path());
    let queries = json!([["give the plants some water", ["water_plants"]], ["ride a horse", ["mow.lawn"]]]);
    // Without optimization the times miss their goals, so the exit code says nothing here.
    let (output, report) = retrieval(
        &garden(&queries),
        &["--vectors", folder.path().to_str().unwrap(), "--fused-hit-at-5", "1.1"],
    );
    assert_eq!(
        (&report[0]["mcparley"]["hit@1"], &report[0]["withVectors"]["hit@1"]),
        (&json!(0.5), &json!(1.0))
    );
    assert_eq!(report[0]["namesFirstWithVectors"], 2);
    assert_eq!((&report[1]["ranking"], &report[2]["ranking"]), (&json!("words"), &json!("words + vectors")));
    assert!(report[2]["p99"].as_f64().unwrap() > 0.0);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("hit@5 is 1.000, the goal 1.1"), "{error}");
}

// N10
#[test]
fn unusable_vectors_end_the_measurement() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("garden.json");
    fs::write(&file, garden(&json!([])).to_string()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcparley-bench"));
    let output = command.args(["retrieval", "--set"]).arg(&file).arg("--vectors").arg(folder.path()).output();
    let output = output.unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("there is no file"), "{error}");
}
