//! The administrator's word, tried through `MCPARLEY_MANAGED_DIR` (C5, C9, B33).

use serde_json::json;

use crate::world::{Output, World, refusal};

const SETTINGS: &str = "managed/managed-settings.json";

fn mine() -> World {
    World::with(&[(
        "home/.claude.json",
        r#"{"mcpServers": {"a": {"command": "x"}, "b": {"url": "https://api.example.com/mcp"}}}"#,
    )])
}

// C5
#[test]
fn with_managed_servers_the_others_are_listed_as_blocked_by_them() {
    let world = mine();
    world.write("managed/managed-mcp.json", r#"{"mcpServers": {"theirs": {"command": "t"}}}"#);
    let only = "blocked: managed/managed-mcp.json allows only its own servers";
    assert_eq!(
        world.ok(&["list", "--offline"]),
        format!("a: x - {only}\nb: https://api.example.com/mcp (HTTP) - {only}\ntheirs: t - ready\n")
    );
    assert_eq!(
        world.json(&["plan"])["managed"],
        json!({"is": "exclusive", "file": "managed/managed-mcp.json"})
    );
    assert_eq!(
        world.mcparley(&["add", "new", "x"]),
        refusal(
            4,
            "error: `new` is not allowed: managed/managed-mcp.json allows only its own servers\nhint: ask the \
             machine's administrator, or choose a server that is allowed"
        )
    );
    world.ok(&["remove", "a"]);
}

// C9
#[test]
fn a_denied_server_is_listed_with_its_rule_and_cannot_be_added() {
    let world = mine();
    world.write(
        SETTINGS,
        r#"{"allowedMcpServers": [{"serverName": "a"}, {"serverName": "b"}],
"deniedMcpServers": [{"serverUrl": "https://*.example.com/*"}]}"#,
    );
    let rule = format!("denied by policy: serverUrl `https://*.example.com/*` ({SETTINGS}:2:22)");
    assert_eq!(
        world.ok(&["list", "--offline"]),
        format!("a: x - ready\nb: https://api.example.com/mcp (HTTP) - blocked: {rule}\n")
    );
    let hint = "ask the machine's administrator, or choose a server that is allowed";
    assert_eq!(
        world.mcparley(&["add", "c", "https://other.example.com/"]),
        refusal(4, &format!("error: `c` is not allowed: {rule}\nhint: {hint}"))
    );
    assert_eq!(
        world.mcparley(&["add-json", "c", r#"{"command": "x"}"#]),
        refusal(
            4,
            &format!(
                "error: `c` is not allowed: not on the managed allow-list ({SETTINGS}:1:23)\nhint: {hint}"
            )
        )
    );
}

// C9
#[test]
fn an_invalid_entry_is_told_and_the_rest_holds() {
    let world = mine();
    world.write(SETTINGS, r#"{"deniedMcpServers": [{"name": "b"}, {"serverName": "a"}]}"#);
    let done = world.mcparley(&["list", "--offline"]);
    assert_eq!(
        done,
        Output {
            code: 0,
            out: format!(
                "a: x - blocked: denied by policy: serverName `a` ({SETTINGS}:1:38)\nb: \
                 https://api.example.com/mcp (HTTP) - ready\n"
            ),
            err: format!(
                "warning: {SETTINGS}:1:23: policy entry left out: it has neither `serverName` nor `serverUrl` nor \
                 `serverCommand`\n"
            ),
        }
    );
}

// C5 B33
#[test]
fn a_broken_managed_file_is_reported_and_blocks_every_server() {
    for text in ["{\"allowedMcpServers\": [", "", "[]"] {
        let world = mine();
        world.write(SETTINGS, text);
        for args in [&["list", "--offline"][..], &["plan"], &["get", "a"]] {
            let done = world.mcparley(args);
            assert_eq!(done.code, 4, "{args:?}: {done:?}");
            assert!(done.err.starts_with(&format!("error: {SETTINGS}")), "{done:?}");
            assert!(done.out.contains(&format!("{SETTINGS} cannot be read: ")), "{done:?}");
        }
        let plan = world.json(&["plan"]);
        assert_eq!(plan["managed"]["is"], "broken");
        let servers = plan["servers"].as_array().unwrap();
        assert!(!servers.is_empty());
        assert!(servers.iter().all(|server| server["standing"]["is"] == "blocked"), "{plan}");
        assert_eq!(plan["problems"][0]["severity"], "managed");
        assert_eq!(world.mcparley(&["add", "new", "x"]).code, 4);
        assert_eq!(world.mcparley(&["plan", "--check"]).code, 4);
    }
}

// C9
#[test]
fn policy_holds_for_servers_given_for_one_run() {
    let world = mine();
    world.write(SETTINGS, r#"{"allowedMcpServers": [{"serverName": "a"}]}"#);
    let given = r#"{"mcpServers": {"given": {"command": "x"}}}"#;
    let list = world.ok(&["--mcp-config", given, "--strict-mcp-config", "list", "--offline"]);
    assert!(list.contains("given: x - blocked: not on the managed allow-list"), "{list}");
}

// C5 C9
#[test]
fn a_policy_of_the_wrong_kind_stops_everything() {
    for policy in [
        r#"{"deniedMcpServers": {"serverName": "x"}}"#,
        r#"{"allowedMcpServers": "x"}"#,
        r#"{"allowManagedMcpServersOnly": "yes"}"#,
        r#"{"requirePinnedPackages": 1}"#,
    ] {
        let world = World::with(&[("managed/managed-settings.json", policy)]);
        world.write("home/.claude.json", r#"{"mcpServers": {"it": {"command": "x"}}}"#);
        let plan = world.mcparley(&["plan"]);
        assert_eq!(plan.code, 4, "{policy}: {plan:?}");
        assert!(plan.out.starts_with("blocked"), "{policy}: {plan:?}");
    }
}

// B119
#[test]
fn an_unpinned_package_is_blocked_where_policy_requires_pins() {
    let world = World::with(&[(SETTINGS, r#"{"requirePinnedPackages": true}"#)]);
    world.write(
        "home/.claude.json",
        r#"{"mcpServers": {"loose": {"command": "npx", "args": ["-y", "@x/server"]},
            "pinned": {"command": "npx", "args": ["-y", "@x/server@1.2.3"]}}}"#,
    );
    let reason = format!(
        "policy requires pinned packages: `npx` fetches `@x/server` without a pinned version ({SETTINGS}:1:27)"
    );
    assert_eq!(
        world.ok(&["list", "--offline"]),
        format!("loose: npx -y @x/server - blocked: {reason}\npinned: npx -y @x/server@1.2.3 - ready\n")
    );
    let plan = world.json(&["plan"]);
    let loose = plan["servers"].as_array().unwrap().iter().find(|it| it["name"] == "loose").unwrap();
    assert_eq!((&loose["standing"]["is"], &loose["standing"]["reason"]), (&json!("blocked"), &json!(reason)));
    let hint = "name an exact version, such as `@x/server@1.2.3`";
    assert_eq!(loose["hint"], hint);
    assert_eq!(
        world.mcparley(&["add", "new", "--", "npx", "-y", "@x/server"]),
        refusal(4, &format!("error: `new` is not allowed: {reason}\nhint: {hint}"))
    );
}

// B32
#[test]
fn a_denied_server_cannot_be_added_under_another_name() {
    let world = World::with(&[(
        "managed/managed-settings.json",
        r#"{"deniedMcpServers": [{"serverName": "evil"}]}"#,
    )]);
    world.write("home/.claude.json", r#"{"mcpServers": {"evil": {"command": "x", "args": ["y"]}}}"#);
    let added = world.mcparley(&["add", "innocent", "x", "y"]);
    assert_eq!(added.code, 4, "{added:?}");
    assert!(added.err.contains("it is the same server as `evil`"), "{added:?}");
}
