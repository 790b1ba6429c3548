//! `agents`, and what `--agent` shows (X7).

use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};

use crate::world::World;

const USER: &str = "home/.claude/agents/reviewer.md";
const PROJECT: &str = "home/project/.claude/agents/helper.md";

fn described() -> World {
    World::with(&[
        ("home/.claude.json", r#"{"mcpServers": {"github": {"command": "gh"}, "other": {"command": "o"}}}"#),
        (
            USER,
            "---\nname: reviewer\ndescription: Looks at changes\nmcpServers: [github, githib, {notes: {command: n}}]\n---\n",
        ),
        (
            PROJECT,
            "---\nname: helper\nmcpServers: {tool: {command: run, args: [a]}}\nrequired: github\n---\n",
        ),
    ])
}

// X7 C15
#[test]
fn every_agent_is_listed_with_its_servers_and_missing_ones() {
    let world = described();
    world.write("home/.claude/agents/bad.md", "---\nname: [\n---\n");
    let done = world.mcparley(&["agents"]);
    assert_eq!(done.code, 0);
    assert!(done.err.contains("home/.claude/agents/bad.md:"), "{}", done.err);
    let expected = "\
reviewer  user  Looks at changes
  defined in home/.claude/agents/reviewer.md
  uses github, githib
  missing `githib`: it is not configured; did you mean `github`?
  ready           notes  n
helper  project
  defined in home/project/.claude/agents/helper.md
  uses all shared servers
  requires github
  needs approval  tool  run a
                  comes with the project and was not approved yet
                  hint: look at it with `mcparley get tool`, then `mcparley approve tool`
";
    assert_eq!(done.out, expected);
    let report = world.json(&["agents"]);
    assert_eq!(report["agents"][0]["missing"][0]["name"], "githib");
    assert_eq!(report["agents"][1]["servers"][0]["standing"]["is"], "needs approval");
    assert_eq!(report["agents"][1].get("shared"), None);
    assert_eq!(report["problems"].as_array().map(Vec::len), Some(1));
}

// X7
#[test]
fn without_agents_a_hint_shows_how_to_create_one() {
    let done = World::new().mcparley(&["agents"]);
    assert_eq!((done.code, done.out.as_str()), (0, "No agents found.\n"));
    assert!(done.err.contains("hint:"), "{}", done.err);
}

// X7 C7
#[test]
fn servers_of_an_agent_are_shown_and_approved_by_name() {
    let world = described();
    let seen = world.json(&["get", "tool"]);
    let definition = seen["declarations"][0]["definition"].as_str().unwrap().to_owned();
    world.ok(&["approve", "tool", "--definition", &definition]);
    let standing =
        |world: &World| world.json(&["agents"])["agents"][1]["servers"][0]["standing"]["is"].clone();
    assert_eq!(standing(&world), "ready");
    // Another agent's server of that name is approved beside it, not instead.
    world.write(
        "home/project/.claude/agents/z.md",
        "---\nname: z\nmcpServers: {tool: {command: other}}\n---\n",
    );
    let several = world.mcparley(&["approve", "tool"]);
    assert_eq!(several.code, 2);
    assert!(several.err.contains("several agents define `tool`: helper, z"), "{}", several.err);
    world.ok(&["approve", "--agent", "z", "tool"]);
    let all = world.json(&["agents"]);
    let standings: Vec<&Value> = all["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|agent| &agent["servers"][0]["standing"]["is"])
        .collect();
    assert_eq!(standings, [&json!("ready"); 3]);
    world.ok(&["reject", "--agent", "z", "tool"]);
    assert_eq!(standing(&world), "rejected");
}

// X7
#[test]
fn plan_with_agent_shows_the_servers_of_the_agent() {
    let world = described();
    let plan = world.json(&["plan", "--agent", "reviewer"]);
    let names: Vec<&str> =
        plan["servers"].as_array().unwrap().iter().map(|server| server["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["notes", "github"]);
    let unknown = world.mcparley(&["plan", "--agent", "revewer"]);
    assert_eq!(unknown.code, 5);
    assert!(unknown.err.contains("there is no agent `revewer`"), "{}", unknown.err);
    assert!(unknown.err.contains("did you mean `reviewer`?"), "{}", unknown.err);
}

// X7
#[test]
fn tools_of_an_agents_server_are_shown_and_called_for_it_alone() {
    let world = World::new();
    let scripted = ScriptedStdio::new(&[]);
    let entry = json!({ "mine": { "command": scripted.program, "args": scripted.args } });
    world.write(USER, &format!("---\nname: reviewer\nmcpServers: {entry}\n---\n"));
    let said = world.ok(&["call", "--agent", "reviewer", "mine", "echo", "message=hi"]);
    assert_eq!(said, "hi\n");
    let tools = world.json(&["tools", "--agent", "reviewer", "mine"]);
    assert!(!tools["tools"].as_array().unwrap().is_empty());
    assert_eq!(world.mcparley(&["call", "mine", "echo", "message=hi"]).code, 5);
}
