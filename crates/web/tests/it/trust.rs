//! Items of a project folder that wait for approval.

use mcparley::RunOptions;
use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};

use crate::browser::TestPage;

// U6
#[tokio::test]
async fn items_of_the_folder_are_approved_and_rejected_one_by_one() {
    let server = ScriptedStdio::new(&[]);
    let entry = json!({ "command": server.program, "args": server.args });
    let servers = json!({ "mcpServers": { "mine": entry, "theirs": entry } }).to_string();
    let settings = json!({ "permissions": { "allow": ["mcp__mine"] } }).to_string();
    let files = [
        ("home/project/.mcp.json", servers.as_str()),
        ("home/project/.claude/settings.json", settings.as_str()),
    ];
    let page = TestPage::open_with(&[], RunOptions::default(), &files).await;
    let mut events = page.events("/ui/events").await;
    let waiting = events.wait_for("trust", |value| value["items"].as_array().unwrap().len() == 3).await;
    let id = |word: &str| -> Value {
        let items = waiting["items"].as_array().unwrap();
        items.iter().find(|item| item["summary"].as_str().unwrap().starts_with(word)).unwrap()["id"].clone()
    };
    let stale = json!({ "decision": "approve", "items": ["servers/mine/sha256:0"] });
    assert_eq!(page.post("/ui/api/trust", &stale).await.status, 409);
    let approve = json!({ "decision": "approve", "items": [id("mine")] });
    assert_eq!(page.post("/ui/api/trust", &approve).await.json()["message"], "Approved 1 item");
    events.wait_for("trust", |value| value["items"].as_array().unwrap().len() == 2).await;
    let reject = json!({ "decision": "reject", "items": [id("theirs"), id("mcp__mine")] });
    assert_eq!(page.post("/ui/api/trust", &reject).await.json()["message"], "Rejected 2 items");
    events.wait_for("trust", |value| value["items"] == json!([])).await;
    let mut events = page.events("/ui/events").await;
    let state = |value: &Value, name: &str| {
        let servers = value["servers"].as_array().unwrap();
        servers.iter().find(|server| server["name"] == name).unwrap()["state"].clone()
    };
    let settled = |value: &Value| state(value, "mine") == "connected" && state(value, "theirs") == "off";
    events.wait_for("servers", settled).await;
    page.close().await;
}
