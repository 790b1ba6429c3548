//! Plugins: folders that bring servers along, under names of their own (C1, C8).

use mcparley::model::config::TransportConfig;

use crate::world::{World, servers};

fn with_plugin(files: &[(&str, &str)]) -> World {
    let mut world = World::with(files);
    world.run_options.plugin_dirs = vec![world.path("home/plug")];
    world
}

// C1
#[test]
fn a_plugins_file_may_be_wrapped_or_flat() {
    for text in [servers(&["it"]), r#"{"it": {"command": "it"}}"#.to_owned()] {
        let world = with_plugin(&[("home/plug/.mcp.json", &text)]);
        assert_eq!(world.table(), ["plugin plugin:plug:it ready"]);
    }
}

// C1
#[test]
fn a_manifest_names_the_plugin_and_holds_servers_or_points_at_them() {
    let manifests = [
        ("plugin.json", r#"{"name": "tools", "mcpServers": {"it": {"command": "x"}}}"#),
        (".claude-plugin/plugin.json", r#"{"name": "tools", "mcpServers": {"it": {"command": "x"}}}"#),
        ("plugin.json", r#"{"name": "tools", "mcpServers": "./config/servers.json"}"#),
        (".claude-plugin/plugin.json", r#"{"name": "tools", "mcpServers": "config/servers.json"}"#),
    ];
    for (file, text) in manifests {
        let world = with_plugin(&[
            (&format!("home/plug/{file}"), text),
            ("home/plug/config/servers.json", &servers(&["it"])),
        ]);
        assert_eq!(world.table(), ["plugin plugin:tools:it ready"], "{file} {text}");
        assert!(world.problems().is_empty());
    }
}

// C1
#[test]
fn a_manifest_and_a_file_of_servers_add_up() {
    let world = with_plugin(&[
        ("home/plug/plugin.json", r#"{"mcpServers": {"a": {"command": "a"}}}"#),
        ("home/plug/.mcp.json", &servers(&["b"])),
    ]);
    assert_eq!(world.table(), ["plugin plugin:plug:a ready", "plugin plugin:plug:b ready"]);
}

// C1
#[test]
fn a_manifest_cannot_point_outside_of_its_plugin() {
    for path in ["../secret.json", "/etc/passwd", "a/../../secret.json"] {
        let world = with_plugin(&[
            ("home/plug/plugin.json", &format!(r#"{{"mcpServers": "{path}"}}"#)),
            ("home/secret.json", &servers(&["it"])),
        ]);
        assert!(world.table().is_empty());
        assert_eq!(
            world.problems(),
            [
                format!("home/plug/plugin.json: `mcpServers` points outside of the plugin: `{path}`"),
                "home/plug: the plugin brings no servers".to_owned(),
            ]
        );
    }
}

// C6
#[test]
fn a_plugins_servers_know_the_plugins_folders() {
    let world = with_plugin(&[(
        "home/plug/.mcp.json",
        r#"{"it": {"command": "${CLAUDE_PLUGIN_ROOT}/run", "args": ["${CLAUDE_PLUGIN_DATA}"]}}"#,
    )]);
    let loaded = world.load();
    let config = loaded.plan.ready_servers().next().unwrap().config.clone().unwrap();
    let TransportConfig::Stdio(stdio) = config.transport else { unreachable!("a command") };
    let args: Vec<&str> = stdio.args.iter().map(|arg| arg.expose().as_str()).collect();
    assert_eq!(world.relative(&stdio.command), "home/plug/run");
    assert_eq!(world.relative(args[0]), "home/.local/share/mcparley/plugins/plug");
}

// C6
#[test]
fn only_the_plugins_own_servers_know_its_folders() {
    let mut world = with_plugin(&[("home/plug/.mcp.json", r#"{"it": {"command": "x"}}"#)]);
    world.run_options.mcp_config =
        vec![r#"{"mcpServers": {"other": {"command": "${CLAUDE_PLUGIN_ROOT}"}}}"#.to_owned()];
    assert_eq!(
        world.table(),
        [
            "plugin plugin:plug:it ready",
            "dynamic other invalid: --mcp-config:1:38: environment variable `CLAUDE_PLUGIN_ROOT` is not set",
        ]
    );
}

// C6
#[test]
fn a_plugins_name_cannot_move_its_data_elsewhere() {
    let world = with_plugin(&[(
        "home/plug/plugin.json",
        r#"{"name": "../../x", "mcpServers": {"it": {"command": "${CLAUDE_PLUGIN_DATA}"}}}"#,
    )]);
    let loaded = world.load();
    let config = loaded.plan.ready_servers().next().unwrap().config.clone().unwrap();
    let TransportConfig::Stdio(stdio) = config.transport else { unreachable!("a command") };
    assert_eq!(world.relative(&stdio.command), "home/.local/share/mcparley/plugins/______x");
}

// C1
#[test]
fn the_users_settings_load_plugins_from_folders() {
    let world = World::with(&[
        ("home/plug/.mcp.json", &servers(&["a"])),
        ("home/.claude/plugins/b/.mcp.json", &servers(&["b"])),
        ("home/.claude/settings.json", r#"{"plugins": ["~/plug", "plugins/b", 7, "missing"]}"#),
    ]);
    assert_eq!(world.table(), ["plugin plugin:plug:a ready", "plugin plugin:b:b ready"]);
    assert_eq!(
        world.warnings(),
        ["home/.claude/settings.json:1:37: a plugin is a folder's path, not a number"]
    );
    assert_eq!(world.problems(), ["home/.claude/missing: there is no such plugin folder"]);
}

// U2a
#[test]
fn folder_that_is_not_a_plugin_is_a_problem() {
    let mut world = World::new();
    world.run_options.plugin_dirs = vec!["nowhere".into()];
    let loaded = world.load();
    assert_eq!(world.problems(), ["home/project/nowhere: there is no such plugin folder"]);
    assert_eq!(loaded.problems[0].severity, mcparley::config::Severity::Given);
}

// H23
#[test]
fn a_link_out_of_the_plugin_is_refused() {
    let world = World::with(&[
        ("home/secret.json", r#"{"stolen": {"command": "x"}}"#),
        ("home/plug/plugin.json", r#"{"name": "p", "mcpServers": "link.json"}"#),
    ]);
    std::os::unix::fs::symlink(world.path("home/secret.json"), world.path("home/plug/link.json")).unwrap();
    world.write("home/.claude/settings.json", r#"{"plugins": ["../plug"]}"#);
    let loaded = world.load();
    assert!(loaded.plan.servers.is_empty());
    assert!(loaded.problems[0].message.contains("points outside of the plugin"), "{:?}", loaded.problems);
}

/// The user's list of installed plugins: one for everywhere, one for this project, one for another.
fn with_installed(settings: &str, project_settings: &str) -> World {
    let world = World::with(&[
        ("home/.claude/settings.json", settings),
        ("home/project/.claude/settings.json", project_settings),
        ("home/cache/everywhere/.mcp.json", &servers(&["it"])),
        ("home/cache/here/.mcp.json", &servers(&["it"])),
        ("home/cache/elsewhere/.mcp.json", &servers(&["it"])),
    ]);
    let path = |folder: &str| world.path(folder).to_string_lossy().into_owned();
    let list = serde_json::json!({ "version": 2, "plugins": {
        "everywhere@m": [{ "scope": "user", "installPath": path("home/cache/everywhere") }],
        "here@m": [
            { "scope": "project", "installPath": path("home/cache/here"), "projectPath": path("home/project") },
        ],
        "elsewhere@m": [
            { "scope": "local", "installPath": path("home/cache/elsewhere"), "projectPath": path("home/other") },
        ],
    }});
    world.write("home/.claude/plugins/installed_plugins.json", &list.to_string());
    world
}

// C1
#[test]
fn installed_plugins_count_where_the_user_enabled_them() {
    let world = with_installed(r#"{"enabledPlugins": {"everywhere@m": true}}"#, "{}");
    let duplicate = "plugin plugin:here:it duplicate: the same server as `plugin:everywhere:it` in \
                     home/cache/everywhere/.mcp.json:1:17";
    assert_eq!(world.table(), ["plugin plugin:everywhere:it ready", duplicate]);
    let off = r#"{"enabledPlugins": {"everywhere@m": false, "here@m": false}}"#;
    assert_eq!(with_installed(off, "{}").table(), Vec::<String>::new());
}

// C1 C7
#[test]
fn a_project_enables_no_installed_plugin_and_may_switch_one_off() {
    let on = r#"{"enabledPlugins": {"everywhere@m": true, "elsewhere@m": true}}"#;
    assert_eq!(with_installed("{}", on).table(), ["plugin plugin:here:it ready"]);
    let off = r#"{"enabledPlugins": {"everywhere@m": false}}"#;
    let user = r#"{"enabledPlugins": {"everywhere@m": true}}"#;
    assert_eq!(with_installed(user, off).table(), ["plugin plugin:here:it ready"]);
}
