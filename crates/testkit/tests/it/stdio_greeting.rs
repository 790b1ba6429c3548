//! Tests of the scripts about handshakes and lists, in both eras.

use crate::stdio_client::{PATIENCE, Stdio, modern, start};
use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};
use std::time::Instant;

type Check = fn(&Value) -> bool;

/// Scripts, each with a condition on the results of `initialize` and `server/discover`.
const LIES: &[(&str, Check, Check)] = &[
    (
        "version:9999",
        |old| old["protocolVersion"] == "9999",
        |new| new["supportedVersions"] == json!(["9999"]),
    ),
    ("version-number", |old| old["protocolVersion"].is_u64(), |new| new["supportedVersions"][0].is_u64()),
    ("no-capabilities", no_capabilities, no_capabilities),
    ("null-capabilities", null_capabilities, null_capabilities),
    ("no-server-info", |old| old.get("serverInfo").is_none(), |new| new.get("_meta").is_none()),
    ("long-instructions:5000", long, long),
];

const LISTS: [&str; 7] = [
    "cursor-same",
    "cursor-endless",
    "many-tools",
    "bad-tools",
    "param-headers",
    "stale-marks",
    "list-error",
];

pub(crate) fn words() -> Vec<&'static str> {
    LIES.iter().map(|(script, ..)| *script).chain(LISTS).chain(["discover"]).collect()
}

fn no_capabilities(result: &Value) -> bool {
    result.get("capabilities").is_none()
}

fn null_capabilities(result: &Value) -> bool {
    result.get("capabilities") == Some(&Value::Null)
}

fn long(result: &Value) -> bool {
    result["instructions"].as_str().is_some_and(|text| text.len() == 5_000)
}

fn listed(scripts: &[&str], cursor: &str) -> Value {
    let mut server = start(scripts);
    server.greet();
    server.ask("tools/list", &json!({ "cursor": cursor }))["result"].take()
}

#[test]
fn handshake_follows_its_script() {
    for (script, old, new) in LIES {
        assert!(old(&start(&[script]).greet()["result"]), "{script}");
        let mut server = Stdio::start(&ScriptedStdio::new(&[script]).with_option("--versions", "2026-07-28"));
        let found = server.ask("server/discover", &modern(json!({})));
        assert!(new(&found["result"]), "{script}");
    }
}

#[test]
fn cursors_never_end() {
    for cursor in ["", "same"] {
        assert_eq!(listed(&["cursor-same"], cursor)["nextCursor"], "same");
    }
    let page = listed(&["cursor-endless"], "41");
    assert_eq!((&page["nextCursor"], &page["tools"][0]["name"]), (&json!("42"), &json!("tool_41")));
}

#[test]
fn lists_follow_their_scripts() {
    assert_eq!(listed(&["many-tools:10"], "")["tools"].as_array().unwrap().len(), 10);
    let tools = listed(&["bad-tools"], "")["tools"].take();
    let bad = &tools.as_array().unwrap()[..6];
    assert_eq!(bad[1].get("inputSchema"), None);
    assert_eq!(bad[2]["inputSchema"], json!(true));
    assert_eq!((&bad[3]["name"], &bad[4]["description"]), (&json!(7), &json!(7)));
    assert_eq!((&bad[0]["name"], &bad[5]["name"]), (&json!("echo"), &json!("add")), "good ones around them");
    let tools = listed(&["param-headers"], "")["tools"].take();
    let names = tools.as_array().unwrap()[1..6].iter().map(|tool| tool["name"].as_str().unwrap());
    let marked = ["locate", "marked_empty", "marked_breaking", "marked_number", "marked_twice"];
    assert_eq!(names.collect::<Vec<_>>(), marked);
    let stale = ScriptedStdio::new(&["param-headers", "stale-marks"])
        .with_option("--on", "tools/list")
        .with_option("--times", "1");
    let mut server = Stdio::start(&stale);
    server.greet();
    for header in ["Place", "Region"] {
        let tools = server.ask("tools/list", &json!({}))["result"]["tools"].take();
        assert_eq!(tools[1]["inputSchema"]["properties"]["region"]["x-mcp-header"], header);
    }
    let mut server = start(&["list-error:prompts/list"]);
    server.greet();
    assert_eq!(server.ask("prompts/list", &json!({}))["error"]["code"], -32603);
    assert!(server.ask("tools/list", &json!({}))["result"]["tools"].is_array());
}

#[test]
fn discover_is_answered_like_old_servers_do() {
    let probe = |mode: &str| {
        let mut server = start(&[&format!("discover:{mode}")]);
        server.request(7, "server/discover", &modern(json!({})));
        server
    };
    assert_eq!(probe("-32602").message()["error"]["code"], -32602);
    let without_id = probe("-32600-no-id").message();
    assert_eq!((without_id.get("id"), &without_id["error"]["code"]), (None, &json!(-32600)));
    let mut exits = probe("exit");
    assert_eq!((exits.line(), exits.wait().code()), (None, Some(7)));
    let begun = Instant::now();
    let mut silent = probe("silent");
    assert_eq!(silent.greet()["id"], 1, "the first thing that comes");
    assert!(begun.elapsed() < PATIENCE);
}
