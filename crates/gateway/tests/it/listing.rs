//! The list of tools: whole, in pages, in one order.

use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};

use crate::client::{Client, NEW};
use crate::world::World;

// G1 N11
#[tokio::test]
async fn a_large_list_comes_in_pages_and_every_tool_once() {
    let many = ScriptedStdio::new(&["many-tools:2500"]);
    let gateway = World::with([("many", many)]).gateway();
    for version in ["2025-11-25", NEW] {
        let mut client = Client::new(&gateway, version).await;
        let (mut names, mut params, mut pages) = (Vec::new(), json!({}), 0);
        loop {
            let result = client.ask("tools/list", params).await["result"].clone();
            let tools = result["tools"].as_array().unwrap().iter().map(|tool| tool["name"].to_string());
            names.extend(tools.filter(|name| name.starts_with("\"many__")));
            pages += 1;
            match result.get("nextCursor") {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => break,
            }
        }
        assert!(pages >= 3, "{pages}");
        let mut once = names.clone();
        once.sort();
        once.dedup();
        assert_eq!((names.len(), once.len()), (2500, 2500), "{version}");
    }
}

// G1
#[tokio::test]
async fn unknown_cursor_is_rejected() {
    let gateway = World::one().gateway();
    let mut client = Client::new(&gateway, "2025-11-25").await;
    for cursor in
        [json!("x"), json!(7), json!("-1:a"), json!("900:gone"), json!({}), json!("99999999999999999999:a")]
    {
        let answer = client.ask("tools/list", json!({ "cursor": cursor })).await;
        assert_eq!(answer["error"]["code"], -32602, "{cursor}");
    }
}

// N8 N11 G1: clients read a list as a whole, and each schema is checked on the way.
#[tokio::test]
async fn bad_tool_is_skipped_alone_and_all_clients_get_the_same_list() {
    let gateway =
        World::with([("bad", ScriptedStdio::new(&["bad-tools"])), ("good", ScriptedStdio::new(&[]))])
            .gateway();
    let mut lists: Vec<Value> = Vec::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", NEW] {
        let mut client = Client::new(&gateway, version).await;
        let list = client.ask("tools/list", json!({})).await["result"]["tools"].clone();
        assert!(list.as_array().unwrap().iter().any(|tool| tool["name"] == "good__echo"), "{version}");
        lists.push(list);
    }
    assert!(lists.windows(2).all(|pair| pair[0] == pair[1]));
}
