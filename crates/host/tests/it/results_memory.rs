//! The memory cost of a very large result: two kilobytes for a model, and a small multiple of its size for
//! the host.

use mcparley::Call;
use serde_json::json;

use crate::alive::{scripted, servers};

const MIB: u64 = 1024 * 1024;

// R2 R5
#[test]
fn heavy_thirty_megabytes_cost_a_model_two_kilobytes_and_us_three_times_the_result() {
    mcparley_testkit::run_in_own_process("results_memory::alone_in_its_process").unwrap();
}

#[tokio::test]
#[ignore = "started by the test above, in a process of its own"]
async fn alone_in_its_process() {
    let making =
        servers([("one", scripted(&["huge:30"]))]).variable("MCPARLEY_MAX_MESSAGE_BYTES", "33554432");
    let alive = making.start_in(|paths| paths.results = Some(paths.home.join("results")));
    alive.reach("one").await;
    let before = peak();
    let given = alive.call("one", "echo", json!({ "message": "x" })).await.unwrap();
    let told = given.to_text();
    assert!(told.len() <= 2048, "{told}");
    let stored = given.stored[0].clone();
    assert!(stored.bytes > 29 * MIB, "{told}");
    assert!(
        told.contains("a line too long") && told.contains(stored.path.unwrap().to_str().unwrap()),
        "{told}"
    );
    let grown = peak() - before;
    assert!(grown <= 3 * 30 * MIB, "{} MiB more", grown / MIB);
    drop(given);

    let call = |more: serde_json::Value| {
        let mut arguments = json!({ "handle": stored.handle });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        alive.host.call(Call::new("ReadResult", arguments))
    };
    let page = call(json!({ "unit": "bytes", "offset": 20_000_000 })).await.unwrap().to_text();
    assert!(page.contains("[bytes 20000000 to 20039999 of "), "{}", &page[page.len() - 100..]);
    let lines = call(json!({})).await.unwrap().to_text();
    assert!(lines.starts_with("[line 1 is too long"), "{}", &lines[..100]);
    let found = call(json!({ "grep": "^x" })).await.unwrap().to_text();
    assert!(found.ends_with("[1 matching lines]") && found.len() < 1_000, "{}", found.len());
    let grown = peak() - before;
    assert!(grown <= 3 * 30 * MIB, "{} MiB more", grown / MIB);
}

/// The most memory this process ever had, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
}
