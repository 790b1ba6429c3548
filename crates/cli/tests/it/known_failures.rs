//! Servers that failed before, and what commands make of them (L12).

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use mcparley_testkit::{ScriptedStdio, log_starts};
use serde_json::{Value, json};

use crate::talk::{entry, scripted, world};
use crate::world::World;

const GREETING: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#;

// L12 F104
#[test]
fn a_hanging_server_is_waited_for_once_and_then_reported_from_the_cache() {
    let mut world = world(&json!({ "hangs": scripted(&["hang-start"]), "good": scripted(&[]) }));
    world.set("MCP_TIMEOUT", "2000");
    let first = world.mcparley(&["tools"]);
    assert!(first.err.contains("hangs") && first.out.contains("good\n  echo("), "{first:?}");
    // Longer than anybody waits: who tries it does not come back in time.
    world.set("MCP_TIMEOUT", "600000");
    let commands: [&[&str]; 6] =
        [&["tools"], &["search", "echo"], &["budget"], &["resources"], &["prompts"], &["state"]];
    for command in commands {
        let begun = Instant::now();
        let again = world.mcparley(command);
        assert!(begun.elapsed() < Duration::from_secs(20), "{command:?} took {:?}", begun.elapsed());
        let said = again.err.clone() + &again.out;
        assert!(said.contains("timed out after 2s while connecting ("), "{command:?}: {again:?}");
    }
    let again = world.mcparley(&["tools"]);
    assert!(again.err.contains("hint: not tried again yet; run `mcparley list`"), "{again:?}");
    let named = world.mcparley(&["tools", "hangs"]);
    assert_ne!(named.code, 0, "{named:?}");
}

// L12
#[test]
fn list_and_refresh_retry_a_failed_server() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let world = world(&json!({ "bad": entry(&ScriptedStdio::new(&["exit-start"]).with_log(&log)) }));
    let mut starts = 0;
    for (command, is_tried) in [
        (&["tools"][..], true),
        (&["tools"], false),
        (&["list"], true),
        (&["prompts"], false),
        (&["doctor"], true),
        (&["tools", "--refresh"], true),
        (&["call", "bad", "echo"], true),
        (&["tools"], false),
    ] {
        world.mcparley(command);
        let now = log_starts(&log).len();
        assert_eq!(now > starts, is_tried, "{command:?}");
        starts = now;
    }
}

// L12
#[test]
fn added_server_is_tried_and_remembered_unless_told_not_to() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let server = ScriptedStdio::new(&[]).with_log(&log);
    let program = server.program.display().to_string();
    let add = |world: &World, options: &[&str]| {
        let head = [&["add", "-s", "user"], options, &["one", "--", program.as_str()]].concat();
        let args: Vec<&str> = server.args.iter().map(String::as_str).collect();
        world.mcparley_as_given(&[head, args].concat())
    };
    let world = World::new();
    let done = add(&world, &["--no-check"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(!log.exists() || log_starts(&log).is_empty());
    world.ok(&["remove", "one"]);
    let done = add(&world, &[]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.err.contains("the server works: "), "{done:?}");
    assert_eq!(log_starts(&log).len(), 1);
    assert!(world.ok(&["tools", "one"]).contains("one\n  echo("));
    assert_eq!(log_starts(&log).len(), 1, "its tools are known without it");
}

// L12
#[test]
fn server_added_from_json_is_tried_and_remembered_unless_told_not_to() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let server = entry(&ScriptedStdio::new(&[]).with_log(&log)).to_string();
    let world = World::new();
    let done = world.mcparley_as_given(&["add-json", "-s", "user", "--no-check", "one", &server]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(!log.exists() || log_starts(&log).is_empty());
    let done = world.mcparley_as_given(&["add-json", "-s", "user", "--force", "one", &server]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.err.contains("the server works: "), "{done:?}");
    assert!(world.ok(&["tools", "one"]).contains("one\n  echo("));
    assert_eq!(log_starts(&log).len(), 1, "its tools are known without it");
}

// L12 U3
#[test]
fn outcome_of_the_check_stands_in_the_json_of_both_commands() {
    let report = |world: &World, args: &[&str]| -> Value {
        let done = world.mcparley_as_given(&[&["--json"], args].concat());
        assert_eq!(done.code, 0, "{done:?}");
        serde_json::from_str(&done.out).unwrap()
    };
    let world = World::new();
    let good = report(&world, &["add-json", "good", &scripted(&[]).to_string()]);
    assert_eq!((&good["added"], &good["check"]["is"]), (&json!("good"), &json!("connected")));
    assert!(good["check"]["tools"].as_u64().unwrap() >= 5, "{good}");
    for args in
        [&["add", "bad", "--", "no-such-program"][..], &["add-json", "worse", r#"{"command":"nowhere"}"#]]
    {
        let bad = report(&world, args);
        assert_eq!(bad["check"]["is"], "failed", "{bad}");
        assert!(bad["check"]["error"].as_str().unwrap().contains("not found"), "{bad}");
    }
    let unset = report(&world, &["add", "unset", "--", "${NOT_SET_ANYWHERE}"]);
    assert_eq!(unset["check"]["is"], "not-tried", "{unset}");
    let skipped = report(&world, &["add", "--no-check", "other", "--", "nowhere"]);
    assert_eq!(skipped.get("check"), None, "{skipped}");
    let late = report(&world, &["add-json", "late", &scripted(&["hang-start"]).to_string()]);
    assert_eq!(late["check"], json!({ "is": "timed-out", "milliseconds": 5000 }));
}

// L12
#[test]
fn server_that_does_not_work_is_added_all_the_same() {
    let world = World::new();
    let done = world.mcparley_as_given(&["add", "-s", "user", "bad", "--", "no-such-program-anywhere"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.err.contains("the server does not work yet: "), "{done:?}");
    assert!(done.err.contains("`mcparley doctor bad`"), "{done:?}");
}

/// Starts a gateway, asks for its list, leaves; gives the names of the tools.
fn first_session(world: &World) -> Vec<String> {
    let mut command = world.command(&["serve"]);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{GREETING}\n{LIST}").unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let list = lines.by_ref().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let list = list.into_iter().find(|message| message["id"] == 1).unwrap();
    drop(input);
    child.wait().unwrap();
    let tools = list["result"]["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

// L12 N10
#[test]
fn first_session_with_slow_servers_can_search_and_leaves_what_it_fetched_to_the_next() {
    let server = ScriptedStdio::new(&[]);
    let run = format!("exec '{}' {}", server.program.display(), server.args.join(" "));
    // Later than the first list waits, and before a client that leaves is not waited for any more.
    let late = format!("sleep 6; {run}");
    let world = world(&json!({ "late": { "command": "sh", "args": ["-c", late] } }));
    let first = first_session(&world);
    assert!(first.contains(&"ToolSearch".to_owned()) && first.contains(&"CallTool".to_owned()), "{first:?}");
    assert!(!first.contains(&"late__echo".to_owned()), "{first:?}");
    let second = first_session(&world);
    assert!(second.contains(&"late__echo".to_owned()), "{second:?}");
}
