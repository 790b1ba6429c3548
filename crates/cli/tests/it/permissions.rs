//! `permissions test`: which rule decides, and why (P3, P4, B34, B35).

use serde_json::json;

use crate::world::{World, refusal};

fn world() -> World {
    let world = World::new();
    for name in ["slack", "slack__evil", "a", "a__b"] {
        world.ok(&["add", "-s", "user", name, name]);
    }
    world
}

fn verdict(world: &World, args: &[&str]) -> String {
    let told = world.ok(&[&["permissions", "test"], args].concat());
    told.split("  ").next().unwrap().to_owned()
}

// P3 B35
#[test]
fn a_rule_for_a_server_does_not_reach_one_whose_name_begins_the_same() {
    let world = world();
    for rule in ["mcp__slack__*", "mcp__slack"] {
        assert_eq!(verdict(&world, &["slack", "post", "--allowed-tools", rule]), "allow");
        assert_eq!(verdict(&world, &["slack__evil", "post", "--allowed-tools", rule]), "ask");
    }
}

// P3 B34
#[test]
fn a_rule_that_could_mean_two_tools_allows_neither_and_denies_both() {
    let world = world();
    for (server, tool) in [("a", "b__c"), ("a__b", "c")] {
        assert_eq!(verdict(&world, &[server, tool, "--allowed-tools", "mcp__a__b__c"]), "ask");
        assert_eq!(verdict(&world, &[server, tool, "--disallowed-tools", "mcp__a__b__c"]), "deny");
    }
    let done = world.mcparley(&["permissions", "test", "a", "b__c", "--allowed-tools", "mcp__a__b__c"]);
    assert!(done.err.starts_with(
        "warning: allow rule `mcp__a__b__c` (command line, --allowed-tools) matches nothing, because it could mean \
         tool `b__c` of server `a` or tool `c` of server `a__b`\nhint: write `"
    ));
}

// P3 B34
#[test]
fn the_names_that_the_hint_suggests_tell_the_two_tools_apart() {
    let world = world();
    let done = world.mcparley(&["permissions", "test", "a", "b__c", "--allowed-tools", "mcp__a__b__c"]);
    let hint = done.err.lines().find_map(|line| line.strip_prefix("hint: write `")).unwrap();
    let (first, second) = hint.trim_end_matches('`').split_once("` or `").unwrap();
    for (rule, outer, inner) in [(first, "allow", "ask"), (second, "ask", "allow")] {
        assert_eq!(verdict(&world, &["a", "b__c", "--allowed-tools", rule]), outer);
        assert_eq!(verdict(&world, &["a__b", "c", "--allowed-tools", rule]), inner);
    }
}

