//! Values of a session that change at two gateways.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use mcparley_cluster::{KeyNames, SharedStore};
use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};

use crate::clustered::{A, EVENTS, Pair, PairOptions, wait_until};
use crate::door::{HttpReply, OpenDoors, call, request, wait_for_log};
use crate::world::logged;

/// The result of a request in a session, as JSON or at the end of an event stream.
async fn ask(doors: &OpenDoors, session: (&str, &str), message: &Value) -> Value {
    let mut reply: HttpReply = doors.post(&[session, A], message).await;
    if reply.header("content-type") != Some("text/event-stream") {
        return reply.json().await;
    }
    loop {
        let message = reply.event().await.expect("an answer");
        if message["method"].is_null() {
            return message;
        }
    }
}

/// The fields of the only session in the shared state, and their sealed values as text.
async fn stored_fields(pair: &Pair) -> Vec<(String, String)> {
    let prefix = KeyNames::new("test").session_values("");
    let keys = pair.store.list_keys();
    let Some(key) = keys.iter().find(|key| key.starts_with(&prefix)) else { return Vec::new() };
    let fields = pair.store.fetch_fields(key.clone()).await.unwrap();
    fields.into_iter().map(|(name, value)| (name, String::from_utf8(value).unwrap())).collect()
}

async fn count_fields(pair: &Pair, start: &str) -> usize {
    stored_fields(pair).await.iter().filter(|(name, _)| name.starts_with(start)).count()
}

/// Waits for the message of a stream with this method.
async fn next_of(channel: &mut HttpReply, method: &str) -> Value {
    loop {
        let message = channel.event().await.expect("a message");
        if message["method"] == method {
            return message;
        }
    }
}

// G9 B93
#[tokio::test]
async fn subscriptions_log_level_and_roots_move_to_the_other_gateway_and_are_sealed() {
    let folder = tempfile::tempdir().unwrap();
    let started = Cell::new(0);
    let server = || {
        started.set(started.get() + 1);
        let log = folder.path().join(format!("log-{}", started.get()));
        logged(&["watched", "logging"], &log).with_option("--versions", "2025-11-25")
    };
    let pair = Pair::start(server).await;
    let (one, two) = (&pair.one.doors, &pair.two.doors);
    let id = one.initialize("2025-11-25", json!({ "roots": {} }), &[A]).await;
    let session = ("Mcp-Session-Id", id.as_str());
    let mut channel = one.send("GET /mcp", &[session, A, EVENTS], "").await;
    let question = next_of(&mut channel, "roots/list").await;
    let roots = json!({ "roots": [{ "uri": "file:///srv/secret" }] });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": roots });
    assert_eq!(one.post(&[session, A], &answer).await.status, 202);
    let listed = ask(one, session, &request(1, "resources/list", json!({}))).await;
    let resources = listed["result"]["resources"].as_array().unwrap();
    let uris: Vec<&Value> = resources.iter().map(|resource| &resource["uri"]).collect();
    let note =
        *uris.iter().find(|uri| uri.as_str().unwrap().contains("note")).unwrap_or_else(|| panic!("{listed}"));
    let level = json!({ "level": "debug" });
    for (doors, message) in [
        (one, request(2, "logging/setLevel", level)),
        (two, request(3, "resources/subscribe", json!({ "uri": note }))),
    ] {
        assert_eq!(ask(doors, session, &message).await["result"], json!({}));
    }
    for field in ["level", "roots", "subscription:"] {
        wait_until(async || count_fields(&pair, field).await == 1).await;
    }
    let text = format!("{:?}", stored_fields(&pair).await);
    for plain in ["note", "debug", "secret"] {
        assert!(!text.contains(plain), "{plain} in {text}");
    }
    drop(channel);
    // The stream of the client is read at the second gateway now.
    let mut channel = two.send("GET /mcp", &[session, A, EVENTS], "").await;
    let heard = Arc::<Mutex<BTreeSet<String>>>::default();
    let reading = tokio::spawn({
        let heard = Arc::clone(&heard);
        async move {
            while let Some(message) = channel.event().await {
                heard.lock().unwrap().extend(message["method"].as_str().map(str::to_owned));
            }
        }
    });
    wait_until(async || {
        let done = ask(two, session, &call(4, "one__echo", json!({ "message": "x" }))).await;
        assert_eq!(done["result"]["content"][0]["text"], "x", "{done}");
        heard.lock().unwrap().contains("notifications/resources/updated")
    })
    .await;
    // The servers of the second gateway have the level that was set at the first.
    wait_for_log(&folder.path().join("log-2"), "debug").await;
    reading.abort();
    let ended = ask(one, session, &request(5, "resources/unsubscribe", json!({ "uri": note }))).await;
    assert_eq!(ended["result"], json!({}));
    wait_until(async || count_fields(&pair, "subscription:").await == 0).await;
    assert_eq!(count_fields(&pair, "level").await, 1);
}

// G9 G2
#[tokio::test]
async fn tools_that_are_found_at_two_gateways_are_listed_at_both() {
    let chosen = PairOptions { defers: true, ..PairOptions::default() };
    let pair = Pair::start_with(|| ScriptedStdio::new(&[]), chosen).await;
    let id = pair.one.doors.initialize("2025-11-25", json!({}), &[A]).await;
    let session = ("Mcp-Session-Id", id.as_str());
    let both = [(&pair.one.doors, "select:one__echo"), (&pair.two.doors, "select:one__add")];
    for (doors, query) in both {
        let _first = ask(doors, session, &request(1, "tools/list", json!({}))).await;
        let found = ask(doors, session, &call(2, "ToolSearch", json!({ "query": query }))).await;
        assert_ne!(found["result"]["isError"], true, "{found}");
    }
    wait_until(async || count_fields(&pair, "found:").await >= 2).await;
    for (doors, _) in both {
        wait_until(async || {
            let listed = ask(doors, session, &request(3, "tools/list", json!({}))).await.to_string();
            listed.contains("one__echo") && listed.contains("one__add")
        })
        .await;
    }
}
