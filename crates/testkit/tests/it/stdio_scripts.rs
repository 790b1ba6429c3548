//! Tests of the scripts about bytes around messages, and that every script has a test.

use crate::stdio_client::{HI, start};
use crate::{
    http_scripts, socket, stdio_beside, stdio_damage, stdio_greeting, stdio_life, stdio_offers, stdio_wants,
};
use mcparley_testkit::SCRIPTS;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

const WORDS: &[&str] = &[
    "noise",
    "banner",
    "chatter",
    "bom",
    "crlf",
    "batch",
    "split-reply",
    "stderr-flood",
    "flood",
    "list-changed-storm",
    "progress-storm",
    "server-request",
    "listen-end",
    "also-tool",
    "app-tool",
    "described",
    "notice",
];

#[test]
fn every_script_is_tested() {
    let beside = [stdio_beside::WORDS, stdio_offers::WORDS, stdio_wants::WORDS].concat();
    let tested = [WORDS, stdio_life::WORDS, &beside, socket::WORDS].concat().into_iter();
    let tested =
        tested.chain(stdio_damage::words()).chain(stdio_greeting::words()).chain(http_scripts::words());
    let tested: BTreeSet<&str> = tested.map(|word| word.split(':').next().unwrap()).collect();
    let named: BTreeSet<&str> = SCRIPTS.iter().map(|script| script.word).collect();
    assert_eq!(tested, named);
}

#[test]
fn noise_has_its_size_and_ends_before_handshake() {
    let mut server = start(&["noise:1"]);
    server.request(1, "initialize", &json!({}));
    let mut size = 0;
    loop {
        let line = server.line().unwrap();
        if serde_json::from_slice::<Value>(&line).is_ok() {
            break;
        }
        size += line.len() + 1;
    }
    assert_eq!(size, 1024 * 1024);
}

#[test]
fn banner_contains_all_kinds_of_non_messages() {
    let mut server = start(&["banner"]);
    server.request(1, "initialize", &json!({}));
    let mut lines = Vec::new();
    loop {
        let line = server.line().unwrap();
        if line.starts_with(br#"{"jsonrpc":"2.0","id":1,"#) {
            break;
        }
        lines.push(String::from_utf8(line).unwrap());
    }
    for part in ["Starting", "\u{1b}[32m", "Content-Length: 86\r"] {
        assert!(lines.iter().any(|line| line.contains(part)), "{part}");
    }
    assert!(lines.contains(&String::new()) && lines.contains(&"\r".to_owned()));
}

#[test]
fn chatter_surrounds_every_message() {
    let mut server = start(&["chatter"]);
    for id in 1..3 {
        server.request(id, "initialize", &json!({}));
    }
    let mut order = String::new();
    while order.matches('m').count() < 2 {
        let line = server.line().unwrap();
        match line.as_slice() {
            b"[INFO] started" => order.push('c'),
            line if line.starts_with(br#"{"jsonrpc":"2.0","id":"#) => order.push('m'),
            _ => {}
        }
    }
    assert_eq!(order, "ccmccm");
}

#[test]
fn messages_are_framed_as_the_script_says() {
    let first = |script| {
        let mut server = start(&[script]);
        server.request(1, "initialize", &json!({}));
        server.line().unwrap()
    };
    assert!(first("bom").starts_with("\u{feff}{\"jsonrpc\"".as_bytes()));
    assert!(first("crlf").ends_with(b"}\r"));
    let batch = first("batch");
    assert!(batch.starts_with(b"[{\"jsonrpc\"") && batch.ends_with(b"}]"));
}

#[test]
fn split_reply_arrives_in_two_writes() {
    let mut server = start(&["split-reply:100"]);
    server.greet();
    server.arrivals.clear();
    server.echo();
    assert_eq!(server.line().unwrap(), format!(r#"{{"jsonrpc":"2.0","id":2,"result":{HI}}}"#).as_bytes());
    let [first, second] = server.arrivals[..] else { panic!("not two pieces") };
    assert!(second - first >= Duration::from_millis(90));
}

#[test]
fn stderr_is_flooded_before_the_reply() {
    let mut server = start(&["stderr-flood:2"]);
    server.greet();
    server.echo();
    assert_eq!(server.message()["id"], 2);
    server.end();
    assert_eq!(server.stderr().len(), 2 * 1024 * 1024);
}

#[test]
fn notifications_go_ahead_of_the_reply() {
    for (script, method) in [
        ("flood:10000", "notifications/message"),
        ("list-changed-storm:10000", "notifications/tools/list_changed"),
        ("progress-storm:10000", "notifications/progress"),
    ] {
        let mut server = start(&[script]);
        server.greet();
        server.echo();
        for number in 0..10_000 {
            let note = server.message();
            assert_eq!(note["method"], method, "{script}");
            let told = [&note["params"]["data"], &note["params"]["progress"]];
            assert!(
                told.iter()
                    .all(|told| told.is_null() || [number, number + 1].contains(&told.as_u64().unwrap()))
            );
        }
        assert_eq!(server.message()["id"], 2, "{script}");
    }
}

#[test]
fn also_tool_is_listed_but_not_callable() {
    let mut server = start(&["also-tool:authenticate"]);
    server.greet();
    server.request(2, "tools/list", &json!({}));
    let tools = server.message()["result"]["tools"].clone();
    assert!(tools.as_array().unwrap().iter().any(|tool| tool["name"] == "authenticate"), "{tools}");
    server.request(3, "tools/call", &json!({ "name": "authenticate", "arguments": { "message": "hi" } }));
    assert_eq!(server.message()["error"]["message"], "Invalid params: no such tool");
}

#[test]
fn tool_description_is_reread_from_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("description");
    let mut server = start(&[&format!("described:{}", file.display())]);
    server.greet();
    for (id, text) in [(2, "Add two numbers"), (3, "Read the keys first")] {
        std::fs::write(&file, text).unwrap();
        server.request(id, "tools/list", &json!({}));
        let tools = server.message()["result"]["tools"].clone();
        let add = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "add").unwrap().clone();
        assert_eq!(add["description"], text);
    }
}

#[test]
fn server_request_is_sent_before_reply() {
    for method in ["roots/list", "sampling/createMessage", "no/such"] {
        let mut server = start(&[&format!("server-request:{method}")]);
        server.greet();
        server.echo();
        let question = server.message();
        assert_eq!((&question["method"], &question["id"]), (&json!(method), &json!("ask-1")));
        let answer = json!({ "jsonrpc": "2.0", "id": "ask-1", "error": { "code": -32601, "message": "no" } });
        server.send(&answer);
        assert_eq!(server.message()["result"]["content"][0]["text"], json!(answer.to_string()));
    }
}

#[test]
fn notification_is_sent_before_the_reply_to_a_call() {
    let mut server = start(&["notice:notifications/vendor/done"]);
    server.greet();
    server.echo();
    let notice = server.message();
    assert_eq!((&notice["method"], notice.get("id")), (&json!("notifications/vendor/done"), None));
    assert_eq!(server.message()["result"]["content"][0]["type"], "text");
}
