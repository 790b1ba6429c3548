//! `logs`: each line of a server's standard error carries the time it was read, not the time its process ended.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};

use crate::serve::Served;
use crate::talk::world;
use crate::world::{World, wait_for};

/// The entry of a server that says something before it begins.
fn talkative(scripts: &[&str]) -> Value {
    let server = ScriptedStdio::new(scripts);
    let run = format!("echo said early >&2; exec '{}' {}", server.program.display(), server.args.join(" "));
    json!({ "command": "sh", "args": ["-c", run] })
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}

/// The time of the line of server `one` that holds this text.
fn time_of(world: &World, text: &str) -> u64 {
    let report = world.json(&["logs", "one"]);
    let lines = report["servers"][0]["lines"].as_array().unwrap();
    let line = lines.iter().find(|line| line["text"].as_str().unwrap().contains(text));
    line.unwrap_or_else(|| panic!("{report}"))["unixMilliseconds"].as_u64().unwrap()
}

// U2
#[test]
fn line_of_a_server_that_worked_has_the_time_it_was_read() {
    let world = world(&json!({ "one": talkative(&[]) }));
    let begun = now();
    let mut served = Served::start(&world, &[]);
    // It has answered several times since it said something, so that has been read.
    served.call("one__pid");
    let called = now();
    wait_for("a later millisecond", Duration::from_secs(1), || now() > called);
    drop(served.input);
    served.child.wait().unwrap();
    let read = time_of(&world, "said early");
    assert!(begun <= read && read <= called, "{begun} {read} {called}");
}

// U2
#[test]
fn line_of_a_server_that_never_answered_has_the_time_it_was_read() {
    let mut world = world(&json!({ "one": talkative(&["hang-start"]) }));
    world.set("MCP_TIMEOUT", "2000");
    world.mcparley(&["list"]);
    let (read, given_up) = (time_of(&world, "said early"), time_of(&world, "timed out"));
    assert!(read < given_up, "{read} {given_up}");
    let lines = world.ok(&["logs", "one"]);
    assert!(lines.find("stderr").unwrap() < lines.find("timed out").unwrap(), "{lines}");
}
