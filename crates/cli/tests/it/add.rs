//! The words of `add`: where options may stand and what they mean (U1).

use serde_json::{Value, json};

use crate::world::World;

const LOCAL: &str = "home/project/.claude/settings.local.json";

/// The entry that these words make of the server `it`, wherever it was written.
fn entry(args: &[&str]) -> Value {
    let world = World::new();
    world.ok(&[&["add"], args].concat());
    let file = world.files().remove(0);
    world.read_json(&file)["mcpServers"]["it"].clone()
}

fn stdio(command: &str, args: &[&str], env: &Value) -> Value {
    json!({"type": "stdio", "command": command, "args": args, "env": env})
}

// U1
#[test]
fn options_may_stand_before_and_after_the_name() {
    let expected = stdio("cmd", &["--flag", "-x"], &json!({"A": "1"}));
    for args in [
        &["-e", "A=1", "it", "cmd", "--flag", "-x"][..],
        &["it", "-e", "A=1", "cmd", "--flag", "-x"],
        &["-e", "A=1", "it", "--", "cmd", "--flag", "-x"],
        &["it", "-e", "A=1", "--", "cmd", "--flag", "-x"],
        &["--env=A=1", "it", "cmd", "--flag", "-x"],
    ] {
        assert_eq!(entry(args), expected, "{args:?}");
    }
}

// U1
#[test]
fn what_follows_a_command_belongs_to_the_command() {
    assert_eq!(
        entry(&["it", "cmd", "-s", "user", "--json", "-e", "A=1", "--", "-H"]),
        stdio("cmd", &["-s", "user", "--json", "-e", "A=1", "--", "-H"], &json!({}))
    );
}

// U1
#[test]
fn a_command_may_begin_with_a_hyphen_after_two_of_them() {
    assert_eq!(entry(&["it", "--", "cmd", "--json"]), stdio("cmd", &["--json"], &json!({})));
}

// U1
#[test]
fn variables_may_be_repeated_and_hold_anything() {
    assert_eq!(
        entry(&["-e", "A=x=y", "-e", "B=", "-e", "C= ${D:-e} ", "it", "cmd"]),
        stdio("cmd", &[], &json!({"A": "x=y", "B": "", "C": " ${D:-e} "}))
    );
}

// U1
#[test]
fn headers_may_be_repeated_and_their_values_are_trimmed() {
    assert_eq!(
        entry(&["-H", "A: 1", "it", "https://h/mcp", "-H", "B:2", "--header", "C: d: e"]),
        json!({"type": "http", "url": "https://h/mcp", "headers": {"A": "1", "B": "2", "C": "d: e"}})
    );
}

// U1
#[test]
fn options_may_follow_a_url() {
    let world = World::new();
    world.ok(&[
        "add",
        "it",
        "https://h/mcp",
        "-s",
        "user",
        "-t",
        "sse",
        "--client-id",
        "me",
        "--callback-port",
        "8080",
    ]);
    assert_eq!(
        world.read_json("home/.claude/settings.json")["mcpServers"]["it"],
        json!({"type": "sse", "url": "https://h/mcp", "oauth": {"clientId": "me", "callbackPort": 8080}})
    );
}

// U1
#[test]
fn the_transport_is_found_out_from_the_url() {
    let cases = [
        ("https://h/mcp", "http"),
        ("http://localhost:8080", "http"),
        ("https://h/sse", "sse"),
        ("https://h/sse/?a=b", "sse"),
        ("https://h/mcp?x=/sse", "http"),
        ("wss://h/mcp", "ws"),
        ("WS://h/sse", "ws"),
    ];
    for (url, kind) in cases {
        assert_eq!(entry(&["it", url]), json!({"type": kind, "url": url}));
    }
}

// U1
#[test]
fn a_transport_that_is_given_wins_over_the_one_found_out() {
    for (given, kind) in [("http", "http"), ("streamable-http", "http"), ("sse", "sse")] {
        assert_eq!(entry(&["-t", given, "it", "https://h/sse"])["type"], kind);
    }
    assert_eq!(entry(&["-t", "stdio", "it", "https://odd"])["command"], "https://odd");
}

// U1
#[test]
fn an_entry_can_be_given_as_json_and_keeps_every_field() {
    let text = r#"{"command":"x","timeout":5,"x-mine":{"b":1,"a":[2]},"args":["${A:-b}"]}"#;
    let world = World::new();
    world.ok(&["add-json", "one", text]);
    world.ok(&["add-json", "-s", "local", "two", text]);
    let fed = world.fed(&["add-json", "three", "-"], text);
    assert_eq!(fed.code, 0, "{fed:?}");
    let expected: Value = serde_json::from_str(text).unwrap();
    for name in ["one", "two", "three"] {
        assert_eq!(world.read_json(LOCAL)["mcpServers"][name].to_string(), expected.to_string());
    }
}

// U1 C6
#[test]
fn a_variable_that_is_not_set_yet_is_a_warning() {
    let world = World::new();
    let done = world.mcparley(&["add", "it", "https://h/${PART}"]);
    assert_eq!(done.code, 0);
    assert_eq!(
        done.err,
        "warning: environment variable `PART` is not set\nhint: set `PART`, or write a default: `${PART:-value}`\n"
    );
    assert_eq!(
        world.json(&["add", "other", "https://h/${PART}"])["notYet"],
        "environment variable `PART` is not set"
    );
}

// U1 U3
#[test]
fn adding_as_json_reports_what_was_added_without_secrets() {
    let world = World::new();
    assert_eq!(
        world.json(&["add", "-e", "KEY=canary", "it", "cmd", "--token", "canary"]),
        json!({
            "added": "it", "scope": "local", "file": LOCAL, "notYet": null,
            "entry": {"type": "stdio", "command": "cmd", "args": ["--token", "***"], "env": {"KEY": "***"}},
        })
    );
}

// U1 U2a
#[test]
fn options_of_every_command_may_follow_a_url_too() {
    let world = World::new();
    let added = world.mcparley(&["add", "x", "https://h/mcp", "-s", "user", "--json", "-H", "A: b"]);
    let report: serde_json::Value = serde_json::from_str(&added.out).unwrap();
    assert_eq!(report["scope"], "user");
    assert_eq!(report["entry"]["headers"], serde_json::json!({"A": "***"}));
}

// U1: words that would mean something elsewhere belong to the command that is added.
#[test]
fn a_command_that_looks_like_a_call_of_a_tool_is_kept_as_it_is() {
    assert_eq!(
        entry(&["it", "call", "mcp__a__b", "--json"]),
        stdio("call", &["mcp__a__b", "--json"], &json!({}))
    );
}
