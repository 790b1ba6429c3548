//! The set that is built from the package `bfcl-eval`, the Berkeley Function Calling Leaderboard.
//!
//! The tools of four categories are pooled, and a thousand of their questions are chosen with a fixed seed. A
//! question asks for one of a few tools there; here the tool must be found among all.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;

use super::set::{RetrievalSet, SetQuery, SetTool};
use crate::soak::chance::SeededRandom;

/// The goal for hit@5: the least share of questions with their tool among the first five.
pub(super) const HIT_AT_5: f64 = 0.85;

const CATEGORIES: [&str; 4] = ["live_multiple", "multiple", "simple_python", "live_simple"];
const QUERIES: usize = 1000;
const SEED: u64 = 7;

/// Reads the package that is installed in this folder.
pub(super) fn read_package(folder: &Path) -> io::Result<RetrievalSet> {
    let data = folder.join("bfcl_eval/data");
    let (mut tools, mut queries): (Vec<SetTool>, Vec<SetQuery>) = Default::default();
    let (mut names, mut texts) = (HashSet::new(), HashSet::new());
    for category in CATEGORIES {
        let file = format!("BFCL_v4_{category}.json");
        let answers: HashMap<String, BTreeSet<String>> =
            read_lines(&data.join("possible_answer").join(&file))?.iter().filter_map(read_answer).collect();
        for line in read_lines(&data.join(&file))? {
            let functions = line.get("function").and_then(Value::as_array).into_iter().flatten();
            for tool in functions.filter_map(|function| SetTool::new(function, "parameters")) {
                if names.insert(tool.name.clone()) {
                    tools.push(tool);
                }
            }
            let expected = line.get("id").and_then(Value::as_str).and_then(|id| answers.get(id));
            // The question is the last message of the first turn.
            let turn = line.pointer("/question/0").and_then(Value::as_array).and_then(|turn| turn.last());
            let text = turn.and_then(|message| message.get("content")?.as_str());
            let (Some(expected), Some(text)) = (expected, text) else { continue };
            if texts.insert(text.to_owned()) {
                queries
                    .push(SetQuery { text: text.to_owned(), expected: expected.iter().cloned().collect() });
            }
        }
    }
    shuffle_queries(&mut queries);
    queries.truncate(QUERIES);
    Ok(RetrievalSet { name: "BFCL".to_owned(), tools, queries })
}

/// The id of a question, and the names of the tools that answer it.
fn read_answer(line: &Value) -> Option<(String, BTreeSet<String>)> {
    let calls = line.get("ground_truth")?.as_array()?.iter().filter_map(Value::as_object);
    let names = calls.flat_map(|call| call.keys().cloned()).collect();
    Some((line.get("id")?.as_str()?.to_owned(), names))
}

fn shuffle_queries(queries: &mut [SetQuery]) {
    let mut random = SeededRandom::new(SEED);
    for last in (1..queries.len()).rev() {
        queries.swap(last, random.random_index(last + 1));
    }
}

fn read_lines(file: &Path) -> io::Result<Vec<Value>> {
    let about = |error: &dyn std::fmt::Display| io::Error::other(format!("{}: {error}", file.display()));
    let text = fs::read_to_string(file).map_err(|error| about(&error))?;
    text.lines().map(|line| serde_json::from_str(line).map_err(|error| about(&error))).collect()
}
