//! `serve` under clients that others wrote, in both eras.
//!
//! The same story for each: list, call, a call that nobody may make, a result too long for a model, and a search for tools
//! that are not listed. Behind the gateway stand server-everything and a server of ours.

use std::io::Write;
use std::process::Stdio;

use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};

use super::place::{Place, installed, repository};
use super::servers::EVERYTHING;

/// A client: makes these steps with `serve` and these options, and says what came of each.
type Client = fn(&Place, &[&str], &[Value]) -> Vec<Value>;

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcparley");

/// Two servers, of which everything may be called except `mcp__everything__get-sum`.
fn place() -> Place {
    let place = Place::new();
    let (everything, _) = (EVERYTHING.entry)(&place);
    let own = ScriptedStdio::new(&[]);
    let args: Vec<&str> = own.args.iter().map(String::as_str).collect();
    let servers = json!({ "everything": everything, "own": place.stdio(&own.program, &args, &[]) });
    place.world.write("home/.claude.json", &json!({ "mcpServers": servers }).to_string());
    let allow = ["mcp__everything__echo", "mcp__own", "ReadResult", "ToolSearch"];
    let settings = json!({ "permissions": { "allow": allow } });
    place.world.write("home/.claude/settings.json", &settings.to_string());
    place
}

fn python(era: &str, place: &Place, options: &[&str], steps: &[Value]) -> Vec<Value> {
    let script = repository().join("fleet/client.py");
    let script = script.to_string_lossy().into_owned();
    let arguments = [&[script.as_str(), era, "none", PROGRAM, "serve"], options].concat();
    let mut command = place.world.command_of(&installed("servers/bin/python"), &arguments);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let lines: String = steps.iter().map(|step| format!("{step}\n")).collect();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    let out = String::from_utf8(done.stdout).unwrap();
    let mut lines = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let agreed = lines.next().unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&done.stderr)));
    let expected = if era == "legacy" { "2025-11-25" } else { era };
    assert_eq!(agreed["protocol"], expected);
    let came: Vec<Value> = lines.collect();
    assert_eq!(came.len(), steps.len(), "{}", String::from_utf8_lossy(&done.stderr));
    came
}

fn inspector(era: &str, place: &Place, options: &[&str], steps: &[Value]) -> Vec<Value> {
    steps.iter().map(|step| inspected(era, place, options, step)).collect()
}

fn inspected(era: &str, place: &Place, options: &[&str], step: &Value) -> Value {
    let launcher = "inspector/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
    let launcher = installed(launcher).to_string_lossy().into_owned();
    let mut arguments = vec![launcher, "--cli".to_owned(), "--protocol-era".to_owned(), era.to_owned()];
    let mut add = |words: &[&str]| arguments.extend(words.iter().map(|&word| word.to_owned()));
    match step.get("call").and_then(Value::as_str) {
        None => add(&["--method", "tools/list"]),
        Some(name) => {
            add(&["--method", "tools/call", "--tool-name", name]);
            for (key, value) in step["arguments"].as_object().unwrap() {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                add(&["--tool-arg", &format!("{key}={value}")]);
            }
        }
    }
    add(&["--", PROGRAM, "serve"]);
    add(options);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = place.world.finish(&mut place.world.command_of(&installed("inspector/node"), &arguments));
    let mut values = serde_json::Deserializer::from_str(&done.out).into_iter::<Value>();
    let mut came = values.next().and_then(Result::ok).unwrap_or_else(|| panic!("{done:?}"));
    if let Some(tools) = came.get("tools").and_then(Value::as_array) {
        came["tools"] = tools.iter().map(|tool| tool["name"].clone()).collect();
    }
    came
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}

fn call(name: &str, arguments: &Value) -> Value {
    json!({ "call": name, "arguments": arguments })
}

fn names(result: &Value) -> Vec<&str> {
    result["tools"]
        .as_array()
        .unwrap_or_else(|| panic!("{result}"))
        .iter()
        .filter_map(Value::as_str)
        .collect()
}

/// Lists and calls, is refused a call, and gets a result that is too long for a model.
fn assert_serves(client: Client) {
    let place = place();
    let steps = [
        json!({ "list": true }),
        call("everything__echo", &json!({ "message": "through the gateway" })),
        call("everything__get-sum", &json!({ "a": 1, "b": 2 })),
        call("own__big", &json!({ "bytes": 300_000 })),
    ];
    let came = client(&place, &["--defer", "never", "--permission-mode", "default"], &steps);
    let [list, echoed, denied, long] = came.as_slice() else { panic!("{came:?}") };
    for name in ["everything__echo", "everything__get-sum", "own__big"] {
        assert!(names(list).contains(&name), "{list}");
    }
    assert!(text(echoed).contains("through the gateway"), "{echoed}");
    assert_eq!(denied["isError"], true, "{denied}");
    assert!(text(denied).contains("the user can allow it"), "{denied}");
    assert!(text(long).len() < 4_000 && text(long).contains("ReadResult"), "{long}");
    let steps = [
        json!({ "list": true }),
        call("ToolSearch", &json!({ "query": "echo a message", "max_results": 10 })),
        call("CallTool", &json!({ "name": "everything__echo", "arguments": { "message": "found" } })),
    ];
    let came = client(&place, &["--defer", "always"], &steps);
    let [list, search, found] = came.as_slice() else { panic!("{came:?}") };
    assert!(names(list).contains(&"ToolSearch") && !names(list).contains(&"everything__echo"), "{list}");
    assert!(text(search).contains("everything__echo"), "{search}");
    assert!(text(found).contains("found"), "{found}");
    assert_eq!(place.processes(), Vec::<u32>::new(), "nothing is left running");
}

// G1 G2 N10 R2 R5 P1
#[test]
fn fleet_python_client_is_served_in_the_old_era() {
    assert_serves(|place, options, steps| python("legacy", place, options, steps));
}

// G1 G2 N10 R2 R5 P1
#[test]
fn fleet_python_client_is_served_in_the_new_era() {
    assert_serves(|place, options, steps| python("2026-07-28", place, options, steps));
}

// G1 G2 N10 R2 R5 P1
#[test]
fn fleet_inspector_is_served_in_the_old_era() {
    assert_serves(|place, options, steps| inspector("legacy", place, options, steps));
}

// G1 G2 N10 R2 R5 P1
#[test]
fn fleet_inspector_is_served_in_the_new_era() {
    assert_serves(|place, options, steps| inspector("modern", place, options, steps));
}

// P2 G2: a client that cannot ask a person, and `serve` without an option.
#[test]
fn fleet_inspector_calls_a_tool_that_no_rule_names() {
    for era in ["legacy", "modern"] {
        let steps = [call("everything__get-sum", &json!({ "a": 1, "b": 2 }))];
        let came = inspector(era, &place(), &[], &steps);
        assert_ne!(came[0]["isError"], true, "{era}: {came:?}");
        assert!(text(&came[0]).contains('3'), "{era}: {came:?}");
    }
}
