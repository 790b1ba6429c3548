//! Tools, calls from a form, and the questions that such calls raise.

use mcparley::RunOptions;
use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};

use crate::browser::TestPage;

const ECHO: &str = "mcp__one__echo";

async fn open_connected(scripts: &[&str], run_options: RunOptions) -> TestPage {
    let server = ScriptedStdio::new(scripts);
    let page = TestPage::open_with(&[("one", server)], run_options, &[]).await;
    let mut events = page.events("/ui/events").await;
    events.wait_for("servers", |value| value["servers"][0]["state"] == "connected").await;
    page
}

// U6
#[tokio::test]
async fn tools_are_listed_with_their_signatures_and_described_with_their_schemas() {
    let page = open_connected(&[], RunOptions::default()).await;
    let listed = page.get("/ui/api/tools").await.json();
    let tools = listed["tools"].as_array().unwrap();
    let echo = tools.iter().find(|tool| tool["name"] == ECHO).unwrap();
    assert_eq!((echo["server"].as_str(), echo["tool"].as_str()), (Some("one"), Some("echo")));
    assert!(echo["signature"].as_str().unwrap().starts_with("echo(message: string"), "{echo}");
    assert!(echo.get("schema").is_none());
    let whole = page.get(&format!("/ui/api/tool?name={ECHO}")).await.json();
    assert_eq!(whole["schema"]["properties"]["message"]["type"], "string");
    assert_eq!(page.get("/ui/api/tool?name=nothing").await.status, 404);
    assert_eq!(page.get("/ui/api/tool").await.status, 400);
    page.close().await;
}

// U6
#[tokio::test]
async fn call_is_made_and_logged_with_its_outcome() {
    let page = open_connected(&[], RunOptions::default()).await;
    let mut events = page.events("/ui/events").await;
    let good = json!({ "name": ECHO, "arguments": { "message": "hello" } });
    let reply = page.post("/ui/api/call", &good).await.json();
    assert_eq!(
        reply["outcome"],
        json!({ "isError": false, "blocks": [{ "kind": "text", "text": "hello" }] })
    );
    let invalid = page.post("/ui/api/call", &json!({ "name": ECHO, "arguments": {} })).await.json();
    assert!(invalid["error"].as_str().unwrap().contains("message"), "{invalid}");
    let log = events.wait_for("calls", |log| log["finished"][0]["tool"] == "echo").await;
    let call = &log["finished"][0];
    assert_eq!((call["server"].as_str(), call["outcome"].as_str()), (Some("one"), Some("ok")));
    assert!(call["milliseconds"].as_f64().unwrap() > 0.0);
    assert_eq!(page.post("/ui/api/call", &json!({ "name": "nothing" })).await.status, 404);
    page.close().await;
}

/// Answers the first question that appears, and returns it with the reply of the call that asked.
async fn answer_first(page: &TestPage, answer: &Value) -> (Value, Value) {
    let mut events = page.events("/ui/events").await;
    let request = json!({ "name": ECHO, "arguments": { "message": "m" } });
    let call = page.post("/ui/api/call", &request);
    let answering = async {
        let open = events.wait_for("questions", |value| value["questions"][0].is_object()).await;
        let question = open["questions"][0].clone();
        let request = json!({ "id": question["id"], "answer": answer });
        let reply = page.post("/ui/api/answer", &request).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        events.wait_for("questions", |value| value["questions"] == json!([])).await;
        question
    };
    let (reply, question) = tokio::join!(call, answering);
    (question, reply.json())
}

