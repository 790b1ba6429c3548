//! Tests of servers that offer more than tools: resource subscriptions, and offers from a file.

use crate::stdio_client::{Stdio, echo, modern, start};
use mcparley_testkit::ScriptedStdio;
use serde_json::json;

pub(crate) const WORDS: &[&str] = &["watched", "offers", "changed-before-listen"];

#[test]
fn call_sends_resource_updated_notification() {
    let mut server = start(&["watched"]);
    server.greet();
    assert_eq!(server.ask("resources/subscribe", &json!({ "uri": "test://note" }))["result"], json!({}));
    server.request(9, "tools/call", &echo());
    let told = server.message();
    assert_eq!(told["method"], "notifications/resources/updated");
    assert_eq!(told["params"]["uri"], "test://note");
    assert_eq!(server.message()["id"], 9);
}

#[test]
fn new_era_sends_resource_updated_on_subscription_stream() {
    let mut server = Stdio::start(&ScriptedStdio::new(&["watched"]).with_option("--versions", "2026-07-28"));
    let wanted = json!({ "notifications": { "resourceSubscriptions": ["test://note"] } });
    server.request(5, "subscriptions/listen", &modern(wanted));
    let taken = server.message();
    assert_eq!(taken["params"]["notifications"], json!({ "resourceSubscriptions": ["test://note"] }));
    server.request(9, "tools/call", &modern(echo()));
    let told = server.message();
    assert_eq!(told["method"], "notifications/resources/updated");
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 5);
}

#[test]
fn description_changes_without_an_announcement_before_the_subscription() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("description");
    let script = format!("described:{}", file.display());
    let server = ScriptedStdio::new(&[&script, "changed-before-listen:new words"]);
    let mut server = Stdio::start(&server.with_option("--versions", "2026-07-28"));
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    server.request(5, "subscriptions/listen", &modern(wanted));
    assert_eq!(server.message()["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "new words");
}

#[test]
fn offers_file_provides_the_answer_for_a_method() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("offers");
    let offers = json!({
        "prompts/list": { "prompts": [] },
        "resources/read": { "a:b": { "contents": [1] }, "c:d": { "contents": [2] } },
    });
    std::fs::write(&file, offers.to_string()).unwrap();
    let mut server = start(&[&format!("offers:{}", file.display())]);
    server.greet();
    assert_eq!(server.ask("prompts/list", &json!({}))["result"], json!({ "prompts": [] }));
    let read = server.ask("resources/read", &json!({ "uri": "c:d" }))["result"].take();
    assert_eq!(read, json!({ "contents": [2] }));
}
