//! Calls that their client does not want any more.

use std::path::Path;
use std::time::Instant;

use mcparley_testkit::log_lines;
use serde_json::json;

use crate::client::{Client, LONG, NEW};
use crate::world::{World, logged};

/// Waits until the server has received a message with this text, and says how often it has.
async fn received(log: &Path, text: &str) -> usize {
    let begun = Instant::now();
    loop {
        let lines = if log.exists() { log_lines(log) } else { Vec::new() };
        let count = lines.iter().filter(|line| line.text.contains(text)).count();
        if count > 0 || begun.elapsed() > LONG {
            return count;
        }
        tokio::task::yield_now().await;
    }
}

// F91 K2 G3
#[tokio::test]
async fn canceled_call_is_canceled_at_its_server() {
    for version in ["2025-11-25", NEW] {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let gateway = World::with([("one", logged(&[], &log))]).allow("mcp__one").gateway();
        let mut client = Client::new(&gateway, version).await;
        let slow = json!({ "name": "one__slow", "arguments": { "ms": 60_000 } });
        let id = client.begin("tools/call", slow).await;
        assert_eq!(received(&log, "tools/call").await, 1);
        client.tell("notifications/cancelled", Some(json!({ "requestId": id }))).await;
        assert_eq!(received(&log, "notifications/cancelled").await, 1, "{version}");
        let result = client.call("one__echo", json!({ "message": "still here" })).await;
        assert_eq!(result["content"][0]["text"], "still here");
        assert!(client.heard.iter().all(|message| message["id"] != id), "no answer to what was taken back");
    }
}

// F91
#[tokio::test]
async fn a_client_that_hangs_up_in_the_middle_of_a_call_cancels_it() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let gateway = World::with([("one", logged(&[], &log))]).allow("mcp__one").gateway();
    let mut client = Client::new(&gateway, "2025-11-25").await;
    client.begin("tools/call", json!({ "name": "one__slow", "arguments": { "ms": 60_000 } })).await;
    assert_eq!(received(&log, "tools/call").await, 1);
    let begun = Instant::now();
    client.hang_up().await;
    assert_eq!(received(&log, "notifications/cancelled").await, 1);
    assert!(begun.elapsed().as_millis() < 1000, "{:?}", begun.elapsed());
    let mut next = Client::new(&gateway, "2025-11-25").await;
    assert_eq!(next.call("one__echo", json!({ "message": "hi" })).await["content"][0]["text"], "hi");
}

// F91 G3: a parked call must not outlive its client.
#[tokio::test]
async fn a_client_that_hangs_up_while_its_call_is_parked_cancels_it() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let server = logged(&["server-request:elicitation/create"], &log);
    let gateway = World::with([("one", server)]).allow("mcp__one").gateway();
    let mut client = Client::greeting(&gateway, NEW, json!({ "elicitation": { "form": {} } })).await;
    let result = client.call("one__echo", json!({ "message": "hi" })).await;
    assert_eq!(result["resultType"], "input_required", "{result}");
    client.hang_up().await;
    assert_eq!(received(&log, "notifications/cancelled").await, 1);
}

// G1: requests before the end of the input are answered, as far as they take no time.
#[tokio::test]
async fn the_last_requests_before_the_end_are_answered() {
    let gateway = World::one().allow("mcp__one").gateway();
    let mut client = Client::new(&gateway, "2025-11-25").await;
    client.tools().await;
    let id = client.begin("ping", json!({})).await;
    let (list, mut rest) = (client.begin("tools/list", json!({})).await, Vec::new());
    client.end_input();
    while let Some(message) = client.next_or_end().await {
        rest.push(message["id"].clone());
    }
    assert_eq!(rest, [id, list]);
}
