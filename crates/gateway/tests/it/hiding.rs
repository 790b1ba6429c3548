//! Tools that are denied: to a client they do not exist.

use mcparley_testkit::{ScriptedStdio, log_lines};
use serde_json::json;

use crate::client::{Client, NEW};
use crate::door::OpenDoors;
use crate::world::{World, logged};

// B94 H21
#[tokio::test]
async fn denied_tool_is_neither_listed_nor_called_and_looks_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let world = World::with([("one", logged(&[], &log))]).allow("mcp__one").deny("mcp__one__add");
    let gateway = world.deny("mcp__one__echo(message:secret*)").gateway();
    for version in ["2025-11-25", NEW] {
        let mut client = Client::new(&gateway, version).await;
        let tools = client.tools().await;
        assert!(!tools.contains(&"one__add".to_owned()) && tools.contains(&"one__echo".to_owned()));
        let denied =
            client.ask("tools/call", json!({ "name": "one__add", "arguments": { "a": 1, "b": 2 } })).await;
        let unknown = client.ask("tools/call", json!({ "name": "one__abd", "arguments": {} })).await;
        assert_eq!(denied["error"]["code"], unknown["error"]["code"], "{denied}");
        let message = denied["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("there is no tool `one__add`\n"), "{message}");
        // A tool that is denied only for some arguments is listed, and the denial is visible.
        let result = client.call("one__echo", json!({ "message": "secret plan" })).await;
        assert_eq!(result["isError"], true);
        assert!(result["content"][0]["text"].as_str().unwrap().contains("denied"), "{result}");
    }
    assert!(!log_lines(&log).iter().any(|line| line.text.contains("tools/call")));
}

// N14 B127
#[tokio::test]
async fn a_tool_for_apps_is_listed_only_to_clients_that_show_apps() {
    let server = ScriptedStdio::new(&["app-tool:panel"]);
    let gateway = World::with([("one", server)]).allow("mcp__one").gateway();
    let apps = json!({ "extensions": { "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html"] } } });
    for version in ["2025-11-25", NEW] {
        let mut client = Client::new(&gateway, version).await;
        let tools = client.tools().await;
        assert!(!tools.contains(&"one__panel".to_owned()), "{version}: {tools:?}");
        assert!(tools.contains(&"one__echo".to_owned()), "{version}: {tools:?}");
        let unseen = client.ask("tools/call", json!({ "name": "one__panel", "arguments": {} })).await;
        let message = unseen["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("there is no tool `one__panel`\n"), "{version}: {message}");
        let search = client.call("ToolSearch", json!({ "query": "panel" })).await;
        assert!(!search["content"][0]["text"].as_str().unwrap().contains("__panel"), "{version}: {search}");

        let mut client = Client::greeting(&gateway, version, apps.clone()).await;
        let list = client.ask("tools/list", json!({})).await["result"]["tools"].clone();
        let panel = list.as_array().unwrap().iter().find(|tool| tool["name"] == "one__panel");
        // Its page is a resource, with an address that the gateway can route.
        let ui = json!({ "resourceUri": "ui://one+panel/main", "visibility": ["app"] });
        assert_eq!(panel.unwrap()["_meta"]["ui"], ui, "{version}: {list}");
    }
}

// N14 B127: both clients have one token, and so one session of the new era.
#[tokio::test]
async fn client_with_apps_changes_nothing_for_another_one_of_its_principal() {
    let server = ScriptedStdio::new(&["app-tool:panel"]);
    let gateway = World::with([("one", server)]).allow("mcp__one").gateway();
    let doors = OpenDoors::open_plain(&gateway).await;
    let apps = json!({ "extensions": { "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html"] } } });
    for (capabilities, is_shown) in [(&apps, true), (&json!({}), false), (&apps, true), (&json!({}), false)] {
        let list = doors.post_capable(&[], "tools/list", json!({}), capabilities).await.json().await;
        let tools = list["result"]["tools"].as_array().unwrap();
        assert_eq!(tools.iter().any(|tool| tool["name"] == "one__panel"), is_shown, "{list}");
    }
}
