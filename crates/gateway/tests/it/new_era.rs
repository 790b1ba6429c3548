//! Clients without a handshake: each request names its protocol version.

use mcparley_testkit::ScriptedStdio;
use serde_json::json;

use crate::client::{Client, NEW};
use crate::world::World;

// G1 G2
#[tokio::test]
async fn a_client_of_the_new_era_discovers_lists_and_calls() {
    for behind in ["2024-11-05", "2025-11-25", "2026-07-28"] {
        let server = ScriptedStdio::new(&[]).with_option("--versions", behind);
        let gateway = World::with([("one", server)]).allow("mcp__one").gateway();
        let mut client = Client::new(&gateway, NEW).await;
        let result = client.ask("server/discover", json!({})).await["result"].clone();
        assert_eq!(result["supportedVersions"][0], NEW);
        assert_eq!(result["cacheScope"], "private");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "mcparley");
        let list = client.ask("tools/list", json!({})).await["result"].clone();
        assert_eq!((&list["resultType"], &list["cacheScope"]), (&json!("complete"), &json!("private")));
        let result = client.call("one__echo", json!({ "message": "hi" })).await;
        assert_eq!(
            (&result["resultType"], &result["content"][0]["text"]),
            (&json!("complete"), &json!("hi"))
        );
        let result = client.call("one__fail", json!({})).await;
        assert_eq!(
            (&result["resultType"], &result["isError"]),
            (&json!("complete"), &json!(true)),
            "{behind}"
        );
    }
}

// G1
#[tokio::test]
async fn incomplete_request_is_rejected_as_the_schema_says() {
    let gateway = World::one().gateway();
    let mut client = Client::silent(&gateway, NEW);
    let mut ask = async |meta: serde_json::Value| {
        client
            .say(
                json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } })
                    .to_string(),
            )
            .await;
        client.answer(&json!(1)).await["error"].clone()
    };
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    for unknown in ["1900-01-01", "2025-11-25"] {
        let error = ask(json!({ version: unknown, capabilities: {} })).await;
        assert_eq!(error["code"], -32022, "{error}");
        assert_eq!(error["data"]["requested"], unknown);
        assert_eq!(error["data"]["supported"][0], NEW);
    }
    assert_eq!(ask(json!({ version: NEW })).await["code"], -32602);
    assert_eq!(ask(json!({ version: NEW, capabilities: 7 })).await["code"], -32602);
    assert_eq!(ask(json!({ version: 7, capabilities: {} })).await["code"], -32602);
    assert_eq!(ask(json!([])).await["code"], -32602);
    assert_eq!(ask(json!({})).await["code"], -32600, "nothing was agreed on");
}

// G1
#[tokio::test]
async fn methods_of_the_old_era_are_unknown_in_the_new_era() {
    let gateway = World::one().gateway();
    let mut client = Client::new(&gateway, NEW).await;
    for method in ["ping", "logging/setLevel", "resources/subscribe"] {
        assert_eq!(client.ask(method, json!({ "level": "info" })).await["error"]["code"], -32601, "{method}");
    }
    let mut old = Client::new(&gateway, "2025-11-25").await;
    assert_eq!(
        old.ask("subscriptions/listen", json!({ "notifications": {} })).await["error"]["code"],
        -32601
    );
}

// G1
#[tokio::test]
async fn one_connection_may_use_both_eras() {
    let gateway = World::one().allow("mcp__one").gateway();
    let mut client = Client::new(&gateway, "2025-06-18").await;
    let old = client.call("one__echo", json!({ "message": "old" })).await;
    assert!(old.get("resultType").is_none(), "{old}");
    client.version = NEW.to_owned();
    let new = client.call("one__echo", json!({ "message": "new" })).await;
    assert_eq!(new["resultType"], "complete");
    client.version = "2025-06-18".to_owned();
    let old = client.call("one__echo", json!({ "message": "old" })).await;
    assert!(old.get("resultType").is_none(), "{old}");
}
