//! Servers that offer more than tools: resources that can be watched, and whatever a file says.

use crate::stdio_client::{Stdio, echo, modern, start};
use mcparley_testkit::Scripted;
use serde_json::json;

pub(crate) const WORDS: &[&str] = &["watched", "offers"];

#[test]
fn a_call_tells_that_the_resource_has_changed() {
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
fn in_the_new_era_it_is_told_on_the_stream_that_asked_for_it() {
    let mut server = Stdio::start(&Scripted::stdio(&["watched"]).with("--versions", "2026-07-28"));
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
fn what_a_file_has_for_a_method_is_the_answer() {
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
