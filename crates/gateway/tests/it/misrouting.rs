//! Messages of shared servers: each reaches the client of its call, whatever its ids are.

use mcparley_gateway::Gateway;
use mcparley_testkit::{HttpServer, ScriptedStdio};
use serde_json::{Value, json};

use crate::client::{Client, NEW};
use crate::world::World;

const QUESTION: &str = "server-request:elicitation/create";

fn can_ask() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} } })
}

/// Calls a tool whose server asks for a name, answers with this name, and returns the text of the result.
async fn call_and_answer(client: &mut Client, name: &str) -> String {
    let echo = json!({ "name": "one__echo", "arguments": { "message": name } });
    let reply = json!({ "action": "accept", "content": { "name": name } });
    let result = if client.version == NEW {
        let asked = client.ask("tools/call", echo.clone()).await["result"].clone();
        let (key, _) =
            asked["inputRequests"].as_object().unwrap_or_else(|| panic!("{asked}")).iter().next().unwrap();
        let mut again = echo;
        again["inputResponses"] = json!({ key.as_str(): reply });
        again["requestState"] = asked["requestState"].clone();
        client.ask("tools/call", again).await
    } else {
        let id = client.begin("tools/call", echo).await;
        let question = client.next_of("elicitation/create").await;
        client.reply(&question["id"], reply).await;
        client.answer(&id).await
    };
    result["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
}

async fn assert_both_get_their_own(gateway: &Gateway, versions: [&str; 2], case: &str) {
    let mut ada = Client::greeting(gateway, versions[0], can_ask()).await;
    let mut grace = Client::greeting(gateway, versions[1], can_ask()).await;
    ada.tools().await;
    grace.tools().await;
    // Twice: the first time nothing is known about the tool.
    for _ in 0..2 {
        let (of_ada, of_grace) =
            tokio::join!(call_and_answer(&mut ada, "Ada"), call_and_answer(&mut grace, "Grace"));
        assert!(of_ada.contains("Ada") && !of_ada.contains("Grace"), "{case} {versions:?}: {of_ada}");
        assert!(of_grace.contains("Grace") && !of_grace.contains("Ada"), "{case} {versions:?}: {of_grace}");
    }
}

const PAIRS: [[&str; 2]; 4] =
    [["2025-11-25", "2025-11-25"], [NEW, NEW], ["2025-11-25", NEW], [NEW, "2025-06-18"]];

// G3 X5 F95 H20
#[tokio::test]
async fn two_clients_that_one_http_server_asks_at_once_each_answer_their_own_question() {
    let server = HttpServer::start_with(&[QUESTION], &["--versions", "2025-11-25", "--answer", "sse"]);
    for versions in PAIRS {
        let gateway = World::with_url("one", server.url()).allow("mcp__one").gateway();
        assert_both_get_their_own(&gateway, versions, "http").await;
    }
}

// G3 X5 F95 H20: the server does not say which call its question belongs to.
#[tokio::test]
async fn two_clients_that_one_stdio_server_asks_at_once_each_answer_their_own_question() {
    for versions in PAIRS {
        let server = ScriptedStdio::new(&[QUESTION]).with_option("--versions", "2025-11-25");
        let gateway = World::with([("one", server)]).allow("mcp__one").gateway();
        assert_both_get_their_own(&gateway, versions, "stdio").await;
    }
}