// U6
#[tokio::test]
async fn permission_question_of_a_call_reaches_the_page() {
    let settings = json!({ "permissions": { "ask": ["mcp__one__echo"] } }).to_string();
    let asking = || RunOptions { settings: vec![settings.clone()], ..RunOptions::default() };
    let page = open_connected(&[], asking()).await;
    let (question, reply) = answer_first(&page, &json!({ "action": "allow" })).await;
    assert_eq!((question["kind"].as_str(), question["own"].as_bool()), (Some("permission"), Some(true)));
    assert_eq!(question["details"]["permission"]["arguments"], json!({ "message": "m" }));
    assert_eq!(reply["outcome"]["blocks"][0]["text"], "m");
    let (_, reply) = answer_first(&page, &json!({ "action": "deny", "message": "not today" })).await;
    assert!(reply["error"].as_str().unwrap().contains("not today"), "{reply}");
    page.close().await;
}

// U6
#[tokio::test]
async fn form_of_a_server_is_answered_on_the_page() {
    let page = open_connected(&["asks:form"], RunOptions::default()).await;
    let (question, reply) = answer_first(&page, &json!({ "action": "decline" })).await;
    assert_eq!(question["kind"], "form");
    assert!(question["details"]["form"]["requestedSchema"].is_object(), "{question}");
    assert!(reply["outcome"]["blocks"][0]["text"].as_str().unwrap().contains("decline"), "{reply}");
    page.close().await;
}

// U6
#[tokio::test]
async fn sampling_request_is_answered_by_the_person_at_the_page() {
    let page = open_connected(&["asks:sampling"], RunOptions::default()).await;
    let result = json!({ "role": "assistant", "model": "a person", "content": { "type": "text", "text": "forty-two" } });
    let (question, reply) = answer_first(&page, &json!({ "action": "accept", "content": result })).await;
    assert_eq!(question["kind"], "sampling");
    assert!(reply["outcome"]["blocks"][0]["text"].as_str().unwrap().contains("forty-two"), "{reply}");
    page.close().await;
}

// U6
#[tokio::test]
async fn answer_that_does_not_fit_leaves_the_question_open() {
    let page = open_connected(&["asks:form"], RunOptions::default()).await;
    let mut events = page.events("/ui/events").await;
    let request = json!({ "name": ECHO, "arguments": { "message": "m" } });
    let call = page.post("/ui/api/call", &request);
    let answering = async {
        let open = events.wait_for("questions", |value| value["questions"][0].is_object()).await;
        let id = open["questions"][0]["id"].clone();
        let wrong = page.post("/ui/api/answer", &json!({ "id": id, "answer": { "action": "allow" } })).await;
        assert_eq!(wrong.status, 409, "{wrong:?}");
        let right = page.post("/ui/api/answer", &json!({ "id": id, "answer": { "action": "cancel" } })).await;
        assert_eq!(right.status, 200);
        let late = page.post("/ui/api/answer", &json!({ "id": id, "answer": { "action": "cancel" } })).await;
        assert_eq!(late.status, 409, "{late:?}");
    };
    tokio::join!(call, answering);
    page.close().await;
}

// U6
#[tokio::test]
async fn question_of_another_gateway_of_the_user_is_answered_here() {
    let page = open_connected(&["asks:form"], RunOptions::default()).await;
    let other = TestPage::open_beside(&page).await;
    let mut events = other.events("/ui/events").await;
    let request = json!({ "name": ECHO, "arguments": { "message": "m" } });
    let call = page.post("/ui/api/call", &request);
    let answering = async {
        let open = events.wait_for("questions", |value| value["questions"][0].is_object()).await;
        let question = &open["questions"][0];
        assert_eq!((question["own"].as_bool(), question["kind"].as_str()), (Some(false), Some("form")));
        let answer = json!({ "id": question["id"], "answer": { "action": "decline" } });
        assert_eq!(other.post("/ui/api/answer", &answer).await.status, 200);
        events.wait_for("questions", |value| value["questions"] == json!([])).await;
    };
    let (reply, ()) = tokio::join!(call, answering);
    assert!(reply.json()["outcome"]["blocks"][0]["text"].as_str().unwrap().contains("decline"), "{reply:?}");
    other.close().await;
    page.close().await;
}
