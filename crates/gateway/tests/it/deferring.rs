//! Tools that do not fit: searched for, listed when found, and callable without being listed.

use mcparley::catalog::Budget;
use mcparley_testkit::log_lines;
use serde_json::{Value, json};

use crate::client::{Client, NEW};
use crate::world::{World, logged};

const VERSIONS: [&str; 2] = ["2025-11-25", NEW];

fn names(result: &Value) -> Vec<&str> {
    let tools = result["structuredContent"]["tools"].as_array().unwrap_or_else(|| panic!("{result}"));
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

// N10 G2
#[tokio::test]
async fn found_tools_join_the_list_of_the_searching_client() {
    let gateway = World::one().allow("mcp__one").within(Budget::always_defer());
    let mut other = Client::new(&gateway, "2025-11-25").await;
    other.tools().await;
    for version in VERSIONS {
        let mut client = Client::new(&gateway, version).await;
        let before = client.tools().await;
        assert!(
            before.contains(&"ToolSearch".to_owned()) && before.contains(&"CallTool".to_owned()),
            "{before:?}"
        );
        assert!(!before.iter().any(|name| name.starts_with("one__")), "{before:?}");
        let found = client.call("ToolSearch", json!({ "query": "repeat a message" })).await;
        assert!(names(&found).contains(&"one__echo"), "{found}");
        if version != NEW {
            client.next_of("notifications/tools/list_changed").await;
        }
        let after = client.tools().await;
        assert_eq!(after.get(..before.len()), Some(before.as_slice()), "what was shown has not moved");
        assert!(after.contains(&"one__echo".to_owned()), "{after:?}");
        let result = client.call("one__echo", json!({ "message": "found" })).await;
        assert_eq!(result["content"][0]["text"], "found");
    }
    assert!(!other.tools().await.contains(&"one__echo".to_owned()), "another client has found nothing");
}

// N10 P1 G2: the tool that is called is the one that is judged.
#[tokio::test]
async fn unlisted_tool_is_called_by_name_with_its_own_permission() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let world = World::with([("one", logged(&[], &log))]).allow("mcp__one__echo").allow("CallTool");
    let gateway = world.deny("mcp__one__fail").within(Budget::always_defer());
    for version in VERSIONS {
        let mut client = Client::new(&gateway, version).await;
        let mut inner = async |name: &str, arguments: Value| {
            let result = client.call("CallTool", json!({ "name": name, "arguments": arguments })).await;
            let text = result["content"][0]["text"].as_str().unwrap().to_owned();
            (result["isError"] == json!(true), text)
        };
        assert_eq!(inner("one__echo", json!({ "message": "inner" })).await, (false, "inner".to_owned()));
        let (failed, text) = inner("one__echo", json!({ "message": 7 })).await;
        assert!(failed && text.contains("/message"), "{text}");
        let (failed, text) = inner("one__add", json!({ "a": 1, "b": 2 })).await;
        assert!(failed && text.contains("the user can allow it"), "{text}");
        let (failed, text) = inner("one__fail", json!({})).await;
        assert!(failed && text.contains("there is no tool `one__fail`"), "{text}");
        let (failed, text) = inner("one__none", json!({})).await;
        assert!(failed && text.contains("there is no tool `one__none`"), "{text}");
        let (failed, text) = inner("CallTool", json!({ "name": "one__echo" })).await;
        assert!(failed && text.contains("there is no tool `CallTool`"), "{text}");
        for wrong in [json!({}), json!({ "name": 7 }), json!({ "name": "one__echo", "arguments": [] })] {
            assert_eq!(client.call("CallTool", wrong.clone()).await["isError"], true, "{wrong}");
        }
    }
    let called = log_lines(&log).iter().filter(|line| line.text.contains("tools/call")).count();
    assert_eq!(called, VERSIONS.len(), "only what was allowed has reached the server");
}

// N10
#[tokio::test]
async fn without_deferred_tools_no_search_tool_is_listed() {
    let gateway = World::one().within(Budget::without_limit());
    let tools = Client::new(&gateway, NEW).await.tools().await;
    assert!(tools.contains(&"one__echo".to_owned()), "{tools:?}");
    assert!(!tools.iter().any(|name| name == "ToolSearch" || name == "CallTool"), "{tools:?}");
}
