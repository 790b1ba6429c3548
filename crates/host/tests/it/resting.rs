//! Idle servers stop (L14), and disabled servers stay disabled (L1).

use mcparley::CallError;
use mcparley::model::name::ServerName;
use mcparley::pool::connection::{ServerStatus, Unavailable};
use mcparley_testkit::{HttpServer, ScriptedStdio, log_starts};
use serde_json::json;

use crate::alive::{LONG, http, is_connected, own, scripted, servers, stdio, until_gone, with};

fn is_dormant(status: &ServerStatus) -> bool {
    matches!(status, ServerStatus::Dormant)
}

// L14
#[tokio::test]
async fn an_idle_server_stops_keeps_its_tools_and_starts_again_on_the_next_call() {
    let (_folder, log, tag) = own("idle");
    let entry = stdio(&ScriptedStdio::new(&[]).with_log(&log).with_option("--tag", &tag));
    let alive = servers([("rests", with(entry, "idleTimeout", 300))]).ready().await;
    let tools = alive.host.publish_catalog().iter().len();
    alive.until("rests", is_dormant).await;
    until_gone(&tag, LONG);
    assert_eq!(alive.host.publish_catalog().iter().len(), tools);
    assert_eq!(alive.echo("rests", "awake").await.unwrap(), "awake");
    assert_eq!(log_starts(&log).len(), 2);
}

// L14
#[tokio::test]
async fn a_server_at_work_is_not_idle() {
    let (_folder, log, _) = own("at-work");
    let entry = with(stdio(&ScriptedStdio::new(&[]).with_log(&log)), "idleTimeout", 200);
    let alive = servers([("works", entry)]).ready().await;
    let long = alive.call("works", "slow", json!({ "ms": 900 })).await.unwrap();
    assert!(!long.is_error);
    assert_eq!(log_starts(&log).len(), 1, "it was not stopped in the call");
}

// L14
#[tokio::test]
async fn a_remote_server_is_never_idle() {
    let server = HttpServer::start(&[]);
    let alive = servers([
        ("far", with(http(&server), "idleTimeout", 50)),
        ("near", with(scripted(&[]), "idleTimeout", 50)),
    ])
    .ready()
    .await;
    alive.until("near", is_dormant).await;
    assert!(is_connected(&alive.status("far")));
}

// L1 L14
#[tokio::test]
async fn disabled_server_is_gone_until_it_is_enabled() {
    let (_folder, log, tag) = own("switched");
    let entry = stdio(&ScriptedStdio::new(&[]).with_log(&log).with_option("--tag", &tag));
    let alive = servers([("one", entry)]).ready().await;
    let one = ServerName::new("one");
    assert!(alive.host.disable_server(&one).await);
    alive.until("one", |status| matches!(status, ServerStatus::Disabled)).await;
    until_gone(&tag, LONG);
    assert_eq!(alive.host.publish_catalog().get("mcp__one__echo").map(|entry| entry.name.to_string()), None);
    let error = alive.echo("one", "hi").await.unwrap_err();
    assert!(matches!(error, CallError::Unavailable { why: Unavailable::Disabled, .. }), "{error}");
    // Reading the files again does not switch it on, and neither does a wish to reconnect.
    alive.host.reload().await;
    alive.host.reconnect_server(&one).await;
    assert!(matches!(alive.status("one"), ServerStatus::Disabled));

    assert!(alive.host.enable_server(&one).await);
    assert_eq!(alive.echo("one", "back").await.unwrap(), "back");
    assert_eq!(log_starts(&log).len(), 2);
    assert!(!alive.host.disable_server(&ServerName::new("nobody")).await);
}

