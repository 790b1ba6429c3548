//! Agents that markdown files describe (X7).

use mcparley::AgentSpec;
use mcparley::config::{SettingSource, load_agents};
use mcparley::host::AgentError;
use mcparley::model::explain::Explain;
use serde_json::{Value, json};

use crate::agents::{call, names};
use crate::alive::{LONG, scripted, servers, with};
use crate::world::{World, chmod};

const USER: &str = "home/.claude/agents/reviewer.md";
const PROJECT: &str = "home/project/.claude/agents/helper.md";

fn problems(world: &World) -> Vec<String> {
    let found = load_agents(&world.paths(), &world.run_options);
    found.problems.iter().map(|problem| world.relative(&problem.to_string())).collect()
}

fn specs(world: &World) -> Vec<AgentSpec> {
    load_agents(&world.paths(), &world.run_options).specs
}

/// YAML takes JSON as it is.
fn file(name: &str, servers: &Value) -> String {
    format!("---\nname: {name}\nmcpServers: {servers}\n---\nYou are an agent.\n")
}

// X7
#[test]
fn a_file_names_brings_and_requires_servers() {
    let text = "---\nname: reviewer\ndescription: Looks at changes\nmodel: any\nmcpServers:\n  - github\n  - notes:\n      \
                command: notes-server\n      args: ['${FOLDER:-x}']\nrequiredMcpServers: [github]\nrequired: notes\n---\nText\n";
    let world = World::with(&[(USER, text)]);
    let [spec] = specs(&world).try_into().unwrap();
    assert_eq!((spec.name.as_str(), spec.description.as_deref()), ("reviewer", Some("Looks at changes")));
    let written = |names: &[mcparley::model::name::ServerName]| -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    };
    assert_eq!(written(spec.shared.as_deref().unwrap()), ["github"]);
    assert_eq!(written(&spec.required), ["github", "notes"]);
    assert_eq!(world.relative(&spec.own[0].origin.to_string()), format!("{USER}:7:5"));
    let lines = world.lines(&world.load().for_agent(&spec));
    assert_eq!(lines, ["user notes ready"]);
    assert_eq!(problems(&world), [""; 0]);
}

// X7
#[test]
fn servers_may_stand_in_a_map_and_a_bad_entry_is_told_with_its_place() {
    let text = "---\nname: a\nmcpServers:\n  good: {command: run}\n  bad:\n    command: [run]\n---\n";
    let world = World::with(&[(USER, text)]);
    let [spec] = specs(&world).try_into().unwrap();
    assert!(spec.shared.is_none());
    let loaded = world.load().for_agent(&spec);
    let lines = world.lines(&loaded);
    assert_eq!(lines[0], "user good ready");
    assert!(lines[1].starts_with(&format!("user bad invalid: {USER}:6:14: ")), "{}", lines[1]);
}

// X7
#[test]
fn bad_agent_file_is_a_problem_and_the_others_load() {
    let world = World::with(&[
        ("home/.claude/agents/a.md", "# no front matter\n"),
        ("home/.claude/agents/b.md", "---\nname: [b\n---\n"),
        ("home/.claude/agents/c.md", "---\nmodel: x\n---\n"),
        ("home/.claude/agents/d.md", "---\nname: d\nmcpServers: [5, one]\nrequired: {}\n---\n"),
        ("home/.claude/agents/e.md", "---\nname: d\n---\n"),
        ("home/.claude/agents/f.md", "---\nname: f\nx: &x 1\ny: *x\n---\n"),
        ("home/.claude/agents/g.txt", "---\nname: g\n---\n"),
    ]);
    world.write("home/.claude/agents/h.md", &format!("---\nname: h\n---\n{}", "x".repeat(1024 * 1024)));
    let names: Vec<String> = specs(&world).into_iter().map(|spec| spec.name).collect();
    assert_eq!(names, ["d"]);
    let expected = [
        "home/.claude/agents/a.md: there is no front matter in it",
        "home/.claude/agents/b.md:",
        "home/.claude/agents/c.md: the agent has no `name`",
        "home/.claude/agents/d.md:3:14: `mcpServers` has a number where a server name is expected",
        "home/.claude/agents/d.md:4:11: `required` has an object where a server name is expected",
        "home/.claude/agents/e.md: home/.claude/agents/d.md describes an agent `d` too, and wins",
        "home/.claude/agents/f.md:4:4: aliases are not supported",
        "home/.claude/agents/h.md",
    ];
    let told = problems(&world);
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.starts_with(expected), "{told}");
    }
    assert!(told[1].contains("not YAML"), "{}", told[1]);
}

