//! Seven sources, one name: which declaration wins, and the status of the others (C1, C15).

use mcparley::config::{Connector, ConnectorList, load_config};

use crate::world::{World, server};

/// Every source declares `it`; plugins and connectors under the names they are given.
fn everywhere() -> World {
    let mut world = World::with(&[
        ("home/plug/.mcp.json", r#"{"it": {"command": "plugin"}}"#),
        ("home/.claude/settings.json", &server("it", "user")),
        ("home/project/.mcp.json", &server("it", "project")),
        ("home/project/.claude/settings.local.json", &server("it", "local")),
        ("dynamic.json", &server("it", "dynamic")),
    ]);
    world.write("managed/managed-settings.json", r#"{"enableAllProjectMcpServers": true}"#);
    world.run_options.plugin_dirs = vec![world.path("home/plug")];
    world.run_options.mcp_config = vec![world.path("dynamic.json").to_string_lossy().into_owned()];
    world
}

fn one_connector() -> ConnectorList {
    let url = "https://proxy.example.com/it".to_owned();
    let connectors = vec![Connector { id: "1".to_owned(), name: "it".to_owned(), url }];
    ConnectorList { connectors, ..ConnectorList::default() }
}

fn table(world: &World) -> Vec<String> {
    world.lines(&load_config(&world.paths(), &world.run_options).with_connectors(&one_connector()))
}

// C1 C15
#[test]
fn strongest_source_wins_and_the_others_are_listed_as_shadowed() {
    assert_eq!(
        table(&everywhere()),
        [
            "connectors claude.ai it ready",
            "plugin plugin:plug:it ready",
            "user it shadowed: dynamic.json:1:17 declares the same name and wins",
            "project it shadowed: dynamic.json:1:17 declares the same name and wins",
            "local it shadowed: dynamic.json:1:17 declares the same name and wins",
            "dynamic it ready",
        ],
    );
}

// C1
#[test]
fn without_the_strongest_source_the_next_one_wins() {
    let files = [
        ("dynamic", "dynamic.json"),
        ("local", "home/project/.claude/settings.local.json"),
        ("project", "home/project/.mcp.json"),
        ("user", "home/.claude/settings.json"),
    ];
    let mut world = everywhere();
    for (scope, file) in files {
        let loaded = world.load();
        let winners: Vec<&str> = loaded
            .plan
            .ready_servers()
            .filter(|server| server.name.as_str() == "it")
            .map(|server| server.scope.as_str())
            .collect();
        assert_eq!(winners, [scope]);
        std::fs::remove_file(world.path(file)).unwrap();
        world.run_options.mcp_config.clear();
    }
    assert!(world.load().plan.servers_by_name("it").is_empty());
}

// C1 C5 C15
#[test]
fn managed_server_list_excludes_all_others() {
    let world = everywhere();
    world.write("managed/managed-mcp.json", &server("it", "managed"));
    let blocked = "it blocked: managed/managed-mcp.json allows only its own servers";
    assert_eq!(
        table(&world),
        [
            format!("connectors claude.ai {blocked}"),
            format!("plugin plugin:plug:{blocked}"),
            format!("user {blocked}"),
            format!("project {blocked}"),
            format!("local {blocked}"),
            format!("dynamic {blocked}"),
            "enterprise it ready".to_owned(),
        ]
    );
}

// C1
#[test]
fn empty_managed_server_list_excludes_all_servers() {
    let world = everywhere();
    world.write("managed/managed-mcp.json", r#"{"mcpServers": {}}"#);
    let loaded = world.load();
    assert_eq!(loaded.plan.ready_servers().count(), 0);
    assert_eq!(loaded.plan.servers.len(), 5);
}

// C1 U2a
#[test]
fn a_strict_run_uses_only_what_the_command_line_gave() {
    let mut world = everywhere();
    world.run_options.strict = true;
    let blocked = "it blocked: `--strict-mcp-config` uses only `--mcp-config` and `--mcp-server`";
    assert_eq!(
        table(&world),
        [
            format!("connectors claude.ai {blocked}"),
            format!("plugin plugin:plug:{blocked}"),
            format!("user {blocked}"),
            format!("project {blocked}"),
            format!("local {blocked}"),
            "dynamic it ready".to_owned(),
        ]
    );
}

// C1 C5
#[test]
fn a_strict_run_does_not_get_around_the_managed_servers() {
    let mut world = everywhere();
    world.run_options.strict = true;
    world.write("managed/managed-mcp.json", &server("theirs", "managed"));
    let loaded = world.load();
    let ready: Vec<&str> = loaded.plan.ready_servers().map(|server| server.name.as_str()).collect();
    assert_eq!(ready, ["theirs"]);
}

// C1
#[test]
fn of_several_given_files_the_later_one_wins() {
    let mut world = World::new();
    world.run_options.mcp_config = vec![server("it", "first"), server("it", "second")];
    let loaded = world.load();
    let ready: Vec<_> =
        loaded.plan.ready_servers().map(|server| server.raw.clone().unwrap().command).collect();
    assert_eq!(ready.into_iter().map(|command| command.unwrap().text).collect::<Vec<_>>(), ["second"]);
}

// C15
#[test]
fn a_name_written_twice_in_one_file_stands_twice_in_the_plan() {
    let world = World::with(&[(
        "home/.claude.json",
        "{\"mcpServers\": {\n\"it\": {\"command\": \"first\"},\n\"it\": {\"command\": \"second\"}\n}}",
    )]);
    assert_eq!(
        world.table(),
        ["user it shadowed: home/.claude.json:3:1 declares the same name and wins", "user it ready"]
    );
}

// C1
#[test]
fn blocked_server_never_shadows_a_runnable_one() {
    let world = World::with(&[
        ("home/.claude.json", &server("it", "user")),
        ("home/project/.mcp.json", &server("it", "project")),
    ]);
    assert_eq!(
        world.table(),
        ["user it ready", "project it needs approval: comes with the project and was not approved yet"]
    );
}

// U2a
#[test]
fn config_file_of_the_command_line_without_servers_is_a_problem() {
    let mut world = World::new();
    world.run_options.mcp_config = vec![r#"{"servers": {}}"#.to_owned(), "missing.json".to_owned()];
    assert_eq!(
        world.problems(),
        ["--mcp-config: there is no `mcpServers` in it", "home/project/missing.json: there is no such file",]
    );
}
