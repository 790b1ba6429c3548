//! Approving, rejecting, switching on and off: what it says and what it writes (U1, C7).

use serde_json::{Value, json};

use crate::world::{Output, World, refusal};

const PRIVATE: &str = "home/.claude.json";
const STORE: &str = "home/.local/state/mcparley/approvals.json";
const USER: &str = "home/.claude/settings.json";

fn project() -> World {
    World::with(&[(
        "home/project/.mcp.json",
        r#"{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}"#,
    )])
}

/// What stands for this project in the file that the project cannot write.
fn private(world: &World) -> Value {
    world.read_json(PRIVATE)["projects"]["home/project"].clone()
}

/// What the approval store holds about this project.
fn stored(world: &World) -> Value {
    world.read_json(STORE)["projects"]["home/project"].clone()
}

fn definition(world: &World, name: &str) -> Value {
    world.json(&["get", name])["declarations"][0]["definition"].clone()
}

// U1 C7
#[test]
fn an_approval_is_stored_outside_of_the_project_with_the_definition() {
    let world = project();
    let hash = definition(&world, "a");
    let done = world.mcparley(&["approve", "a"]);
    let out = format!(
        "server  a\n  declared in home/project/.mcp.json:1:17\n  command: x\n\
         Approved a as currently defined\nFile: {STORE}\n"
    );
    assert_eq!(done, Output { code: 0, out, err: String::new() });
    assert_eq!(stored(&world), json!({"approved": {"servers": {"a": [hash]}}}));
    assert_eq!(world.files(), [STORE, "home/project/.mcp.json"]);
    assert_eq!(world.plan(), ["b project needs approval", "a project ready"]);
}

// U1 C7
#[test]
fn all_servers_that_need_approval_can_be_approved_at_once() {
    let world = project();
    let unasked = world.mcparley(&["approve", "--all"]);
    assert_eq!(unasked.code, 10, "{unasked:?}");
    assert!(
        unasked.err.ends_with("run `mcparley approve --all --yes` to approve all of them\n"),
        "{unasked:?}"
    );
    world.ok(&["approve", "--all", "--yes"]);
    assert_eq!(world.plan(), ["b project ready", "a project ready"]);
    assert_eq!(world.ok(&["approve", "--all"]), "No server needs approval.\n");
    assert_eq!(world.json(&["approve", "--all"]), json!({"choices": []}));
}

