//! The folders that servers behind the gateway are told to work in: those of its client.

use mcparley_testkit::{ScriptedStdio, log_lines};
use serde_json::{Value, json};

use crate::client::{Client, NEW};
use crate::world::{Served, World, logged};

/// A server that requests roots in every call and answers with them.
fn gateway() -> Served {
    let server = ScriptedStdio::new(&["server-request:roots/list"]).with_option("--versions", "2025-11-25");
    World::with([("one", server)]).allow("mcp__one").gateway()
}

fn echo() -> Value {
    json!({ "name": "one__echo", "arguments": { "message": "hi" } })
}

/// The roots that the server received.
fn told(answer: &Value) -> String {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

// X6
#[tokio::test]
async fn servers_get_the_clients_roots_and_their_changes() {
    let gateway = gateway();
    let mut client =
        Client::greeting(&gateway, "2025-11-25", json!({ "roots": { "listChanged": true } })).await;
    for folder in ["file:///srv/one", "file:///srv/two"] {
        let id = client.begin("tools/call", echo()).await;
        let question = client.next_of("roots/list").await;
        client
            .reply(
                &question["id"],
                json!({ "roots": [{ "uri": folder, "name": "it" }, { "uri": "file:///" }] }),
            )
            .await;
        let told = told(&client.answer(&id).await);
        let expected = format!(r#""roots":[{{"uri":"{folder}","name":"it"}}]"#);
        assert!(told.contains(&expected), "all but `/`: {told}");
        client.tell("notifications/roots/list_changed", None).await;
    }
}

// X6
#[tokio::test]
async fn client_without_roots_has_none() {
    let gateway = gateway();
    let mut client = Client::new(&gateway, "2025-11-25").await;
    let answer = client.ask("tools/call", echo()).await;
    assert!(told(&answer).contains(r#""roots":[]"#), "{answer}");
    assert!(client.heard.iter().all(|message| message["method"] != "roots/list"), "nobody asked it");
}

// X6 G8: the roots of one client are hidden from another.
#[tokio::test]
async fn clients_with_different_roots_share_none() {
    let gateway = gateway();
    let mut one = Client::greeting(&gateway, "2025-11-25", json!({ "roots": {} })).await;
    let question = one.next_of("roots/list").await;
    one.reply(&question["id"], json!({ "roots": [{ "uri": "file:///srv/one" }] })).await;
    assert!(told(&one.ask("tools/call", echo()).await).contains("file:///srv/one"));
    let mut other = Client::new(&gateway, "2025-11-25").await;
    assert!(told(&other.ask("tools/call", echo()).await).contains(r#""roots":[]"#));
    other.hang_up().await;
    assert!(told(&one.ask("tools/call", echo()).await).contains("file:///srv/one"));
}

// X6 G8: a server of the new era asks on behalf of one call.
#[tokio::test]
async fn server_that_asks_in_its_answer_gets_the_roots_of_the_calls_own_client() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let server = logged(&["wants:roots"], &log).with_option("--versions", NEW);
    let gateway = World::with([("one", server)]).allow("mcp__one").gateway();
    let mut clients = Vec::new();
    for uri in ["file:///srv/one", "file:///srv/two"] {
        let mut client = Client::greeting(&gateway, "2025-11-25", json!({ "roots": {} })).await;
        let question = client.next_of("roots/list").await;
        client.reply(&question["id"], json!({ "roots": [{ "uri": uri }] })).await;
        clients.push((client, uri));
    }
    for (client, uri) in &mut clients {
        let before = log_lines(&log).len();
        client.ask("tools/call", echo()).await;
        let lines = log_lines(&log);
        let told = lines.iter().skip(before).find(|line| line.text.contains("inputResponses")).unwrap();
        let expected = format!(r#""roots":[{{"uri":"{uri}"}}]"#);
        assert!(told.text.contains(&expected), "{}", told.text);
    }
}
