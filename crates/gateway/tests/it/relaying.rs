//! Requests of servers that are relayed to clients, beside those of the era matrix.

use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};

use crate::client::{Client, NEW};
use crate::world::World;

/// The capabilities of a client; one of the new era has roots, which it is asked for in a call only.
fn everything(version: &str) -> Value {
    let mut capabilities = json!({ "elicitation": { "form": {}, "url": {} }, "sampling": { "tools": {} } });
    if version == NEW {
        capabilities["roots"] = json!({});
    }
    capabilities
}

fn echo() -> Value {
    json!({ "name": "one__echo", "arguments": { "message": "x" } })
}

// G3 X6
#[tokio::test]
async fn server_is_told_what_its_client_cannot_answer() {
    let server = ScriptedStdio::new(&["server-request:sampling/createMessage"]);
    let gateway = World::with([("one", server)]).allow("mcp__one").gateway();
    for version in ["2025-11-25", NEW] {
        let mut client = Client::greeting(&gateway, version, json!({ "elicitation": {} })).await;
        let answer = client.ask("tools/call", echo()).await;
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("-32601"), "{version}: {text}");
    }
}

// G3: the state and the keys of a server of the new era pass a client of that era unchanged.
#[tokio::test]
async fn new_client_gets_the_input_requests_of_a_new_server_with_its_keys() {
    let server =
        ScriptedStdio::new(&["wants:state"]).with_option("--versions", NEW).with_option("--times", "1");
    let gateway = World::with([("one", server)]).allow("mcp__one").gateway();
    let mut client = Client::greeting(&gateway, NEW, everything(NEW)).await;
    let asked = client.ask("tools/call", echo()).await["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let mut again = echo();
    again["requestState"] = asked["requestState"].clone();
    let result = client.ask("tools/call", again).await["result"].clone();
    assert_eq!(result["resultType"], "complete", "{result}");
}
