//! Options and variables that move where things are read from (U2a).

use crate::world::World;

const GIVEN: &str = r#"{"mcpServers": {"given": {"command": "x"}}}"#;

// U2a
#[test]
fn a_config_directory_is_taken_from_the_option_or_the_variable() {
    let mut world = World::new();
    world.ok(&["--config-dir", "../other", "add", "-s", "user", "--file", "settings", "one", "x"]);
    world.ok(&["--config-dir", "../other", "add", "-s", "user", "two", "x"]);
    assert_eq!(world.files(), ["home/other/.claude.json", "home/other/settings.json"]);
    assert!(world.plan().is_empty());
    world.set("CLAUDE_CONFIG_DIR", world.home.join("other"));
    assert_eq!(world.plan(), ["one user ready", "two user ready"]);
}

// U2a C1
#[test]
fn servers_for_one_run_come_from_files_and_from_json() {
    let world = World::with(&[("home/project/more.json", r#"{"mcpServers": {"file": {"command": "y"}}}"#)]);
    world.ok(&["add", "mine", "x"]);
    let list = |args: &[&str]| world.ok(&[args, &["list", "--offline"]].concat());
    assert_eq!(
        list(&["--mcp-config", GIVEN, "--mcp-config", "more.json"]),
        "file: y - ready\ngiven: x - ready\nmine: x - ready\n"
    );
    assert_eq!(
        list(&["--mcp-config", GIVEN, "--strict-mcp-config"]),
        "given: x - ready\nmine: x - blocked: `--strict-mcp-config` uses only `--mcp-config` and `--mcp-server`\n"
    );
}

// C1
#[test]
fn several_files_may_follow_one_option() {
    let world = World::with(&[
        ("home/project/a.json", r#"{"mcpServers": {"a": {"command": "x"}}}"#),
        ("home/project/b.json", r#"{"mcpServers": {"b": {"command": "y"}}}"#),
    ]);
    let expected = "a: x - ready\nb: y - ready\ngiven: x - ready\n";
    for args in [
        &["--mcp-config", "a.json", "b.json", GIVEN, "list", "--offline"][..],
        &["list", "--offline", "--mcp-config", "a.json", "b.json", GIVEN],
        &["--mcp-config=a.json", "b.json", "--mcp-config", GIVEN, "mcp", "list", "--offline"],
        &["list", "--mcp-config", "a.json", "b.json", GIVEN, "--offline"],
    ] {
        assert_eq!(world.ok(args), expected, "{args:?}");
    }
    world.ok(&["--mcp-config", "a.json", "get", "a"]);
    world.ok(&["get", "--mcp-config", "a.json", "b.json", "--", "b"]);
}

// U2a
#[test]
fn global_options_may_stand_before_and_after_the_command() {
    let world = World::new();
    let before = world.mcparley(&["--mcp-config", GIVEN, "--json", "list", "--offline"]);
    let after = world.mcparley(&["list", "--offline", "--mcp-config", GIVEN, "--json"]);
    assert_eq!(before, after);
    assert!(before.out.contains("\"given\""));
}

// U2a
#[test]
fn plugins_come_from_the_option_and_what_was_left_out_is_told() {
    let world = World::with(&[("home/plug/.mcp.json", r#"{"it": {"command": "x"}}"#)]);
    world.ok(&["add", "mine", "x"]);
    let done =
        world.mcparley(&["--plugin-dir", "../plug", "--setting-sources", "user", "-v", "list", "--offline"]);
    assert_eq!(done.out, "plugin:plug:it: x - ready\n");
    assert_eq!(done.err, "not read because of `--setting-sources`: project, local\n");
}

// U2a C7
#[test]
fn settings_for_one_run_count_like_the_users_own() {
    let world = World::with(&[("home/.claude.json", GIVEN)]);
    let settings = r#"{"disabledMcpServers": ["given"]}"#;
    let out = world.ok(&["--settings", settings, "list", "--offline"]);
    assert_eq!(out, "given: x - disabled: switched off in --settings:1:25\n");
}

// C3
#[test]
fn a_home_behind_a_link_is_still_where_the_search_ends() {
    let mut world = World::with(&[
        (".mcp.json", GIVEN),
        ("home/.mcp.json", r#"{"mcpServers": {"home": {"command": "x"}}}"#),
        ("home/.claude/settings.json", r#"{"mcpServers": {"mine": {"command": "x"}}}"#),
    ]);
    std::os::unix::fs::symlink(&world.home, world.root.join("link")).unwrap();
    world.set("HOME", world.root.join("link"));
    assert_eq!(world.plan(), ["home project needs approval", "mine user ready"]);
    world.stand_in("home");
    assert_eq!(world.plan(), ["home project needs approval", "mine user ready"]);
    assert_eq!(world.json(&["plan"])["problems"], serde_json::json!([]));
}
