//! `list` against real servers, good ones and bad ones.

use mcparley_testkit::{HttpServer, ScriptedStdio, processes_tagged};
use serde_json::{Value, json};

use crate::world::World;

fn entry(scripted: &ScriptedStdio) -> Value {
    json!({"command": scripted.program, "args": scripted.args})
}

fn world(servers: &Value) -> World {
    World::with(&[("home/.claude.json", &json!({"mcpServers": servers}).to_string())])
}

// U1 L3 F01 F02
#[test]
fn each_server_is_listed_with_its_own_health_and_none_waits_for_another() {
    let remote = HttpServer::start(&[]);
    let locked = HttpServer::start(&["www-authenticate"]);
    let mut world = world(&json!({
        "good": entry(&ScriptedStdio::new(&[])),
        "new": entry(&ScriptedStdio::new(&[]).with_option("--versions", "2026-07-28")),
        "exits": entry(&ScriptedStdio::new(&["exit-start"])),
        "missing": {"command": "no-such-program"},
        "hangs": entry(&ScriptedStdio::new(&["hang-start"])),
        "remote": {"url": remote.url()},
        "closed": {"url": "http://127.0.0.1:1/mcp"},
        "locked": {"url": locked.url()},
        "socket": {"url": remote.socket_url()},
        "off": {"command": "x"},
    }));
    world.set("MCP_TIMEOUT", "2000");
    world.ok(&["disable", "off"]);
    let start = std::time::Instant::now();
    let list = world.json(&["list"]);
    assert!(start.elapsed() < std::time::Duration::from_secs(15), "{:?}", start.elapsed());
    let health = |name: &str| {
        let servers = list["servers"].as_array().unwrap();
        servers.iter().find(|server| server["name"] == name).unwrap()["health"].clone()
    };
    assert_eq!(health("good")["is"], "connected");
    assert_eq!(health("good")["protocol"], "2025-11-25");
    assert!(health("good")["tools"].as_u64().unwrap() >= 5);
    assert_eq!(health("new")["protocol"], "2026-07-28");
    assert_eq!(health("exits")["error"], "the connection ended: the server exited with code 3");
    assert!(!health("exits")["stderr"].as_str().unwrap().is_empty());
    assert_eq!(health("missing")["error"], "cannot start the server: `no-such-program` not found on PATH");
    assert_eq!(health("hangs")["error"], "timed out after 2s while connecting");
    assert_eq!(health("remote")["is"], "connected");
    assert_eq!(health("closed")["is"], "failed");
    assert_eq!(health("locked")["is"], "needs-auth");
    assert_eq!(health("socket")["is"], "connected");
    assert_eq!(health("off"), Value::Null, "what may not run is not started");
}

// U1
#[test]
fn list_prints_one_line_per_server_and_its_last_stderr_lines() {
    let world = world(&json!({
        "good": entry(&ScriptedStdio::new(&[])),
        "exits": entry(&ScriptedStdio::new(&["exit-start"])),
    }));
    let out = world.ok(&["list"]);
    assert!(out.lines().any(|line| line.starts_with("good: ") && line.contains("connected (")), "{out}");
    let failed = "failed: the connection ended: the server exited with code 3";
    assert!(out.lines().any(|line| line.starts_with("exits: ") && line.ends_with(failed)), "{out}");
    assert!(out.contains("  stderr: "), "{out}");
}

// C7 B26 L9: looking starts nothing that was not approved, and leaves nothing behind.
#[test]
fn an_unapproved_server_is_not_started_and_the_others_are_gone_afterwards() {
    let tag = format!("health-{}", std::process::id());
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let world =
        world(&json!({"mine": entry(&ScriptedStdio::new(&["ignore-term"]).with_option("--tag", &tag))}));
    let theirs = json!({"mcpServers": {"theirs": entry(&ScriptedStdio::new(&[]).with_log(&log))}});
    world.write("home/project/.mcp.json", &theirs.to_string());
    let list = world.ok(&["list"]);
    assert!(list.contains("needs approval"), "{list}");
    assert!(!log.exists(), "it was never started");
    assert!(processes_tagged(&tag).is_empty());
}

// N7 H10: what a server says never reaches the terminal raw.
#[test]
fn stderr_of_a_server_is_sanitized() {
    let script = "printf 'bad\\033[2J\\033]0;x\\007news\\n' >&2; exit 1";
    let world = world(&json!({"loud": {"command": "sh", "args": ["-c", script]}}));
    let done = world.mcparley(&["list"]);
    assert!(done.out.contains("stderr: bad"), "{done:?}");
    assert!(!done.out.contains('\u{1b}') && !done.out.contains('\u{7}'), "{done:?}");
}

// U1
#[test]
fn list_with_check_fails_when_a_server_fails() {
    let good = world(&json!({ "good": entry(&ScriptedStdio::new(&[])) }));
    assert_eq!(good.mcparley(&["list", "--check"]).code, 0);
    let bad = world(&json!({
        "good": entry(&ScriptedStdio::new(&[])), "missing": {"command": "no-such-program"},
    }));
    assert_eq!(bad.mcparley(&["list"]).code, 0);
    let done = bad.mcparley(&["list", "--check"]);
    assert_eq!(done.code, 9, "{done:?}");
    assert!(done.out.contains("good") && done.out.contains("missing"), "{done:?}");
}

// U1
#[test]
fn the_stderr_line_with_the_reason_is_shown_and_not_the_stack() {
    let script =
        "echo starting >&2; echo 'API_KEY is not set' >&2; echo a >&2; echo b >&2; echo c >&2; exit 1";
    let world = world(&json!({ "it": {"command": "sh", "args": ["-c", script]} }));
    let done = world.mcparley(&["list"]);
    assert!(done.out.contains("  stderr: API_KEY is not set\n"), "{done:?}");
    assert_eq!(done.out.matches("stderr: ").count(), 1, "{done:?}");
}
