//! Policy: allow-lists and deny-lists from real files (C9, B32).

use crate::world::{World, servers};

const DENIED_X: &str = r#"{"deniedMcpServers": [{"serverName": "x"}]}"#;

fn names(world: &World, standing: &str) -> Vec<String> {
    let loaded = world.load();
    let servers = loaded.plan.servers.iter().filter(|server| server.status.as_str() == standing);
    servers.map(|server| server.name.as_str().to_owned()).collect()
}

fn mixed() -> World {
    World::with(&[(
        "home/.claude.json",
        r#"{"mcpServers": {
            "shell": {"command": "npx", "args": ["-y", "@company/mcp-files"]},
            "other": {"command": "npx", "args": ["-y", "@elsewhere/files"]},
            "good": {"url": "https://api.company.com/mcp"},
            "evil": {"url": "https://company.com@evil.com/mcp"}
        }}"#,
    )])
}

// C9
#[test]
fn servers_are_denied_by_name_by_address_and_by_command() {
    let cases = [
        (r#"{"serverName": "good"}"#, "good"),
        (r#"{"serverUrl": "https://*.company.com/*"}"#, "good"),
        (r#"{"serverUrl": "https://evil.com/*"}"#, "evil"),
        (r#"{"serverCommand": ["npx", "-y", "@company/*"]}"#, "shell"),
    ];
    for (entry, denied) in cases {
        let world = mixed();
        world.write("managed/managed-settings.json", &format!(r#"{{"deniedMcpServers": [{entry}]}}"#));
        assert_eq!(names(&world, "blocked"), [denied], "{entry}");
        assert_eq!(names(&world, "ready").len(), 3, "{entry}");
    }
}

// C9 B29 B31
#[test]
fn an_allow_list_lets_in_exactly_what_it_names() {
    let world = mixed();
    world.write(
        "managed/managed-settings.json",
        r#"{"allowedMcpServers": [
            {"serverUrl": "https://*.company.com/*"},
            {"serverCommand": ["npx", "-y", "@company/mcp-*"]}
        ]}"#,
    );
    assert_eq!(names(&world, "ready"), ["shell", "good"]);
    assert_eq!(names(&world, "blocked"), ["other", "evil"]);
}

// C9
#[test]
fn an_empty_allow_list_allows_nothing() {
    let world = mixed();
    world.write("managed/managed-settings.json", r#"{"allowedMcpServers": []}"#);
    assert!(names(&world, "ready").is_empty());
}

// C9
#[test]
fn an_allow_list_that_is_no_list_allows_nothing() {
    let world = mixed();
    world.write("managed/managed-settings.json", r#"{"allowedMcpServers": {"serverName": "good"}}"#);
    assert!(names(&world, "ready").is_empty());
}

// C9
#[test]
fn deny_beats_allow() {
    let world = mixed();
    world.write(
        "managed/managed-settings.json",
        r#"{"allowedMcpServers": [{"serverName": "good"}], "deniedMcpServers": [{"serverName": "good"}]}"#,
    );
    assert!(names(&world, "ready").is_empty());
}

// C9
#[test]
fn invalid_policy_entry_is_reported_and_the_others_apply() {
    let world = mixed();
    world.write(
        "managed/managed-settings.json",
        r#"{"deniedMcpServers": [
{"serverNmae": "shell"},
{"serverName": "good", "serverUrl": "https://x/*"},
7,
{"serverName": "evil"}
]}"#,
    );
    assert_eq!(names(&world, "blocked"), ["evil"]);
    let left_out = |line: u32, why: &str| {
        format!("managed/managed-settings.json:{line}:1: policy entry left out: {why}")
    };
    assert_eq!(
        world.warnings(),
        [
            left_out(2, "it has neither `serverName` nor `serverUrl` nor `serverCommand`"),
            left_out(3, "it has more than one of `serverName`, `serverUrl` and `serverCommand`"),
            left_out(4, "expected an object, found a number"),
        ]
    );
}

// C9
#[test]
fn the_users_list_narrows_the_managed_one_and_never_widens_it() {
    let world = World::with(&[
        ("home/.claude.json", &servers(&["a", "b", "c"])),
        (
            "managed/managed-settings.json",
            r#"{"allowedMcpServers": [{"serverName": "a"}, {"serverName": "b"}]}"#,
        ),
        (
            "home/.claude/settings.json",
            r#"{"allowedMcpServers": [{"serverName": "b"}, {"serverName": "c"}]}"#,
        ),
    ]);
    assert_eq!(
        world.table(),
        [
            "user a blocked: not on the user allow-list (home/.claude/settings.json:1:23)",
            "user b ready",
            "user c blocked: not on the managed allow-list (managed/managed-settings.json:1:23)",
        ]
    );
}

// C9
#[test]
fn administrator_can_override_the_users_allow_list_but_not_their_denials() {
    let world = World::with(&[
        ("home/.claude.json", &servers(&["a", "b"])),
        ("managed/managed-settings.json", r#"{"allowManagedMcpServersOnly": true}"#),
        (
            "home/.claude/settings.json",
            r#"{"allowedMcpServers": [], "deniedMcpServers": [{"serverName": "b"}]}"#,
        ),
    ]);
    assert_eq!(names(&world, "ready"), ["a"]);
    assert_eq!(names(&world, "blocked"), ["b"]);
}

// C9
#[test]
fn a_policy_in_the_repository_or_in_local_settings_does_not_count() {
    for file in ["home/project/.claude/settings.json", "home/project/.claude/settings.local.json"] {
        let world =
            World::with(&[("home/.claude.json", &servers(&["a"])), (file, r#"{"allowedMcpServers": []}"#)]);
        assert_eq!(names(&world, "ready"), ["a"]);
        assert_eq!(
            world.warnings(),
            [format!("{file}:1:23: `allowedMcpServers` counts only in managed and user settings")]
        );
    }
}

// C9
#[test]
fn managed_servers_need_no_place_on_the_allow_list_but_can_be_denied() {
    let world = World::with(&[
        ("managed/managed-mcp.json", &servers(&["a", "x"])),
        (
            "managed/managed-settings.json",
            r#"{"allowedMcpServers": [], "deniedMcpServers": [{"serverName": "x"}]}"#,
        ),
    ]);
    assert_eq!(names(&world, "ready"), ["a"]);
    assert_eq!(names(&world, "blocked"), ["x"]);
}

// C9
#[test]
fn a_policy_beside_the_managed_servers_counts() {
    let world = World::with(&[(
        "managed/managed-mcp.json",
        r#"{"mcpServers": {"x": {"command": "x"}}, "deniedMcpServers": [{"serverName": "x"}]}"#,
    )]);
    assert_eq!(names(&world, "blocked"), ["x"]);
}

// C9 B32
#[test]
fn a_denied_server_is_denied_under_every_other_name_and_from_every_source() {
    let mut world = World::with(&[
        ("managed/managed-settings.json", DENIED_X),
        (
            "home/.claude.json",
            r#"{"mcpServers": {"x": {"command": "tool"}, "alias": {"command": "tool"}, "else": {"command": "tool", "args": ["a"]}}}"#,
        ),
        ("home/plug/.mcp.json", r#"{"hidden": {"command": "tool"}}"#),
    ]);
    world.run_options.plugin_dirs = vec![world.path("home/plug")];
    world.run_options.mcp_config = vec![r#"{"mcpServers": {"given": {"command": "tool"}}}"#.to_owned()];
    let rule = "denied by policy: serverName `x` (managed/managed-settings.json:1:23)";
    let same = format!("blocked: it is the same server as `x`: {rule}");
    assert_eq!(
        world.table(),
        [
            format!("plugin plugin:plug:hidden {same}"),
            format!("user x blocked: {rule}"),
            format!("user alias {same}"),
            "user else ready".to_owned(),
            format!("dynamic given {same}"),
        ]
    );
}

// C9 B32
#[test]
fn a_strict_run_does_not_lift_the_denial_of_another_name() {
    let mut world = World::with(&[
        ("managed/managed-settings.json", DENIED_X),
        ("home/.claude.json", r#"{"mcpServers": {"x": {"command": "tool"}}}"#),
    ]);
    world.run_options.strict = true;
    world.run_options.mcp_config = vec![r#"{"mcpServers": {"given": {"command": "tool"}}}"#.to_owned()];
    assert!(names(&world, "ready").is_empty(), "{:?}", world.table());
}

// C9 B31
#[test]
fn an_allowed_command_does_not_cover_a_changed_search_path() {
    let world = World::with(&[
        (
            "home/.claude.json",
            r#"{"mcpServers": {"plain": {"command": "tool"}, "bent": {"command": "tool", "env": {"PATH": "/tmp"}}}}"#,
        ),
        ("managed/managed-settings.json", r#"{"allowedMcpServers": [{"serverCommand": ["tool"]}]}"#),
    ]);
    assert_eq!(names(&world, "ready"), ["plain"]);
}