// P3
#[test]
fn deny_beats_ask_beats_allow_wherever_they_stand() {
    let world = world();
    let file = "home/project/.claude/settings.local.json";
    world.write(file, r#"{"permissions": {"ask": ["mcp__slack__post"], "allow": ["mcp__slack"]}}"#);
    world.ok(&["trust", "--yes"]);
    assert_eq!(verdict(&world, &["slack", "read"]), "allow");
    assert_eq!(verdict(&world, &["slack", "post", "--allowed-tools", "mcp__slack__post"]), "ask");
    world.write("managed/managed-settings.json", r#"{"permissions": {"deny": ["mcp__slack__p*"]}}"#);
    assert_eq!(verdict(&world, &["slack", "post", "--permission-mode", "bypassPermissions"]), "deny");
}

// P3 U2a
#[test]
fn the_mode_decides_where_no_rule_does() {
    let world = world();
    let cases = [
        ("default", "ask"),
        ("acceptEdits", "ask"),
        ("plan", "deny"),
        ("bypassPermissions", "allow"),
        ("auto", "ask"),
        ("dontAsk", "deny"),
        ("client", "allow"),
    ];
    for (mode, expected) in cases {
        assert_eq!(verdict(&world, &["slack", "post", "--permission-mode", mode]), expected, "{mode}");
    }
    assert_eq!(verdict(&world, &["slack", "read", "--permission-mode", "plan", "--read-only"]), "ask");
    assert_eq!(world.mcparley(&["permissions", "test", "a", "b", "--permission-mode", "nope"]).code, 2);
}

// P3 B25
#[test]
fn a_repository_cannot_choose_to_be_trusted() {
    let world = world();
    world.write(
        "home/project/.claude/settings.json",
        r#"{"permissions": {"defaultMode": "bypassPermissions"}}"#,
    );
    let done = world.mcparley(&["permissions", "test", "slack", "post"]);
    assert_eq!(done.out, "ask  post of slack\n  because of mode `default`, since no rule decides\n");
    assert_eq!(
        done.err,
        "warning: home/project/.claude/settings.json:1:33: a file in the project's folder cannot choose the permission mode \
         `bypassPermissions`\n"
    );
}

// P4
#[test]
fn a_rule_may_look_at_the_arguments() {
    let world = world();
    let rule = ["--allowed-tools", "mcp__a__query(sql:SELECT *)", "--arguments"];
    assert_eq!(verdict(&world, &[&["a", "query"], &rule[..], &[r#"{"sql":"SELECT 1"}"#]].concat()), "allow");
    assert_eq!(verdict(&world, &[&["a", "query"], &rule[..], &[r#"{"sql":"DROP x"}"#]].concat()), "ask");
    assert_eq!(verdict(&world, &["a", "query", "--allowed-tools", rule[1]]), "ask");
    assert_eq!(
        world.mcparley(&["permissions", "test", "a", "query", "--arguments", "[1]"]),
        refusal(
            2,
            "error: the arguments are not a JSON object\nhint: write them like --arguments '{\"key\":\"value\"}'"
        )
    );
}

// P4 U3
#[test]
fn the_decision_as_json_names_the_rule_and_its_place() {
    let world = world();
    world.write("home/.claude/settings.local.json", "{}");
    world.write(
        "home/project/.claude/settings.local.json",
        "{\"permissions\": {\n\"deny\": [\"mcp__slack__post\"]}}",
    );
    assert_eq!(
        world.json(&["permissions", "test", "mcp__slack__post"]),
        json!({
            "server": "slack", "tool": "post", "mode": "default", "deadRules": [],
            "toolPin": "warn", "definition": "unknown", "difference": [], "hooks": [],
            "decision": {"verdict": "deny", "why": {"by": "rule", "rule": {
                "kind": "deny", "text": "mcp__slack__post", "scope": "local",
                "origin": {"file": "home/project/.claude/settings.local.json", "line": 2, "column": 10},
            }}},
        })
    );
}

// P3
#[test]
fn a_whole_name_is_looked_up_and_never_split() {
    let world = world();
    let apart = "hint: use separate words: `mcparley permissions test SERVER TOOL`";
    assert_eq!(
        world.mcparley(&["permissions", "test", "mcp__a__b__c"]),
        refusal(2, &format!("error: `mcp__a__b__c` matches several tools\n{apart}"))
    );
    assert_eq!(
        world.mcparley(&["permissions", "test", "mcp__nobody__x"]),
        refusal(2, &format!("error: `mcp__nobody__x` is not a tool of a configured server\n{apart}"))
    );
}

// P3 U2a
#[test]
fn a_broken_rule_on_the_command_line_ends_the_run_and_one_in_a_file_is_told() {
    let world = world();
    assert_eq!(
        world.mcparley(&["permissions", "test", "a", "x", "--allowed-tools", "mcp__a(b:c"]),
        refusal(
            3,
            "error: --allowed-tools: `mcp__a(b:c` is not a permission rule: `(` is never closed\nhint: end the rule with `)`"
        )
    );
    world.write(
        "home/project/.claude/settings.json",
        r#"{"permissions": {"deny": ["mcp__a(b:c", "mcp__a"]}}"#,
    );
    let done = world.mcparley(&["permissions", "test", "a", "x"]);
    assert!(done.out.starts_with("deny  x of a\n"), "{done:?}");
    assert_eq!(
        done.err,
        "warning: home/project/.claude/settings.json:1:27: `mcp__a(b:c` is not a permission rule: `(` is never closed\n"
    );
}

// P4
#[test]
fn a_comma_inside_a_condition_does_not_end_a_rule() {
    let world = World::new();
    world.ok(&["add", "db", "x"]);
    let rules = "mcp__db__query(sql:a,b),mcp__db__list";
    for (tool, arguments) in [("query", r#"{"sql":"a,b"}"#), ("list", "{}")] {
        let decision = world.json(&[
            "permissions",
            "test",
            "db",
            tool,
            "--arguments",
            arguments,
            "--allowed-tools",
            rules,
        ]);
        assert_eq!(decision["decision"]["verdict"], "allow", "{tool}");
    }
}

// P4 H1 U2
#[test]
fn the_test_of_a_call_names_the_hooks_that_it_triggers() {
    let world = world();
    let settings = json!({ "hooks": {
        "PreToolUse": [{ "matcher": "mcp__slack__.*", "hooks": [{ "type": "command", "command": "./guard.sh" }] }],
        "PostToolUse": [{ "matcher": "mcp__other__.*", "hooks": [{ "type": "command", "command": "./note.sh" }] }],
    } });
    world.write("home/.claude/settings.json", &settings.to_string());
    let text = world.ok(&["permissions", "test", "slack.post"]);
    assert!(text.contains("  a call triggers these hooks:\n    PreToolUse          ./guard.sh\n"), "{text}");
    assert!(!text.contains("note.sh"), "{text}");
    let report = world.json(&["permissions", "test", "slack.post"]);
    assert_eq!(report["hooks"].as_array().unwrap().len(), 1, "{report}");
    world.write("home/project/.claude/settings.json", &settings.to_string().replace("guard.sh", "theirs.sh"));
    let text = world.ok(&["permissions", "test", "slack.post"]);
    assert!(text.contains("./theirs.sh (needs approval, so it does not run)"), "{text}");
}
