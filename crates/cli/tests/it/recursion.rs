//! An entry that would start mcparley itself: told, never started, neither added nor imported (C18).

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;
use std::time::Duration;

use mcparley_cli::exit;
use mcparley_testkit::ScriptedStdio;
use serde_json::json;

use crate::world::{Output, World, wait_for};

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcparley");

/// A world whose programs write a line into `starts` each time they are started, with the ancestry they were given.
fn world(scripts: &[(&str, &str)], servers: &serde_json::Value) -> World {
    let mut world = World::new();
    world.write("home/.claude.json", &json!({ "mcpServers": servers }).to_string());
    let starts = world.root.join("starts");
    for (name, end) in scripts {
        let path = format!("bin/{name}");
        let script =
            format!("#!/bin/sh\necho \"{name} $MCPARLEY_ANCESTRY\" >> {}\n{end}\n", starts.display());
        world.write(&path, &script);
        std::fs::set_permissions(world.root.join(path), PermissionsExt::from_mode(0o755)).unwrap();
    }
    world.set("PATH", format!("{}:/usr/bin:/bin", world.root.join("bin").display()));
    world
}

fn starts(world: &World) -> Vec<String> {
    let text = std::fs::read_to_string(world.root.join("starts")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Runs the program in a process-id namespace, which takes everything along when it ends.
fn contained(world: &World, args: &[&str]) -> Output {
    let mut words = vec!["-p", "-f", "--kill-child", "--", "timeout", "120", PROGRAM];
    words.extend(args);
    world.finish(&mut world.command_of("unshare".as_ref(), &words))
}

// C15 C18 F105
#[test]
fn an_entry_that_runs_mcparley_is_reported_and_never_started() {
    let serve = "exec mcparley \"$@\"";
    let servers = json!({
        "mcparley": { "type": "stdio", "command": "mcparley", "args": ["serve"], "env": {} },
        "other-name": { "command": "linked", "args": ["serve"] },
        "runner": { "command": "npx", "args": ["-y", "mcparley", "serve"] },
        "dlx": { "command": "pnpm", "args": ["dlx", "mcparley", "serve"] },
        "shell": { "command": "sh", "args": ["-c", "exec linked serve"] },
        "through-env": { "command": "/usr/bin/env", "args": ["A=1", PROGRAM, "serve"] },
        "relative": { "command": "./../../bin/linked", "args": ["serve"] },
    });
    let world = world(&[("npx", serve), ("pnpm", serve)], &servers);
    symlink(PROGRAM, world.root.join("bin/mcparley")).unwrap();
    symlink(PROGRAM, world.root.join("bin/linked")).unwrap();
    let plan = world.json(&["plan"]);
    let plan = plan["servers"].as_array().unwrap();
    assert_eq!(plan.len(), 7);
    for server in plan {
        assert_eq!(
            server["standing"],
            json!({ "is": "skipped", "reason": "would start mcparley itself" }),
            "{server}"
        );
    }
    let done = contained(&world, &["list"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(done.out.matches("would start mcparley itself").count(), 7, "{done:?}");
    assert_eq!(starts(&world), [""; 0]);
}

// C18 F105
#[test]
fn a_script_that_hides_mcparley_is_started_once_on_every_way_down() {
    let serve = format!("exec {PROGRAM} serve");
    let servers = json!({ "a": { "command": "left" }, "b": { "command": "right" } });
    let world = world(&[("left", &serve), ("right", &serve)], &servers);
    let done = contained(&world, &["list"]);
    assert_eq!(done.code, 0, "{done:?}");
    let starts = starts(&world);
    let levels = |start: &String| start.split([' ', ',']).count() - 1;
    // Left, right, right below left and left below right; nobody below those.
    assert!((2..=4).contains(&starts.len()), "{starts:?}");
    assert!(starts.iter().all(|start| levels(start) <= 2), "{starts:?}");
}

// C18
#[test]
fn no_settings_can_take_the_ancestry_away() {
    let world = world(
        &[("server", "exit 1")],
        &json!({
            "a": { "command": "server", "env": { "MCPARLEY_ANCESTRY": "" } },
        }),
    );
    world.write("home/.claude/settings.json", r#"{"env": {"MCPARLEY_ANCESTRY": ""}}"#);
    let mut command = world.command(&["list"]);
    world.finish(command.env("MCPARLEY_ANCESTRY", "x,y"));
    let started = starts(&world);
    assert!(started.first().is_some_and(|start| start.starts_with("server x,y,")), "{started:?}");
    let below = world.finish(world.command(&["plan"]).env("MCPARLEY_ANCESTRY", "x,y,z"));
    assert!(below.out.contains("skipped"), "{below:?}");
}

// C18
#[test]
fn add_and_import_refuse_mcparley_itself() {
    let world = World::new();
    for args in [&["add", "x", "--", "mcparley", "serve"][..], &["add", "x", "--", "npx", "-y", "mcparley"]] {
        let done = world.mcparley(args);
        assert_eq!(done.code, i32::from(exit::CONFLICT.number), "{done:?}");
        assert!(done.err.starts_with("error: `x` would start mcparley itself\nhint: "), "{done:?}");
    }
    let entry = r#"{"command": "sh", "args": ["-c", "mcparley serve"]}"#;
    assert_ne!(world.mcparley(&["add-json", "x", entry]).code, 0);
    world.write(
        "home/.cursor/mcp.json",
        r#"{"mcpServers": {"up": {"command": "mcparley", "args": ["serve"]}, "ok": {"command": "true"}}}"#,
    );
    let report = world.json(&["import", "cursor", "--yes"]);
    assert_eq!(report["added"], json!(["ok"]));
    assert_eq!(report["skipped"][0]["name"], "up");
    assert_eq!(report["skipped"][0]["reason"], "would start mcparley itself");
}

/// Sends a request of the new era to a gateway, and returns the whole response.
fn post(port: u16, method: &str) -> Option<String> {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    } } })
    .to_string();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let length = body.len();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes()).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    Some(text)
}

// C18 G1
#[test]
fn gateway_does_not_serve_itself_over_http() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = ScriptedStdio::new(&[]);
    let servers = json!({
        "one": { "command": server.program, "args": server.args },
        "again": { "type": "http", "url": format!("http://127.0.0.1:{port}/mcp") },
    });
    let world = world(&[], &servers);
    let mut command = world.command(&["serve", "--http", &port.to_string(), "--no-token"]);
    let mut gateway = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the gateway", Duration::from_secs(30), || TcpStream::connect(("127.0.0.1", port)).is_ok());
    let list = post(port, "tools/list").unwrap();
    // The first attempt may have been made before the gateway listened.
    let mut logs = String::new();
    wait_for("the refusal", Duration::from_secs(30), || {
        world.mcparley(&["reconnect", "again"]);
        logs = world.mcparley(&["logs", "again"]).out;
        logs.contains("leads back to the gateway itself")
    });
    gateway.kill().unwrap();
    gateway.wait().unwrap();
    assert!(list.contains("\"one__echo\""), "{list}");
    assert!(!list.contains("again__"), "{list}");
    assert!(logs.contains("leads back to the gateway itself"), "{logs}");
}
