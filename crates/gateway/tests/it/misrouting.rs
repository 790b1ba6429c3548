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

/// Gets a prompt whose server asks for a name, answers with this name, and returns the answer as text.
async fn get_prompt_and_answer(client: &mut Client, name: &str) -> String {
    let prompt = json!({ "name": "one__greet" });
    let reply = json!({ "action": "accept", "content": { "name": name } });
    if client.version == NEW {
        let asked = client.ask("prompts/get", prompt.clone()).await["result"].clone();
        let requests = asked["inputRequests"].as_object().unwrap_or_else(|| panic!("{asked}"));
        let key = requests.keys().next().unwrap().clone();
        let mut again = prompt;
        again["inputResponses"] = json!({ key.as_str(): reply });
        again["requestState"] = asked["requestState"].clone();
        return client.ask("prompts/get", again).await.to_string();
    }
    let id = client.begin("prompts/get", prompt).await;
    let question = client.next_of("elicitation/create").await;
    client.reply(&question["id"], reply).await;
    client.answer(&id).await.to_string()
}

// G3 X5 F95 H20: prompts and reads of several clients wait for each other like calls.
#[tokio::test]
async fn two_clients_whose_prompts_ask_at_once_each_answer_their_own_question() {
    for versions in PAIRS {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let server = ScriptedStdio::new(&["asks:form"]).with_option("--versions", "2025-11-25");
        let server = server.with_option("--on", "prompts/get").with_log(&log);
        let gateway = World::with([("one", server)]).allow("mcp__one").gateway();
        let mut ada = Client::greeting(&gateway, versions[0], can_ask()).await;
        let mut grace = Client::greeting(&gateway, versions[1], can_ask()).await;
        ada.tools().await;
        grace.tools().await;
        for _ in 0..2 {
            let both = tokio::join!(
                get_prompt_and_answer(&mut ada, "Ada"),
                get_prompt_and_answer(&mut grace, "Grace")
            );
            assert!(both.0.contains("messages") && both.1.contains("messages"), "{versions:?}: {both:?}");
        }
        let got = std::fs::read_to_string(&log).unwrap();
        let answers = [got.matches("\"name\":\"Ada\"").count(), got.matches("\"name\":\"Grace\"").count()];
        assert_eq!(answers, [2, 2], "{versions:?}: no question was canceled");
    }
}

// G3: the answer to such a request cannot have questions.
#[tokio::test]
async fn question_during_a_completion_is_refused_at_once() {
    let server = ScriptedStdio::new(&["asks:form"]).with_option("--versions", "2025-11-25");
    let gateway = World::with([("one", server.with_option("--on", "completion/complete"))]).gateway();
    let mut client = Client::greeting(&gateway, NEW, can_ask()).await;
    client.tools().await;
    let params = json!({
        "ref": { "type": "ref/prompt", "name": "one__greet" }, "argument": { "name": "name", "value": "a" },
    });
    let begun = tokio::time::Instant::now();
    let done = client.ask("completion/complete", params).await;
    assert!(done.get("result").or(done.get("error")).is_some(), "{done}");
    assert!(begun.elapsed() < std::time::Duration::from_secs(10), "not the time limit of the request");
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
