//! Tools that are denied: to a client they do not exist.

use mcparley_testkit::log_lines;
use serde_json::json;

use crate::client::{Client, NEW};
use crate::world::{World, logged};

// B94 H21
#[tokio::test]
async fn a_denied_tool_is_neither_listed_nor_called_and_looks_like_none() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let world = World::with([("one", logged(&[], &log))]).allow("mcp__one").deny("mcp__one__add");
    let gateway = world.deny("mcp__one__echo(message:secret*)").gateway();
    for version in ["2025-11-25", NEW] {
        let mut client = Client::new(&gateway, version).await;
        let tools = client.tools().await;
        assert!(!tools.contains(&"mcp__one__add".to_owned()) && tools.contains(&"mcp__one__echo".to_owned()));
        let denied = client
            .ask("tools/call", json!({ "name": "mcp__one__add", "arguments": { "a": 1, "b": 2 } }))
            .await;
        let unknown = client.ask("tools/call", json!({ "name": "mcp__one__abd", "arguments": {} })).await;
        assert_eq!(denied["error"]["code"], unknown["error"]["code"], "{denied}");
        assert_eq!(denied["error"]["message"], "there is no tool `mcp__one__add`");
        // What only some arguments are denied of is there, and says so.
        let result = client.call("mcp__one__echo", json!({ "message": "secret plan" })).await;
        assert_eq!(result["isError"], true);
        assert!(result["content"][0]["text"].as_str().unwrap().contains("denied"), "{result}");
    }
    assert!(!log_lines(&log).iter().any(|line| line.text.contains("tools/call")));
}