// L1 F69
#[tokio::test]
async fn disabled_server_stays_disabled_when_its_entry_changes() {
    let alive = servers([("one", scripted(&[]))]).ready().await;
    let one = ServerName::new("one");
    alive.host.disable_server(&one).await;
    alive.until("one", |status| matches!(status, ServerStatus::Disabled)).await;
    let changed = json!({ "mcpServers": { "one": with(scripted(&[]), "cwd", "/") } });
    alive.world.write("home/.claude.json", &changed.to_string());
    assert_eq!(alive.host.reload().await.changed, std::slice::from_ref(&one));
    assert!(matches!(alive.status("one"), ServerStatus::Disabled));
    alive.host.enable_server(&one).await;
    assert_eq!(alive.echo("one", "back").await.unwrap(), "back");
}

// L5 L6
#[tokio::test]
async fn a_stdio_server_killed_between_two_calls_is_back_for_the_second() {
    let alive = servers([("dies", scripted(&[]))]).ready().await;
    for round in 0..3 {
        let process = alive.call("dies", "pid", json!({})).await.unwrap().to_text();
        let killed = std::process::Command::new("kill").args(["-9", &process]).status().unwrap();
        assert!(killed.success());
        assert_eq!(alive.echo("dies", "again").await.unwrap(), "again", "round {round}");
    }
}

// L4 C11
#[tokio::test]
async fn two_names_of_one_server_share_a_connection_until_one_is_disabled() {
    let (_folder, log, _) = own("two-names");
    let entry = stdio(&ScriptedStdio::new(&[]).with_log(&log));
    let alive =
        servers([("one", entry.clone()), ("two", with(entry.clone(), "timeout", 12_345))]).ready().await;
    let process =
        async |name: &str| alive.call(name, "pid", json!({})).await.map(|outcome| outcome.to_text());
    assert_eq!(process("one").await.unwrap(), process("two").await.unwrap());
    assert_eq!(log_starts(&log).len(), 1);

    alive.host.disable_server(&ServerName::new("one")).await;
    assert!(process("one").await.is_err());
    assert!(process("two").await.is_ok());
    alive.host.enable_server(&ServerName::new("one")).await;
    assert!(process("one").await.is_ok());

    // A new name for the same server starts nothing, and the server outlives its first name.
    let before = process("two").await.unwrap();
    let starts = log_starts(&log).len();
    alive
        .world
        .write("home/.claude.json", &json!({ "mcpServers": { "two": entry, "three": entry } }).to_string());
    alive.host.reload().await;
    assert_eq!(process("three").await.unwrap(), before);
    assert_eq!(log_starts(&log).len(), starts);
}

// L1 L4 C11
#[tokio::test]
async fn disabled_name_shares_no_connection() {
    let (entry, other) = (scripted(&[]), with(scripted(&[]), "cwd", "/"));
    let alive = servers([("one", entry.clone()), ("two", other)]).ready().await;
    let write = |servers: serde_json::Value| {
        alive.world.write("home/.claude.json", &json!({ "mcpServers": servers }).to_string());
    };
    let (one, two) = (ServerName::new("one"), ServerName::new("two"));
    alive.host.disable_server(&one).await;
    alive.until("one", |status| matches!(status, ServerStatus::Disabled)).await;

    // Another name for the same server is not switched off with it …
    write(json!({ "one": entry, "two": with(scripted(&[]), "cwd", "/"), "three": entry }));
    alive.host.reload().await;
    assert_eq!(alive.echo("three", "on").await.unwrap(), "on");
    assert!(matches!(alive.status("one"), ServerStatus::Disabled));
    alive.host.enable_server(&one).await;
    assert_eq!(alive.echo("one", "back").await.unwrap(), "back");

    // … and one that becomes the same server as others is not switched on with them.
    alive.host.disable_server(&two).await;
    write(json!({ "one": entry, "two": entry, "three": entry }));
    alive.host.reload().await;
    assert!(alive.echo("two", "off").await.is_err());
    write(json!({ "one": entry, "three": entry }));
    alive.host.reload().await;
    write(json!({ "one": entry, "two": entry, "three": entry }));
    alive.host.reload().await;
    assert!(alive.echo("two", "off").await.is_err());
    assert_eq!(alive.echo("three", "on").await.unwrap(), "on");
}
