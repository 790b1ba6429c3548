//! Spans and events of `tracing`: connections, calls and reloads, without arguments, results or secrets.

use mcparley_testkit::{ScriptedStdio, TraceRecorder};
use serde_json::json;

use crate::alive::{is_connected, scripted, servers, stdio, with};

// K1
#[tokio::test]
async fn span_of_a_call_has_server_tool_and_outcome_and_no_argument() {
    let (recorder, _guard) = TraceRecorder::install();
    let entry = with(scripted(&[]), "env", json!({ "TOKEN": "s3cret-token" }));
    let alive = servers([("one", entry)]).deny("mcp__one__add").ready().await;
    assert_eq!(alive.echo("one", "s3cret-argument").await.unwrap(), "s3cret-argument");
    alive.call("one", "add", json!({ "a": 40_404, "b": 2 })).await.unwrap_err();
    alive.call("one", "s3cret-tool", json!({})).await.unwrap_err();
    let lines = recorder.lines();
    let has = |line: &str| lines.iter().any(|it| it == line);
    assert!(has("call server=one tool=mcp__one__echo outcome=ok"), "{lines:#?}");
    assert!(has("call server=one tool=mcp__one__add outcome=denied"), "{lines:#?}");
    assert!(has("event message=call denied tool=mcp__one__add by=Rule"), "{lines:#?}");
    assert!(has("call outcome=unknown-tool"), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("s3cret") || line.contains("40404")), "{lines:#?}");
}

// L1
#[tokio::test]
async fn span_of_connecting_has_server_transport_version_and_outcome() {
    let (recorder, _guard) = TraceRecorder::install();
    let _alive = servers([("good", scripted(&[])), ("bad", scripted(&["exit-start"]))]).ready().await;
    let lines = recorder.lines();
    let has = |line: &str| lines.iter().any(|it| it == line);
    assert!(has("connect server=good transport=stdio version=2025-11-25 outcome=connected"), "{lines:#?}");
    assert!(has("connect server=bad transport=stdio outcome=closed"), "{lines:#?}");
}

// L6
#[tokio::test]
async fn lost_server_is_logged_with_its_backoff_and_its_reconnect() {
    let (recorder, _guard) = TraceRecorder::install();
    let alive = servers([("dies", stdio(&ScriptedStdio::new(&[])))]).ready().await;
    let process = alive.call("dies", "pid", json!({})).await.unwrap().to_text();
    let killed = std::process::Command::new("kill").args(["-9", &process]).status().unwrap();
    assert!(killed.success());
    alive.until("dies", |status| !is_connected(status)).await;
    alive.until("dies", is_connected).await;
    let lines = recorder.lines();
    let starts = [
        "event message=connection lost server=dies reason=closed",
        "event message=backing off server=dies attempt=1 pause_ms=",
        "event message=reconnecting server=dies attempt=1",
    ];
    for start in starts {
        assert!(lines.iter().any(|line| line.starts_with(start)), "{start}: {lines:#?}");
    }
}

// C13
#[tokio::test]
async fn span_of_a_reload_counts_added_and_removed_servers() {
    let alive = servers([("gone", scripted(&[]))]).ready().await;
    let two = json!({ "mcpServers": { "one": scripted(&[]), "two": scripted(&[]) } });
    let (recorder, _guard) = TraceRecorder::install();
    alive.world.write("home/.claude.json", &two.to_string());
    alive.host.reload().await;
    let lines = recorder.lines();
    let expected = "reload added=2 removed=1 changed=0 held_back=0";
    assert!(lines.iter().any(|line| line == expected), "{lines:#?}");
}
