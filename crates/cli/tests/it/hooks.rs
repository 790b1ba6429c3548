//! `hooks`, and what hooks and records do around `call`.

use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};

use crate::world::World;

fn hook(command: &str) -> String {
    let hook = json!({ "type": "command", "command": command, "timeout": 5 });
    let groups = json!([{ "matcher": "mcp__one__.*", "hooks": [hook] }]);
    json!({ "hooks": { "PreToolUse": groups, "Stop": [] } }).to_string()
}

fn world(user: &str, project: &str) -> World {
    let entry = ScriptedStdio::new(&[]);
    let servers = json!({ "mcpServers": { "one": { "command": entry.program, "args": entry.args } } });
    World::with(&[
        ("home/.claude.json", &servers.to_string()),
        ("home/.claude/settings.json", user),
        ("home/project/.claude/settings.json", project),
    ])
}

fn definition(world: &World) -> String {
    let listed: Value = serde_json::from_str(&world.mcparley(&["hooks", "list", "--json"]).out).unwrap();
    let hooks = listed["hooks"].as_array().unwrap();
    let project = hooks.iter().find(|hook| hook["layer"] == "project").unwrap();
    project["definition"].as_str().unwrap().to_owned()
}

// P5 H05 B26 B62
#[test]
fn hooks_are_listed_with_their_status_and_without_secrets() {
    let world = world(&hook("guard --token abcdef0123456789"), &hook("touch ran"));
    let listed = world.mcparley(&["hooks", "list"]);
    let definition = definition(&world);
    let user: Value = serde_json::from_str(&world.mcparley(&["hooks", "list", "--json"]).out).unwrap();
    let own = user["hooks"][0]["definition"].as_str().unwrap().to_owned();
    assert_eq!(
        listed.out,
        format!(
            "ready           PreToolUse          mcp__one__.*\n                guard --token ***\n                {}  home/.claude/settings.json:1:60\n\
             needs approval  PreToolUse          mcp__one__.*\n                touch ran\n                {}  home/project/.claude/settings.json:1:60\n                comes with the project and was not approved as it is now\n                hint: `mcparley hooks approve {}`\n",
            &own[..19],
            &definition[..19],
            &definition[..19]
        )
    );
    assert!(listed.err.contains("hooks for `Stop` do not run here"), "{}", listed.err);
    assert_eq!(user["hooks"][0]["standing"], json!({ "state": "ready" }));
    let plan = world.mcparley(&["plan"]);
    assert!(
        plan.out.contains("1 hook of this project needs approval; run `mcparley hooks list`\n"),
        "{}",
        plan.out
    );
    assert!(world.mcparley(&["state"]).out.contains("needs-approval"));
}

// P5 H05 B26 U2a
#[test]
fn a_hook_of_the_project_runs_in_calls_once_it_is_approved() {
    let world = world("{}", &hook("echo not today >&2; exit 2"));
    let call = ["call", "one", "echo", "message=hi"];
    assert_eq!(world.mcparley(&call).out, "hi\n");
    let definition = definition(&world);
    let approved = world.mcparley(&["hooks", "approve", &definition[..19]]);
    assert_eq!((approved.code, approved.out.contains("approvals.json")), (0, true), "{approved:?}");
    let denied = world.mcparley(&call);
    assert_eq!(denied.code, 10, "{denied:?}");
    assert!(denied.err.contains("not today") && denied.err.contains("mcparley hooks list"), "{}", denied.err);
    assert_eq!(world.mcparley(&["hooks", "reject", &definition]).code, 0);
    assert_eq!(world.mcparley(&call).out, "hi\n");
    let none = world.mcparley(&["hooks", "approve", "sha256:000000000000"]);
    assert!(none.code != 0 && none.err.contains("there is no hook"), "{none:?}");
}

// P5
#[test]
fn messages_and_failures_of_hooks_go_to_standard_error() {
    let message = json!({ "systemMessage": "careful" });
    let world = world(&hook(&format!("printf %s '{message}'")), "{}");
    let called = world.mcparley(&["call", "one", "echo", "message=hi"]);
    assert_eq!(called.out, "hi\n");
    assert!(called.err.contains("careful"), "{}", called.err);
    world.write("home/.claude/settings.json", &hook("exit 3"));
    let called = world.mcparley(&["call", "one", "echo", "message=hi"]);
    assert_eq!(called.out, "hi\n");
    assert!(called.err.contains("it exited with code 3"), "{}", called.err);
}

fn records(world: &World) -> Vec<Value> {
    let text = world.read("home/.local/state/mcparley/audit/calls.jsonl");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

// B118 H36 G6
#[test]
fn calls_of_several_processes_at_once_are_recorded_line_by_line() {
    let world = world(r#"{"audit": true}"#, "{}");
    let call =
        || world.command(&["call", "one", "echo", "message=canary"]).output().unwrap().status.success();
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..8).map(|_| scope.spawn(call)).collect();
        assert!(runs.into_iter().all(|run| run.join().unwrap()));
    });
    let records = records(&world);
    assert_eq!(records.len(), 8);
    let is_right = |record: &Value| {
        record["door"] == "cli"
            && record["decidedBy"] == "consent"
            && record["outcome"] == "ok"
            && record["number"] == 1
    };
    assert!(records.iter().all(is_right), "{records:?}");
    assert!(!world.read("home/.local/state/mcparley/audit/calls.jsonl").contains("canary"));
    world.write("home/.claude/settings.json", r#"{"audit": false}"#);
    assert!(call());
    world.write("home/.claude/settings.json", "{}");
    assert!(call());
    assert_eq!(self::records(&world).len(), 8, "what a person types is recorded only if somebody wants it");
    world.write("home/.claude/settings.json", r#"{"audit": true}"#);
    world.write("home/project/.claude/settings.json", r#"{"audit": false}"#);
    assert!(call());
    assert_eq!(self::records(&world).len(), 9, "a project's file cannot switch it off");
}
