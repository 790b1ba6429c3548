//! Tests that the stdio server is correct without scripts, in both eras.

use crate::stdio_client::{HI, Stdio, echo, initialize, modern, start};
use mcparley_testkit::{ScriptedStdio, log_lines, log_starts};
use serde_json::{Value, json};

fn new_era() -> Stdio {
    Stdio::start(&ScriptedStdio::new(&[]).with_option("--versions", "2026-07-28"))
}

fn hi() -> Value {
    serde_json::from_str(HI).unwrap()
}

#[test]
fn offered_version_is_accepted_or_newest_returned() {
    let versions = "2024-11-05,2025-06-18,2026-07-28";
    for (offered, agreed) in
        [("2024-11-05", "2024-11-05"), ("2025-11-25", "2025-06-18"), ("2026-07-28", "2025-06-18")]
    {
        let mut server = Stdio::start(&ScriptedStdio::new(&[]).with_option("--versions", versions));
        let answer = server.ask("initialize", &initialize(offered));
        assert_eq!(answer["result"]["protocolVersion"], json!(agreed), "{offered}");
    }
}

#[test]
fn old_era_server_supports_all_old_era_methods() {
    let mut server = start(&[]);
    assert_eq!(server.ask("tools/list", &json!({}))["error"]["code"], -32600, "before the handshake");
    let greeting = server.greet();
    assert_eq!(greeting["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(server.ask("ping", &json!({})), json!({ "jsonrpc": "2.0", "id": 7, "result": {} }));
    let tools = server.ask("tools/list", &json!({}));
    let names: Vec<_> =
        tools["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["echo", "add", "fail", "slow", "big", "env", "pid", "crash"]);
    assert_eq!(server.ask("prompts/list", &json!({}))["result"]["prompts"][0]["name"], "greet");
    assert_eq!(server.ask("resources/list", &json!({}))["result"]["resources"][0]["uri"], "test://note");
    assert_eq!(server.ask("server/discover", &modern(json!({})))["error"]["code"], -32601);
    assert_eq!(server.ask("no/such", &json!({}))["error"]["code"], -32601);
    assert!(server.end().success());
}

#[test]
fn every_tool_returns_its_result() {
    let mut server = start(&[]);
    server.greet();
    let mut call = |name: &str, arguments: Value| {
        let answer = server.ask("tools/call", &json!({ "name": name, "arguments": arguments }));
        let result = &answer["result"];
        (result["isError"] == true, result["content"][0]["text"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(call("echo", json!({ "message": "hi" })), (false, "hi".to_owned()));
    assert_eq!(call("add", json!({ "a": 1, "b": 2.5 })), (false, "3.5".to_owned()));
    assert_eq!(call("fail", json!({})), (true, "this tool fails".to_owned()));
    assert_eq!(call("big", json!({ "bytes": 70_000 })).1.len(), 70_000);
    assert!(call("env", json!({})).1.contains("\"PATH\""));
    assert!(call("pid", json!({})).1.parse::<u32>().is_ok());
    assert_eq!(call("add", json!({})), (true, "wrong arguments".to_owned()));
    server.request(9, "tools/call", &json!({ "name": "crash" }));
    assert_eq!(server.line(), None);
    assert_eq!(server.wait().code(), Some(9));
}

#[test]
fn slow_call_reports_progress_and_finishes_after_later_calls() {
    let mut server = start(&[]);
    server.greet();
    let slow = json!({ "name": "slow", "arguments": { "ms": 50 }, "_meta": { "progressToken": "t" } });
    server.request(2, "tools/call", &slow);
    for step in 1..=10 {
        let note = server.message();
        let params = json!({ "progressToken": "t", "progress": step, "total": 10 });
        assert_eq!((&note["method"], &note["params"]), (&json!("notifications/progress"), &params));
    }
    assert_eq!(server.message()["id"], 2);
    server.request(3, "tools/call", &json!({ "name": "slow", "arguments": { "ms": 60_000 } }));
    server.echo();
    assert_eq!(server.message()["id"], 2);
}

#[test]
fn cancelled_call_is_never_answered_and_cancellation_is_logged() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut server = Stdio::start(&ScriptedStdio::new(&[]).with_log(&log));
    server.greet();
    server.request(3, "tools/call", &json!({ "name": "slow", "arguments": { "ms": 200 } }));
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 3 } });
    server.send(&cancel);
    // The canceled call would have been answered long before this one.
    server.request(4, "tools/call", &json!({ "name": "slow", "arguments": { "ms": 400 } }));
    assert_eq!(server.message()["id"], 4);
    let lines = log_lines(&log);
    let cancel = cancel.to_string();
    assert_eq!(lines.iter().filter(|line| line.text == cancel).count(), 1);
    assert!(lines.windows(2).all(|pair| pair[0].at <= pair[1].at));
    assert_eq!(log_starts(&log).len(), 1);
}

#[test]
fn new_era_server_supports_all_new_era_methods() {
    let mut server = new_era();
    let found = server.ask("server/discover", &modern(json!({})))["result"].take();
    assert_eq!(found["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "mcparley-testkit");
    let listed = server.ask("tools/list", &modern(json!({})))["result"].take();
    for result in [&found, &listed] {
        assert_eq!(result["resultType"], "complete");
        assert_eq!((result["ttlMs"].is_u64(), &result["cacheScope"]), (true, &json!("private")));
    }
    let called = server.ask("tools/call", &modern(echo()))["result"].take();
    assert_eq!((&called["resultType"], &called["content"]), (&json!("complete"), &hi()["content"]));
    assert_eq!(server.ask("ping", &modern(json!({})))["error"]["code"], -32601);
}

#[test]
fn new_era_server_rejects_old_era_requests() {
    let mut server = new_era();
    let mut params = modern(json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("1900-01-01");
    let error = server.ask("tools/list", &params)["error"].take();
    assert_eq!(error["code"], -32022);
    assert_eq!(error["data"], json!({ "supported": ["2026-07-28"], "requested": "1900-01-01" }));
    assert_eq!(server.ask("initialize", &initialize("2025-11-25"))["error"]["code"], -32022);
    assert_eq!(server.ask("tools/list", &json!({}))["error"]["code"], -32602);
    params = modern(json!({}));
    params["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/clientCapabilities");
    assert_eq!(server.ask("tools/list", &params)["error"]["code"], -32602);
}

#[test]
fn subscription_is_acknowledged_and_receives_requested_notifications() {
    let scripted = ScriptedStdio::new(&["list-changed-storm:2"]).with_option("--versions", "2026-07-28");
    let mut server = Stdio::start(&scripted);
    let asked = json!({ "toolsListChanged": true, "promptsListChanged": true });
    server.request(1, "subscriptions/listen", &modern(json!({ "notifications": asked })));
    let tag = json!({ "io.modelcontextprotocol/subscriptionId": 1 });
    let note = server.message();
    assert_eq!(note["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(note["params"], json!({ "notifications": { "toolsListChanged": true }, "_meta": tag }));
    server.request(2, "tools/call", &modern(echo()));
    for _ in 0..2 {
        let note = server.message();
        assert_eq!(note["method"], "notifications/tools/list_changed");
        assert_eq!(note["params"]["_meta"], tag);
    }
    assert_eq!(server.message()["id"], 2);
    server.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }),
    );
    server.request(3, "tools/call", &modern(echo()));
    assert_eq!(server.message().get("params"), None, "nobody listens any more");
}

#[test]
fn subscription_end_follows_its_script() {
    for manner in ["result", "cancelled"] {
        let script = format!("listen-end:{manner}");
        let mut server =
            Stdio::start(&ScriptedStdio::new(&[&script]).with_option("--versions", "2026-07-28"));
        let asked = json!({ "toolsListChanged": true });
        server.request(1, "subscriptions/listen", &modern(json!({ "notifications": asked })));
        server.message();
        server.request(2, "tools/call", &modern(echo()));
        let last = server.message();
        match manner {
            "result" => {
                assert_eq!((&last["id"], &last["result"]["resultType"]), (&json!(1), &json!("complete")))
            }
            _ => assert_eq!(last["params"]["requestId"], 1),
        }
        assert_eq!(server.message()["id"], 2);
    }
}
