//! `permissions list|allow|ask|deny|remove`: rules that people write and read (P3, U2).

use mcparley_cli::exit;
use serde_json::json;

use crate::talk::good;
use crate::world::{Output, World, refusal};

const LOCAL: &str = "home/project/.claude/settings.local.json";
const USER: &str = "home/.claude/settings.json";
const SHARED: &str = "home/project/.claude/settings.json";

fn world() -> World {
    let world = World::new();
    world.ok(&["add", "-s", "user", "db", "db"]);
    world
}

// P3 C14 U2
#[test]
fn a_rule_is_written_to_the_settings_of_its_scope_and_nothing_else_is_touched() {
    let world = world();
    world.write(LOCAL, "{\n  // mine\n  \"permissions\": {\"allow\": [\"Bash(ls)\"]},\n  \"other\": 1\n}\n");
    assert_eq!(
        world.ok(&["permissions", "allow", "mcp__db__query(sql:SELECT *)"]),
        format!("Added allow rule mcp__db__query(sql:SELECT *)\nFile: {LOCAL}\n")
    );
    assert_eq!(
        world.read(LOCAL),
        "{\n  // mine\n  \"permissions\": {\"allow\": [\"Bash(ls)\", \"mcp__db__query(sql:SELECT *)\"]},\n  \"other\": 1\n}\n"
    );
    world.ok(&["permissions", "ask", "mcp__db__drop", "-s", "user"]);
    world.ok(&["permissions", "deny", "mcp__db__erase", "-s", "project"]);
    assert_eq!(world.read_json(USER)["permissions"], json!({ "ask": ["mcp__db__drop"] }));
    assert_eq!(world.read_json(SHARED)["permissions"], json!({ "deny": ["mcp__db__erase"] }));
    for (tool, verdict) in [("drop", "ask"), ("erase", "deny")] {
        assert_eq!(world.json(&["permissions", "test", "db", tool])["decision"]["verdict"], verdict);
    }
    let again = world.ok(&["permissions", "ask", "mcp__db__drop", "-s", "user"]);
    assert_eq!(again, format!("The ask rule mcp__db__drop already exists\nFile: {USER}\n"));
    assert_eq!(
        world.json(&["permissions", "deny", "mcp__db"]),
        json!({ "kind": "deny", "rule": "mcp__db", "file": LOCAL, "existed": false, "asIs": false })
    );
}

// P3 U2
#[test]
fn an_invalid_rule_is_not_written_and_a_dead_rule_is_reported() {
    let world = world();
    assert_eq!(
        world.mcparley(&["permissions", "allow", "mcp__db(x"]),
        refusal(
            2,
            "error: `mcp__db(x` is not a permission rule: `(` is never closed\nhint: end the rule with `)`"
        )
    );
    assert!(!world.files().contains(&LOCAL.to_owned()));
    let Output { code, err, .. } = world.mcparley(&["permissions", "allow", "mcp__nobody__x"]);
    assert_eq!(code, 0);
    assert_eq!(
        err,
        format!(
            "warning: allow rule `mcp__nobody__x` (local, {LOCAL}:1:27) matches nothing: no server is called `nobody`\n\
             hint: fix the server name in the rule, or remove the rule\n"
        )
        .replace(":1:27", &position(&err))
    );
}

/// Where the message says the rule stands.
fn position(err: &str) -> String {
    let behind = err.split(LOCAL).nth(1).unwrap();
    behind.split(')').next().unwrap().to_owned()
}

// P3 U2
#[test]
fn a_rule_is_removed_wherever_a_person_may_edit_it() {
    let world = world();
    for scope in ["local", "user", "project"] {
        world.ok(&["permissions", "allow", "mcp__db", "-s", scope]);
    }
    assert_eq!(
        world.ok(&["permissions", "remove", "mcp__db", "-s", "user"]),
        format!("Removed rule mcp__db\nFile: {USER}\n")
    );
    assert_eq!(
        world.json(&["permissions", "remove", "mcp__db"]),
        json!({ "removed": "mcp__db", "files": [LOCAL, SHARED] })
    );
    assert_eq!(
        world.mcparley(&["permissions", "remove", "mcp__db"]),
        refusal(
            exit::NOT_FOUND.number.into(),
            "error: no rule `mcp__db` is in a file that you can edit\n\
             hint: `mcparley permissions list` shows every rule and its file"
        )
    );
    world.write("managed/managed-settings.json", r#"{"permissions": {"deny": ["mcp__db"]}}"#);
    assert_eq!(
        world.mcparley(&["permissions", "remove", "mcp__db"]),
        refusal(
            exit::NOT_FOUND.number.into(),
            "error: no rule `mcp__db` is in a file that you can edit\n\
             hint: it is in managed/managed-settings.json:1:27"
        )
    );
    assert!(world.read("managed/managed-settings.json").contains("mcp__db"));
}

// P3 C7
#[test]
fn a_rule_written_into_the_folder_counts_and_one_that_lay_there_waits() {
    let world = world();
    world.write(LOCAL, r#"{"permissions": {"allow": ["mcp__theirs"]}}"#);
    world.ok(&["permissions", "allow", "mcp__db"]);
    let report: serde_json::Value = serde_json::from_str(&world.mcparley(&["trust", "--json"]).out).unwrap();
    let waiting: Vec<_> = report["rules"].as_array().unwrap().iter().map(|rule| &rule["text"]).collect();
    assert_eq!(waiting, ["mcp__theirs"]);
}

// P3 U2 U3
#[test]
fn every_rule_is_listed_with_its_file_and_the_tools_it_matches() {
    let world = good();
    world.ok(&["tools"]);
    world.ok(&["permissions", "deny", "mcp__good__*(message:rm *)"]);
    world.ok(&["permissions", "allow", "mcp__good__e*", "-s", "user"]);
    world.mcparley(&["permissions", "ask", "mcp__gone__x", "-s", "user"]);
    let done = world.mcparley(&["permissions", "list"]);
    let paths = |line: &&str| !line.contains("settings");
    assert_eq!(
        done.out.lines().filter(paths).collect::<Vec<_>>(),
        [
            "mode default, changed tools: warn",
            "deny   mcp__good__*(message:rm *)",
            "       matches mcp__good__echo, mcp__good__add, mcp__good__fail and 5 more",
            "ask    mcp__gone__x",
            "allow  mcp__good__e*",
            "       matches mcp__good__echo, mcp__good__env",
        ]
    );
    assert!(done.err.contains("matches nothing: no server is called `gone`"), "{}", done.err);
    let report = world.json(&["permissions", "list"]);
    assert_eq!((&report["mode"], &report["toolPin"]), (&json!("default"), &json!("warn")));
    let rule = &report["rules"][2];
    assert_eq!(rule["tools"], json!(["mcp__good__echo", "mcp__good__env"]));
    assert_eq!(rule["origin"]["file"], USER);
    assert_eq!(
        (&rule["kind"], &rule["scope"], &rule["asIs"]),
        (&json!("allow"), &json!("user"), &json!(false))
    );
    assert_eq!(report["rules"][1]["dead"], json!({ "reason": "unknownServer", "server": "gone" }));
}
