//! The audit log: one line per call, in order, without arguments and results.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use mcparley::config::StartPolicy;
use mcparley::{Call, Host};
use serde_json::{Value, json};

use crate::alive::{Alive, LONG, Making, scripted, servers};
use crate::hooking::{hooks, says};

const CANARY: &str = "canary-4711";

/// A host that keeps a record in `home/state/calls.jsonl`.
fn recorded(making: Making) -> (Making, PathBuf) {
    let path = making.path("home/state/calls.jsonl");
    (
        making
            .wish(|run_options| run_options.settings.push(json!({ "audit": { "path": path } }).to_string())),
        path,
    )
}

fn recording(making: Making) -> (Alive, PathBuf) {
    let (making, path) = recorded(making);
    (making.start(), path)
}

fn lines(path: &PathBuf) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn field(lines: &[Value], name: &str) -> Vec<String> {
    lines.iter().map(|line| line[name].as_str().unwrap_or("-").to_owned()).collect()
}

// B118 H36 G6
#[tokio::test]
async fn thousand_calls_are_thousand_ordered_audit_records_without_arguments() {
    let making = servers([("one", scripted(&[]))]).allow("mcp__one__echo").allow("mcp__one__fail");
    let (alive, path) = recording(making.deny("mcp__one__add"));
    alive.host.wait_until_ready(LONG).await;
    let mut expected = Vec::new();
    for number in 0..1000 {
        let call = match number % 4 {
            0 => Call::new("mcp__one__echo", json!({ "message": CANARY })),
            1 => Call::new("mcp__one__add", json!({ "a": 1, "b": 2 })),
            2 => Call::new("mcp__one__fail", json!({})),
            _ => Call::new("mcp__one__echo", json!({ "message": [CANARY] })),
        };
        expected.push(["ok", "denied", "tool-error", "failed"][number % 4]);
        drop(alive.host.call(call).await);
    }
    alive.host.shut_down().await;
    let lines = lines(&path);
    assert_eq!(field(&lines, "outcome"), expected);
    let numbers: Vec<u64> = lines.iter().map(|line| line["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=1000).collect::<Vec<u64>>());
    assert!(lines.iter().map(|line| line["unixMilliseconds"].as_u64().unwrap()).is_sorted());
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains(CANARY));
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let first = &lines[0];
    assert_eq!(
        (&first["server"], &first["tool"], &first["original"]),
        (&json!("one"), &json!("mcp__one__echo"), &json!("echo"))
    );
    assert_eq!((&first["decision"], &first["decidedBy"]), (&json!("allow"), &json!("rule")));
    assert_eq!(first["because"]["rule"]["text"], "mcp__one__echo");
    assert_eq!(first["argumentBytes"], json!({ "message": CANARY }).to_string().len());
    assert!(first["resultBytes"].as_u64().unwrap() > 20 && first["milliseconds"].as_f64().unwrap() > 0.0);
    let hashes = [first["serverHash"].as_str().unwrap(), first["toolHash"].as_str().unwrap()];
    assert!(hashes.iter().all(|hash| hash.len() >= 64), "{hashes:?}");
    assert_eq!(
        (&lines[1]["decision"], &lines[1]["because"]["rule"]["kind"]),
        (&json!("deny"), &json!("deny"))
    );
    assert_eq!((&lines[3]["failure"], lines[3].get("decision")), (&json!("arguments"), None));
}

// B118 H36
#[tokio::test]
async fn canceled_call_is_recorded_in_the_audit_log() {
    let (alive, path) = recording(servers([("one", scripted(&["call-hang"]))]).allow("mcp__one"));
    alive.host.wait_until_ready(LONG).await;
    let called = alive.host.call(Call::new("mcp__one__echo", json!({ "message": CANARY })));
    assert!(tokio::time::timeout(std::time::Duration::from_millis(50), called).await.is_err());
    // Without an orderly end nothing is lost either.
    drop(alive.host);
    let lines = lines(&path);
    assert_eq!(
        (field(&lines, "outcome"), field(&lines, "decision")),
        (vec!["cancelled".into()], vec!["allow".into()])
    );
}

// B118 H36 P5
#[tokio::test]
async fn audit_record_has_the_decider_without_its_text() {
    let reason = format!("it says {CANARY}");
    let deny =
        says("PreToolUse", json!({ "permissionDecision": "deny", "permissionDecisionReason": reason }));
    let settings = hooks("PreToolUse", "mcp__one__add", &[&deny]);
    let making = servers([("one", scripted(&[]))]).file("home/.claude/settings.json", &settings);
    let (alive, path) = recording(making);
    alive.host.wait_until_ready(LONG).await;
    alive.call("one", "add", json!({ "a": 1, "b": 2 })).await.unwrap_err();
    alive.echo("one", "hi").await.unwrap();
    alive.host.call(Call::new("mcp__one__echo", json!({ "message": "hi" }))).await.unwrap_err();
    alive.host.call(Call::new("mcp__one__no\u{202e}ne", json!({}))).await.unwrap_err();
    alive.host.shut_down().await;
    let lines = lines(&path);
    let deciders = field(&lines, "decidedBy");
    assert_eq!(deciders[0], "hook");
    assert_eq!(deciders[2..], ["person".to_owned(), "-".to_owned()], "nobody was there to be asked");
    assert_eq!(field(&lines, "decision")[..3], ["deny".to_owned(), "allow".into(), "deny".into()]);
    assert_eq!(lines[0]["because"]["by"], "hook");
    assert_eq!((&lines[3]["tool"], &lines[3]["failure"]), (&json!("mcp__one__none"), &json!("unknown-tool")));
    let sessions = field(&lines, "session");
    assert_eq!(sessions.len(), 4);
    assert!(sessions.iter().all(|session| *session == sessions[0]));
    assert!(!std::fs::read_to_string(&path).unwrap().contains("it says"));
}

// B118 H36
#[tokio::test]
async fn two_hosts_share_an_audit_log_and_settings_disable_it() {
    let (first, path) = recorded(servers([("one", scripted(&[]))]).allow("mcp__one"));
    let paths = first.paths();
    let alive = first.start_as(|builder| builder.entry_point("first"));
    let second = Host::builder(&paths, &alive.world.run_options)
        .start_with(StartPolicy::All)
        .entry_point("second")
        .start();
    for _ in 0..50 {
        let call = || Call::new("mcp__one__echo", json!({ "message": "hi" }));
        let (one, two) = tokio::join!(alive.host.call(call()), second.call(call()));
        assert!(one.is_ok() && two.is_ok());
    }
    tokio::join!(alive.host.shut_down(), second.shut_down());
    let lines = lines(&path);
    for door in ["first", "second"] {
        let own = lines.iter().filter(|line| line["door"] == door);
        let numbers: Vec<u64> = own.map(|line| line["number"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (1..=50).collect::<Vec<u64>>(), "{door}");
    }
    let off = servers([("one", scripted(&[]))])
        .wish(|run_options| run_options.settings.push(r#"{"audit": false}"#.into()));
    let mut paths = off.paths();
    paths.audit = Some(path.clone());
    let host = Host::builder(&paths, &off.run_options()).start();
    host.call(Call::new("nothing", json!({}))).await.unwrap_err();
    host.shut_down().await;
    assert_eq!(self::lines(&path).len(), 100);
}

// B118 H36
#[tokio::test]
async fn unwritable_audit_log_fails_no_call() {
    let (making, path) = recorded(servers([("one", scripted(&[]))]));
    std::fs::create_dir_all(&path).unwrap();
    let alive = making.start();
    alive.echo("one", "hi").await.unwrap();
    alive.echo("one", "hi").await.unwrap();
    let shared = alive.host.clone();
    tokio::time::timeout(LONG, shared.shut_down()).await.unwrap();
    std::fs::remove_dir(&path).unwrap();
    alive.host.call(Call::new("nothing", json!({}))).await.unwrap_err();
    alive.host.shut_down().await;
    let lines = lines(&path);
    assert_eq!((lines.len(), &lines[0]["lost"], &lines[0]["number"]), (1, &json!(2), &json!(3)));
}