// X7
#[test]
fn a_folder_with_too_many_files_is_a_problem() {
    let world = World::new();
    for number in 0..257 {
        world.write(&format!("home/.claude/agents/{number}.md"), &format!("---\nname: a{number}\n---\n"));
    }
    assert!(specs(&world).is_empty());
    assert!(problems(&world)[0].contains("256"), "{:?}", problems(&world));
}

// X7 B60
#[test]
fn a_repositorys_file_that_everyone_may_write_to_is_ignored() {
    let world = World::with(&[(PROJECT, "---\nname: helper\n---\n"), (USER, "---\nname: mine\n---\n")]);
    chmod(&world.path(PROJECT), 0o666);
    let names: Vec<String> = specs(&world).into_iter().map(|spec| spec.name).collect();
    assert_eq!(names, ["mine"]);
    assert!(problems(&world)[0].contains("every user of this machine may write to it"));
}

// X7 C12
#[test]
fn a_run_that_leaves_settings_out_leaves_their_agents_out() {
    let mut world = World::with(&[(PROJECT, "---\nname: helper\n---\n"), (USER, "---\nname: mine\n---\n")]);
    let mut read = |sources: Vec<SettingSource>| -> Vec<String> {
        world.run_options.setting_sources = Some(sources);
        specs(&world).into_iter().map(|spec| spec.name).collect()
    };
    assert_eq!(read(vec![SettingSource::User]), ["mine"]);
    assert_eq!(read(vec![SettingSource::Project]), ["helper"]);
    assert_eq!(read(vec![SettingSource::Local]), [""; 0]);
}

// X7 C7 H05
#[test]
fn servers_of_a_repositorys_agent_need_approval_and_the_users_do_not() {
    let entry = json!({ "mine": { "command": "run" } });
    let world = World::with(&[(PROJECT, &file("helper", &entry)), (USER, &file("mine", &entry))]);
    let standings: Vec<(String, &str)> = specs(&world)
        .iter()
        .map(|spec| (spec.name.clone(), world.load().for_agent(spec).plan.servers[0].status.as_str()))
        .collect();
    assert_eq!(standings, [("mine".to_owned(), "ready"), ("helper".to_owned(), "needs approval")]);
    // The repository's takes the user's place, and its servers need approval all the same.
    world.write(PROJECT, &file("mine", &entry));
    let [spec] = specs(&world).try_into().unwrap();
    assert_eq!(world.load().for_agent(&spec).plan.servers[0].status.as_str(), "needs approval");
    assert!(problems(&world)[0].starts_with(USER), "{:?}", problems(&world));
}

// X7
#[tokio::test]
async fn an_agent_is_started_by_its_name() {
    let alive = servers([("one", scripted(&[])), ("two", with(scripted(&[]), "cwd", "/"))]).ready().await;
    let brings = json!(["one", { "mine": with(scripted(&[]), "cwd", "/usr") }]);
    alive.world.write(USER, &file("reviewer", &brings));
    let agent = alive.host.start_agent_from_file("reviewer").await.unwrap();
    assert!(agent.wait_until_ready(LONG).await.settled);
    assert_eq!(names(&agent), ["one", "mine", "mcparley"]);
    assert_eq!(call(&agent, "mine", "echo").await.unwrap().to_text(), "hi");
    let unknown = alive.host.start_agent_from_file("reviever").await.unwrap_err();
    assert!(matches!(&unknown, AgentError::Unknown { .. }));
    assert_eq!(unknown.hint().unwrap(), "did you mean `reviewer`?");
}
