//! What it costs to make an outcome of a megabyte of text, as a tool that reads a file gives it.
#![expect(clippy::expect_used, reason = "a bench cannot measure anything without its input")]

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use mcparley::CallOutcome;
use mcparley_wire::RawJson;
use serde_json::json;

const MEGABYTE: usize = 1_000_000;

fn main() {
    divan::main();
}

#[divan::bench(args = ["plain", "accents", "one_damaged_block"])]
fn shape_a_megabyte(bencher: Bencher, kind: &str) {
    let answer = answer(kind);
    bencher
        .counter(BytesCount::new(answer.as_bytes().len()))
        .with_inputs(|| answer.clone())
        .bench_values(|answer| black_box(CallOutcome::try_from(answer)));
}

#[divan::bench]
fn shape_a_line(bencher: Bencher) {
    let answer = RawJson::from_value(&json!({ "content": [{ "type": "text", "text": "Echo: hi" }] }))
        .expect("an answer can be written");
    bencher.with_inputs(|| answer.clone()).bench_values(|answer| black_box(CallOutcome::try_from(answer)));
}

#[divan::bench]
fn a_megabyte_as_text(bencher: Bencher) {
    let outcome = CallOutcome::try_from(answer("plain")).expect("the answer is good");
    bencher.bench(|| black_box(&outcome).to_text());
}

fn answer(kind: &str) -> RawJson {
    let line = match kind {
        "accents" => "He said \"naïve café\" and went on with a line of usual length.\n",
        _ => "He said \"hello\" and went on with a line of usual length.\n",
    };
    let text = line.repeat(MEGABYTE / line.len());
    let mut blocks = vec![json!({ "type": "text", "text": text })];
    if kind == "one_damaged_block" {
        blocks.push(json!({ "type": "text", "text": 5 }));
    }
    RawJson::from_value(&json!({ "content": blocks, "isError": false })).expect("an answer can be written")
}
