//! The folders that servers behind the gateway are told to work in: those of its client.

use mcparley_testkit::Scripted;
use serde_json::{Value, json};

use crate::client::Client;
use crate::world::{Served, World};

/// A server that asks for its roots in every call and answers with what it hears.
fn gateway() -> Served {
    let server = Scripted::stdio(&["server-request:roots/list"]).with("--versions", "2025-11-25");
    World::with([("one", server)]).allow("mcp__one").gateway()
}

fn echo() -> Value {
    json!({ "name": "mcp__one__echo", "arguments": { "message": "hi" } })
}

/// What the server was told.
fn told(answer: &Value) -> String {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

// X6
#[tokio::test]
async fn servers_are_told_the_roots_of_the_client_and_hear_when_they_change() {
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
async fn client_without_roots_gives_none() {
    let gateway = gateway();
    let mut client = Client::new(&gateway, "2025-11-25").await;
    let answer = client.ask("tools/call", echo()).await;
    assert!(told(&answer).contains(r#""roots":[]"#), "{answer}");
    assert!(client.heard.iter().all(|message| message["method"] != "roots/list"), "nobody asked it");
}

// X6 G8: what one client works in is nothing to another.
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
