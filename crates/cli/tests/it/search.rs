//! `search` and `budget` against real servers and from what is remembered.

use mcparley_cli::exit;
use mcparley_testkit::{ScriptedStdio, log_starts};
use serde_json::{Value, json};

use crate::talk::{entry, good, world};
use crate::world::World;

fn names(report: &Value) -> Vec<&str> {
    report["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

// U2 N10
#[test]
fn words_find_tools_and_the_best_comes_first() {
    let world = good();
    let out = world.ok(&["search", "sum", "of", "numbers"]);
    assert!(out.starts_with("good.add(a: number, b: number) ") && out.contains("  Add two numbers"), "{out}");
    let report = world.json(&["search", "echo", "--server", "good", "--limit", "1"]);
    assert_eq!(names(&report), ["mcp__good__echo"]);
    assert!(report["tools"][0]["inputSchema"].is_object());
    let report = world.json(&["search", "select:add,mcp__good__pid"]);
    assert_eq!(names(&report), ["mcp__good__add", "mcp__good__pid"]);
}

// U2 U3
#[test]
fn an_unknown_tool_has_its_own_exit_code_and_suggestions() {
    let world = good();
    let nothing = world.mcparley(&["search", "quetzalcoatl"]);
    assert_eq!(nothing.code, i32::from(exit::NOT_FOUND.number));
    let partly = world.mcparley(&["search", "select:mcp__good__ehco,add"]);
    assert_eq!(partly.code, i32::from(exit::NOT_FOUND.number));
    assert!(partly.out.contains("good.add("), "{partly:?}");
    assert!(partly.err.contains("did you mean `mcp__good__echo`"), "{partly:?}");
    assert_eq!(
        world.mcparley(&["search", "add", "--server", "godo"]).code,
        i32::from(exit::NOT_FOUND.number)
    );
    assert_eq!(world.mcparley(&["search"]).code, i32::from(exit::USAGE.number));
}

// L12 N10
#[test]
fn search_and_budget_use_the_cache_without_starting_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let world = world(&json!({ "one": entry(&ScriptedStdio::new(&[]).with_log(&log)) }));
    world.ok(&["tools"]);
    let starts = log_starts(&log).len();
    assert!(world.ok(&["search", "echo"]).contains("one.echo("));
    world.ok(&["budget"]);
    assert_eq!(log_starts(&log).len(), starts);
}

// N10
#[test]
fn the_budget_shows_every_tool_and_the_deferred_ones() {
    let world = good();
    let report = world.json(&["budget"]);
    let groups = report["groups"].as_array().unwrap();
    let sum: u64 = groups.iter().map(|group| group["tokens"].as_u64().unwrap()).sum();
    assert_eq!(report["tokens"], sum);
    assert_eq!((&report["budget"], &report["deferredTokens"]), (&json!(10_000), &json!(0)));
    let tools = groups.iter().find(|group| group["server"] == "good").unwrap()["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 8);
    assert!(tools.is_sorted_by_key(|tool| std::cmp::Reverse(tool["tokens"].as_u64())));
    assert!(tools.iter().all(|tool| tool["deferred"] == false));

    let small = world.json(&["budget", "--context", "1000"]);
    assert_eq!(small["budget"], 100);
    assert!(small["deferredTokens"].as_u64().unwrap() > 100);
    let text = world.ok(&["budget", "--context", "1000"]);
    assert!(text.contains("mcp__good__echo  deferred") && text.contains("ToolSearch\n"), "{text}");
}

// N10 N11
#[test]
fn cached_tools_take_as_many_tokens_as_live_ones() {
    let world = good();
    let live = world.json(&["budget"]);
    assert_eq!(world.json(&["budget"]), live);
}

// N10 U3
#[test]
fn a_budget_that_is_exceeded_fails_for_ci() {
    let world = good();
    let tokens = world.json(&["budget"])["tokens"].as_u64().unwrap();
    world.ok(&["budget", "--max", &tokens.to_string()]);
    let over = world.mcparley(&["budget", "--max", &(tokens - 1).to_string()]);
    assert_eq!(over.code, i32::from(exit::OVER_BUDGET.number));
    assert!(over.err.contains(&format!("the tools take {tokens} tokens")), "{over:?}");
}

// N10
#[test]
fn the_environment_says_when_tools_are_deferred() {
    let mut world = good();
    for (setting, budget) in [("true", json!(0)), ("false", Value::Null), ("auto:1", json!(1_000))] {
        world.set("ENABLE_TOOL_SEARCH", setting);
        assert_eq!(world.json(&["budget"])["budget"], budget, "{setting}");
    }
    world.set("ENABLE_TOOL_SEARCH", "perhaps");
    let told = world.mcparley(&["budget"]);
    assert_eq!(told.code, 0);
    assert!(told.err.contains("`perhaps`") && told.err.contains("auto:N"), "{told:?}");
}

// N10 P3
#[test]
fn denied_tools_are_neither_found_nor_counted() {
    let world = good();
    let deny = ["--disallowed-tools", "mcp__good__echo"];
    let report = world.json(&[&["budget"][..], &deny].concat());
    assert_eq!(report["denied"], json!(["mcp__good__echo"]));
    let found = world.mcparley(&[&["search", "select:mcp__good__echo"][..], &deny].concat());
    assert_eq!(found.code, i32::from(exit::NOT_FOUND.number));
}

// N9
#[test]
fn a_person_can_call_the_search_that_models_have() {
    let text = good().ok(&["call", "ToolSearch", "query=repeat a message"]);
    assert!(text.contains("mcp__good__echo"), "{text}");
    let text = World::new().ok(&["call", "ToolSearch", "query=list servers"]);
    assert!(!text.contains("mcparley"), "what is for diagnosis alone is not found: {text}");
}

// N10 U2
#[test]
fn the_budget_ends_with_advice_and_commands_that_follow_it() {
    let world = good();
    let fits = world.ok(&["budget"]);
    assert!(fits.ends_with("\nAdvice\n  all tools fit the budget\n"), "{fits}");
    let tight = world.ok(&["budget", "--context", "1000"]);
    assert!(tight.contains("\nAdvice\n  without `good` it would be "), "{tight}");
    assert!(tight.contains("\n    mcparley disable good\n"), "{tight}");
    let report = world.json(&["budget", "--context", "1000"]);
    assert_eq!(report["advice"][0]["command"], "mcparley disable good");
    world.ok(&["disable", "good"]);
    let less = world.json(&["budget", "--context", "1000"]);
    assert!(less["tokens"].as_u64() < report["tokens"].as_u64(), "{less}");
}
