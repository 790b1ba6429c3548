//! `prompts` and `prompt` against real servers.

use mcparley_cli::exit;
use mcparley_testkit::{ScriptedStdio, log_starts};
use serde_json::json;

use crate::talk::{entry, good, scripted, world};
use crate::world::refusal;

// U2 X3
#[test]
fn prompts_are_listed_with_how_they_are_used() {
    let world = good();
    assert_eq!(world.ok(&["prompts"]), "/mcp__good__greet  Say hello\n");
    let report = world.json(&["prompts", "good"]);
    let greet = json!({
        "name": "mcp__good__greet", "server": "good", "prompt": "greet", "description": "Say hello", "arguments": [],
    });
    assert_eq!(report, json!({ "prompts": [greet], "servers": [] }));
}

// U2 L12
#[test]
fn cached_lists_are_shown_without_starting_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let world = world(&json!({ "one": entry(&ScriptedStdio::new(&[]).with_log(&log)) }));
    let first = world.ok(&["prompts"]);
    assert_eq!(world.ok(&["prompts"]), first);
    assert_eq!(log_starts(&log).len(), 1);
    assert_eq!(world.ok(&["prompts", "one", "--refresh"]), first);
    assert_eq!(log_starts(&log).len(), 2);
}

// U2 X3
#[test]
fn a_prompt_is_had_by_its_whole_name_or_by_its_servers() {
    let world = good();
    for words in [&["good", "greet"][..], &["mcp__good__greet"], &["/mcp__good__greet"]] {
        assert_eq!(world.ok(&[&["prompt"], words].concat()), "Say hello.\n", "{words:?}");
    }
    let given = world.json(&["prompt", "good", "greet"]);
    let content = json!([{ "type": "text", "text": "Say hello." }]);
    assert_eq!(given, json!({ "server": "good", "messages": [{ "role": "user", "content": content }] }));
}

// U2 U3
#[test]
fn wrong_usage_is_refused_with_a_hint() {
    let world = world(&json!({ "good": scripted(&[]), "exits": scripted(&["exit-start"]) }));
    let code = i32::from(exit::USAGE.number);
    let surplus = "error: `x` is unexpected: the prompt takes no arguments\n\
        hint: use it as `/mcp__good__greet`; quotes keep a value with spaces together";
    assert_eq!(world.mcparley(&["prompt", "good", "greet", "x"]), refusal(code, surplus));
    let which =
        "error: missing prompt of server `good`\nhint: run `mcparley prompts good` to list its prompts";
    assert_eq!(world.mcparley(&["prompt", "good"]), refusal(code, which));
    let missing = "error: there is no prompt `gret`\nhint: did you mean `greet`?";
    let not_found = i32::from(exit::NOT_FOUND.number);
    assert_eq!(world.mcparley(&["prompt", "good", "gret"]), refusal(not_found, missing));
    assert_eq!(world.mcparley(&["prompt", "nobody", "x"]).code, not_found);
    assert_eq!(world.mcparley(&["prompt", "exits", "x"]).code, i32::from(exit::UNREACHABLE.number));
}
