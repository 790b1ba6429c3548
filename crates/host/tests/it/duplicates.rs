//! Two declarations of one server are one server (C8).

use crate::world::World;

// C8
#[test]
fn a_server_configured_by_hand_beats_the_same_one_of_a_plugin() {
    let mut world = World::with(&[
        (
            "home/.claude.json",
            r#"{"mcpServers": {
                "mine": {"command": "x", "args": ["a"], "env": {"K": "v", "L": "w"}},
                "web": {"url": "https://h/mcp"}
            }}"#,
        ),
        (
            "home/plug/.mcp.json",
            r#"{
                "same": {"command": "x", "args": ["a"], "env": {"L": "w", "K": "v"}},
                "other": {"command": "x", "args": ["b"]},
                "web": {"type": "http", "url": "https://H:443/mcp"}
            }"#,
        ),
    ]);
    world.run_options.plugin_dirs = vec![world.path("home/plug")];
    assert_eq!(
        world.table(),
        [
            "plugin plugin:plug:same duplicate: the same server as `mine` in home/.claude.json:2:17",
            "plugin plugin:plug:other ready",
            "plugin plugin:plug:web duplicate: the same server as `web` in home/.claude.json:3:17",
            "user mine ready",
            "user web ready",
        ]
    );
}

// C8
#[test]
fn between_plugins_the_first_one_wins() {
    let mut world = World::with(&[
        ("home/one/.mcp.json", r#"{"a": {"command": "x"}}"#),
        ("home/two/.mcp.json", r#"{"b": {"command": "x"}}"#),
    ]);
    world.run_options.plugin_dirs = vec![world.path("home/two"), world.path("home/one")];
    assert_eq!(
        world.table(),
        [
            "plugin plugin:two:b ready",
            "plugin plugin:one:a duplicate: the same server as `plugin:two:b` in home/two/.mcp.json:1:2",
        ]
    );
}

// C8
#[test]
fn between_plugins_of_one_name_the_first_one_wins() {
    let mut world = World::with(&[
        ("home/a/plug/.mcp.json", r#"{"it": {"command": "x"}}"#),
        ("home/b/plug/.mcp.json", r#"{"it": {"command": "y"}}"#),
    ]);
    world.run_options.plugin_dirs = vec![world.path("home/a/plug"), world.path("home/b/plug")];
    assert_eq!(
        world.table(),
        [
            "plugin plugin:plug:it ready",
            "plugin plugin:plug:it shadowed: home/a/plug/.mcp.json:1:2 declares the same name and wins",
        ]
    );
}

// C8
#[test]
fn two_names_a_person_gave_one_server_both_stay() {
    let world = World::with(&[
        ("home/.claude.json", r#"{"mcpServers": {"a": {"command": "x"}, "b": {"command": "x"}}}"#),
        ("home/project/.claude/settings.local.json", r#"{"mcpServers": {"c": {"command": "x"}}}"#),
    ]);
    world.approve("c", None).unwrap();
    assert_eq!(world.table(), ["user a ready", "user b ready", "local c ready"]);
}

// C8
#[test]
fn server_that_does_not_run_makes_no_other_a_duplicate() {
    let mut world = World::with(&[
        ("home/project/.mcp.json", r#"{"mcpServers": {"waits": {"command": "x"}}}"#),
        ("home/plug/.mcp.json", r#"{"it": {"command": "x"}}"#),
    ]);
    world.run_options.plugin_dirs = vec![world.path("home/plug")];
    assert_eq!(world.table()[0], "plugin plugin:plug:it ready");
}
