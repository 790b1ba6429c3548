//! Tests of servers that require client input before they answer, or refuse first.

use crate::stdio_client::{Stdio, echo, modern};
use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};

pub(crate) const WORDS: &[&str] = &["wants", "asks", "url-required", "refuse-version"];

fn new_era(script: &str, on: &str) -> Stdio {
    let scripted = ScriptedStdio::new(&[script]).with_option("--versions", "2026-07-28");
    Stdio::start(&scripted.with_option("--on", on).with_option("--times", "1"))
}

#[test]
fn new_era_call_returns_input_required_first() {
    for (kind, method) in [
        ("form", json!("elicitation/create")),
        ("url", json!("elicitation/create")),
        ("roots", json!("roots/list")),
        ("sampling", json!("sampling/createMessage")),
        ("bogus", json!("bogus/method")),
        ("state", Value::Null),
    ] {
        let mut server = new_era(&format!("wants:{kind}"), "tools/call");
        let wanted = server.ask("tools/call", &modern(echo()))["result"].take();
        assert_eq!(wanted["resultType"], "input_required", "{kind}");
        assert_eq!(wanted["inputRequests"]["it"]["method"], method);
        assert_eq!(wanted["requestState"], "after 7");
        let answered = server.ask("tools/call", &modern(echo()))["result"].take();
        assert_eq!(answered["resultType"], "complete", "only as often as `--times` says");
    }
}

#[test]
fn call_returns_url_elicitation_required() {
    let mut server = Stdio::start(&ScriptedStdio::new(&["url-required:https://a.example/x"]));
    server.greet();
    let error = server.ask("tools/call", &echo())["error"].take();
    assert_eq!(error["code"], -32042);
    assert_eq!(error["data"]["elicitations"][0]["url"], "https://a.example/x");
}

#[test]
fn supported_version_is_refused_by_script() {
    let mut server = new_era("refuse-version", "server/discover");
    let error = server.ask("server/discover", &modern(json!({})))["error"].take();
    assert_eq!((&error["code"], &error["data"]["supported"]), (&json!(-32022), &json!(["2026-07-28"])));
    let found = server.ask("server/discover", &modern(json!({})))["result"].take();
    assert_eq!(found["resultType"], "complete");
}

#[test]
fn call_asks_in_the_way_of_its_era() {
    for (kind, method) in [
        ("form", "elicitation/create"),
        ("url", "elicitation/create"),
        ("sampling", "sampling/createMessage"),
        ("roots", "roots/list"),
    ] {
        let mut server = Stdio::start(&ScriptedStdio::new(&[&format!("asks:{kind}")]));
        server.greet();
        server.request(7, "tools/call", &echo());
        let question = server.message();
        assert_eq!(question["method"], method, "{question}");
        server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "said": kind } }));
        let mut answer = server.message();
        while answer["id"] != 7 {
            answer = server.message();
        }
        assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains(kind), "{answer}");
        let mut server = new_era(&format!("asks:{kind}"), "tools/call");
        let wanted = server.ask("tools/call", &modern(echo()))["result"].take();
        let asked = wanted["inputRequests"].as_object().unwrap().values().next().unwrap();
        assert_eq!(asked["method"], method, "{wanted}");
    }
}