// C7 B22
#[test]
fn an_approval_by_definition_is_refused_after_the_definition_changed() {
    let world = project();
    let seen = definition(&world, "a");
    world.write("home/project/.mcp.json", r#"{"mcpServers": {"a": {"command": "swapped"}}}"#);
    let now = definition(&world, "a");
    let done = world.mcparley(&["approve", "a", "--definition", seen.as_str().unwrap()]);
    let now = now.as_str().unwrap();
    let err = format!(
        "error: `a` has changed since you looked at it: its definition is now {now}\nhint: look again: `mcparley get a`"
    );
    assert_eq!(done, refusal(6, &err));
    assert_eq!(world.plan(), ["a project needs approval"]);
    world.ok(&["approve", "a", "--definition", now]);
    assert_eq!(world.plan(), ["a project ready"]);
}

// U1 C7
#[test]
fn a_rejection_takes_the_approval_back() {
    let world = project();
    world.ok(&["approve", "a"]);
    let done = world.mcparley(&["reject", "a"]);
    assert_eq!(done, Output { code: 0, out: format!("Rejected a\nFile: {STORE}\n"), err: String::new() });
    assert_eq!(stored(&world), json!({"approved": {"servers": {}}, "rejected": {"servers": ["a"]}}));
    assert_eq!(world.plan(), ["b project needs approval", "a project rejected"]);
}

// U1 C7
#[test]
fn an_approval_warns_about_a_rejection_in_another_file() {
    let world = project();
    world.write("home/project/.claude/settings.json", r#"{"disabledMcpjsonServers": ["a"]}"#);
    let done = world.mcparley(&["approve", "a"]);
    assert_eq!(
        done.err,
        "warning: it is still rejected in home/project/.claude/settings.json:1:29, which takes precedence\n"
    );
    assert_eq!(world.plan(), ["b project needs approval", "a project rejected"]);
}

// U1
#[test]
fn choices_for_a_project_can_be_reset() {
    let world = project();
    world.ok(&["approve", "a"]);
    world.ok(&["reject", "b"]);
    world.write("home/project/.claude/settings.local.json", r#"{"enabledMcpjsonServers": ["a"], "keep": 1}"#);
    assert_eq!(
        world.ok(&["reset-project-choices"]),
        format!(
            "Reset the choices in {STORE}\nReset the choices in home/project/.claude/settings.local.json\n"
        )
    );
    assert_eq!(stored(&world), json!({}));
    assert_eq!(world.read_json("home/project/.claude/settings.local.json"), json!({"keep": 1}));
    assert_eq!(world.plan(), ["b project needs approval", "a project needs approval"]);
    assert_eq!(world.ok(&["reset-project-choices"]), "No choices to reset for this project.\n");
    assert_eq!(world.json(&["reset-project-choices"]), json!({"reset": []}));
}

// U1
#[test]
fn resetting_choices_creates_no_file() {
    let world = project();
    world.ok(&["reset-project-choices"]);
    world.ok(&["enable", "a"]);
    assert_eq!(world.files(), ["home/project/.mcp.json"]);
}

// U1
#[test]
fn a_server_is_disabled_for_the_project_or_everywhere() {
    let world = World::new();
    world.ok(&["add", "-s", "user", "it", "x"]);
    let off = |file: &str| format!("it is now disabled\nFile: {file}\n");
    assert_eq!(world.ok(&["disable", "it"]), off(PRIVATE));
    assert_eq!(private(&world), json!({"disabledMcpServers": ["it"]}));
    assert_eq!(world.ok(&["disable", "-s", "user", "it"]), off(USER));
    assert_eq!(world.read_json(USER)["disabledMcpServers"], json!(["it"]));
    assert_eq!(world.plan(), ["it user disabled"]);
    assert_eq!(world.ok(&["disable", "it"]), "it was already disabled\n");
    assert_eq!(world.ok(&["enable", "it"]), format!("it is now enabled\nFile: {PRIVATE}\nFile: {USER}\n"));
    assert_eq!(world.plan(), ["it user ready"]);
    assert_eq!(world.ok(&["enable", "it"]), "it was already enabled\n");
}

// U1
#[test]
fn all_servers_are_disabled_and_enabled_at_once() {
    let world = World::new();
    world.ok(&["add", "-s", "user", "a", "x"]);
    world.ok(&["add", "b", "x"]);
    world.ok(&["disable", "all"]);
    assert_eq!(world.plan(), ["b local disabled", "a user disabled"]);
    let files = json!([PRIVATE]);
    assert_eq!(
        world.json(&["enable", "all"]),
        json!({"servers": [
            {"name": "a", "enabled": true, "files": files, "stillDisabledBy": null},
            {"name": "b", "enabled": true, "files": files, "stillDisabledBy": null},
        ]})
    );
    assert_eq!(world.plan(), ["b local ready", "a user ready"]);
}

// U1 C7
#[test]
fn a_server_disabled_by_managed_settings_stays_disabled_with_a_warning() {
    let world = World::with(&[("managed/managed-settings.json", r#"{"disabledMcpServers": ["it"]}"#)]);
    world.ok(&["add", "it", "x"]);
    let done = world.mcparley(&["enable", "it"]);
    assert_eq!(done.err, "warning: it is still disabled in managed/managed-settings.json:1:25\n");
    assert_eq!(world.json(&["enable", "it"])["servers"][0]["enabled"], json!(false));
}

// C7 B27
#[test]
fn without_a_terminal_a_project_runs_only_when_its_settings_were_asked_for() {
    let world = project();
    let ready = |args: &[&str]| {
        let plan = world.json(&[args, &["plan"]].concat());
        plan["servers"].as_array().unwrap().iter().filter(|s| s["standing"]["is"] == "ready").count()
    };
    assert_eq!(ready(&[]), 0);
    assert_eq!(ready(&["--setting-sources", "user,local"]), 0);
    assert_eq!(ready(&["--setting-sources", "user,project,local"]), 2);
}
