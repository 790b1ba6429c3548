//! Rules hold for what they were given for, and single tools can be switched off (P1, P3, N14).

use serde_json::{Value, json};

use crate::talk::scripted;
use crate::world::World;

const LOCAL: &str = "home/project/.claude/settings.local.json";

fn world(server: &Value) -> World {
    World::with(&[("home/.claude.json", &json!({ "mcpServers": { "a": server } }).to_string())])
}

fn verdict(world: &World, tool: &str) -> Value {
    world.json(&["permissions", "test", "a", tool])["decision"]["verdict"].clone()
}

// B37: another server that gets the name does not inherit the rule; allowing it again confirms it.
#[test]
fn a_rule_for_all_tools_of_a_server_does_not_hold_for_another_of_its_name() {
    let world = world(&scripted(&[]));
    world.ok(&["permissions", "allow", "mcp__a__*"]);
    world.ok(&["tools", "a", "--refresh"]);
    assert_eq!(verdict(&world, "add"), "allow");
    assert_eq!(world.json(&["permissions", "list"])["rules"][0]["asIs"], false);

    world.write("description", "Add two numbers");
    let other = json!({ "mcpServers": { "a": scripted(&[&format!("described:{}", world.root.join("description").display())]) } });
    world.write("home/.claude.json", &other.to_string());
    world.ok(&["tools", "a", "--refresh"]);
    assert_eq!(verdict(&world, "add"), "ask");

    world.ok(&["permissions", "allow", "mcp__a__*"]);
    assert_eq!(verdict(&world, "add"), "allow");
}

// B37: the same for a rule that somebody wrote into a settings file by hand.
#[test]
fn a_rule_typed_into_settings_holds_for_the_server_it_was_first_seen_with_until_confirmed() {
    let world = world(&scripted(&[]));
    world.write("home/.claude/settings.json", r#"{ "permissions": { "allow": ["mcp__a__*"] } }"#);
    let use_server = |server: Value| {
        world.write("home/.claude.json", &json!({ "mcpServers": { "a": server } }).to_string());
        world.ok(&["tools", "a", "--refresh"]);
    };
    use_server(scripted(&[]));
    assert_eq!(verdict(&world, "add"), "allow");

    world.write("description", "Add two numbers");
    let other = scripted(&[&format!("described:{}", world.root.join("description").display())]);
    use_server(other);
    let told = world.mcparley(&["permissions", "test", "a", "add"]);
    assert!(told.out.starts_with("ask  add of a\n"), "{told:?}");
    assert!(told.out.contains("but it was given for another server of that name\n"), "{told:?}");
    let hint = "hint: to allow it for this server too, run `mcparley permissions allow 'mcp__a__*'`\n";
    assert!(told.err.ends_with(hint), "{told:?}");

    world.ok(&["permissions", "allow", "mcp__a__*", "--scope", "user"]);
    assert_eq!(verdict(&world, "add"), "allow");
    use_server(scripted(&[]));
    assert_eq!(verdict(&world, "add"), "allow", "the first server keeps it");
}

// P3
#[test]
fn a_rule_overridden_by_a_stronger_one_is_reported() {
    let told = "is stronger\nhint: remove one of the two\n";
    let first = world(&scripted(&[]));
    first.ok(&["permissions", "deny", "mcp__a"]);
    let allowed = first.mcparley(&["permissions", "allow", "mcp__a__add"]);
    assert!(allowed.err.contains("allow rule `mcp__a__add`") && allowed.err.ends_with(told), "{allowed:?}");
    let listed = first.mcparley(&["permissions", "list"]);
    assert!(listed.err.ends_with(told), "{listed:?}");

    let second = world(&scripted(&[]));
    assert_eq!(second.mcparley(&["permissions", "allow", "mcp__a__add"]).err, "");
    let denied = second.mcparley(&["permissions", "deny", "mcp__a"]);
    assert!(denied.err.contains("allow rule `mcp__a__add`") && denied.err.ends_with(told), "{denied:?}");
    assert_eq!(second.read_json(LOCAL)["permissions"]["deny"], json!(["mcp__a"]));
}

fn tools(world: &World) -> Vec<String> {
    let listed = world.json(&["tools", "a", "--refresh"]);
    let tools = listed["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["tool"].as_str().unwrap_or_default().to_owned()).collect()
}

// N14
#[test]
fn tools_of_a_server_are_disabled_and_enabled_in_its_entry() {
    let world = world(&scripted(&[]));
    let before = tools(&world);
    assert!(before.contains(&"add".to_owned()), "{before:?}");
    assert_eq!(
        world.ok(&["disable", "a", "add", "ec*"]),
        "add, ec* of a is now disabled\nFile: home/.claude.json\n"
    );
    let entry = || world.read_json("home/.claude.json")["mcpServers"]["a"].clone();
    assert_eq!(entry()["disabledTools"], json!(["add", "ec*"]));
    let without = tools(&world);
    assert!(!without.contains(&"add".to_owned()) && !without.contains(&"echo".to_owned()), "{without:?}");
    let still = world.mcparley(&["enable", "a", "add", "echo"]);
    assert_eq!(still.err, "warning: still disabled by `ec*` in `disabledTools`\n");
    world.ok(&["enable", "a", "ec*"]);
    assert_eq!(tools(&world), before);
    assert_eq!(world.ok(&["enable", "a", "add"]), "add of a was already enabled\n");
    let unknown = world.mcparley(&["disable", "b", "add"]);
    assert!(unknown.code != 0 && unknown.err.contains("there is no server named `b`"), "{unknown:?}");
}

// P1
#[test]
fn what_was_denied_for_want_of_permission_is_listed_with_the_command_that_allows_it() {
    let world = world(&scripted(&[]));
    assert_eq!(world.ok(&["pending"]), "No open questions and no denied tools.\n");
    let line = |tool: &str, project: &str| {
        json!({ "tool": tool, "at": 1, "project": project, "reason": "mode dontAsk" }).to_string()
    };
    let project = world.project.to_string_lossy().into_owned();
    let lines =
        [line("mcp__a__add", &project), line("mcp__a__add", &project), line("mcp__a__x", "/elsewhere")];
    world.write("home/.local/state/mcparley/pending.jsonl", &format!("{}\nbroken\n", lines.join("\n")));
    assert_eq!(
        world.ok(&["pending"]),
        "mcp__a__add  mode dontAsk\n  mcparley permissions allow mcp__a__add\n"
    );
    world.ok(&["permissions", "allow", "mcp__a__add"]);
    assert_eq!(world.json(&["pending"]), json!({ "questions": [], "pending": [] }));
}
