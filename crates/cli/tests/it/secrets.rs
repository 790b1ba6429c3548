//! No secret of any kind is ever printed: one canary each, every command, every form (B62, B63).

use serde_json::json;

use crate::world::{Output, World, refusal};

const LOCAL: &str = "home/project/.claude/settings.local.json";
const CANARY: &str = "canary";

/// Entries with a secret of each kind.
fn servers() -> serde_json::Value {
    json!({
        "local": {
            "command": "${TOOL:-canary-1}",
            "args": [
                "--token", "canary-2", "--api-key=canary-3", "API_SECRET=canary-4", "${ARG:-canary-5}",
                "--header", "Authorization: Bearer canary-6", "--header", "Authorization:Bearer canary-7",
                "https://user:canary-8@h/?key=canary-9#canary-10", "https://h/?canary-11",
                "${OUTER:-${INNER:-canary-12}}", "${UNCLOSED:-canary-13",
            ],
            "env": {"KEY": "canary-14", "OTHER": "${FROM:-canary-15}"},
            "cwd": "/${WHERE:-canary-16}",
        },
        "remote": {
            "url": "https://user:canary-17@h/mcp?token=canary-18&${NAME:-canary-19}#canary-20",
            "headers": {"Authorization": "Bearer canary-21", "X-Key": "canary-22", "X": "${H:-canary-23}"},
            "headersHelper": "helper --token canary-24 API_KEY=canary-25",
            "oauth": {"clientId": "${ID:-canary-26}", "scopes": ["${SCOPE:-canary-27}"]},
        },
        "usable": {
            "command": "x", "args": ["${VALUE}", "--password", "canary-28"], "env": {"V": "${VALUE}"},
        },
        "malformed": {"url": "https://h/${not a name canary-29}", "headers": {"K": "${no name canary-30}"}},
        "wrong": {"command": "x", "env": {"K": ["canary-31"]}},
        "address": {"url": "https://h:canary-32/", "headers": {"bad name": "canary-33"}},
        "line": {"url": "https://h/", "headers": {"K": "${LINE}"}},
        "path": {
            "url": "https://canary-41@h/s/sk-canary-42-0123456789/mcp",
            "headersHelper": "printf '{\"X-Key\": \"canary-43\"}'",
        },
        "package": {
            "command": "uvx", "args": ["--from", "git+https://canary-44:canary-45@h/p", "x"], "cwd": "/no/such/folder",
        },
        "ide": {"type": "ws-ide", "url": "ws://h/", "ideName": "x", "authToken": "canary-34"},
    })
}

fn world() -> World {
    let all = json!({ "mcpServers": servers() }).to_string();
    let foreign =
        json!({"mcpServers": {"usable": {"command": "x", "args": ["--token", "canary-40"]}}}).to_string();
    let mut world = World::with(&[
        ("home/.claude.json", &all),
        ("home/project/.mcp.json", &all),
        (LOCAL, &all),
        ("home/.cursor/mcp.json", &foreign),
        (
            "home/.claude/settings.json",
            r#"{"env": {"SETTING": "canary-35"}, "permissions": {"allow": ["mcp__a"]}}"#,
        ),
    ]);
    world.set("VALUE", "canary-36");
    world.set("LINE", "canary-37\ncanary-38");
    world.set("TOKEN", "canary-39");
    world
}

fn assert_silent(done: &Output, args: &[&str]) {
    for text in [&done.out, &done.err] {
        let leaks: Vec<&str> = text.lines().filter(|line| line.contains(CANARY)).collect();
        assert!(leaks.is_empty(), "{args:?} prints {leaks:#?}");
    }
}

// B62 B63 U3
#[test]
fn no_command_prints_a_configured_secret() {
    let world = world();
    // What waits for approval is shown whole; everything else is masked.
    world.ok(&["trust", "--yes"]);
    let mut commands: Vec<Vec<&str>> = [
        &["list"][..],
        &["list", "--offline"],
        &["plan"],
        &["plan", "--check"],
        &["doctor"],
        &["permissions", "test", "local", "x"],
        &["import"],
        &["import", "--only", "usable", "-s", "user", "-y"],
        &["disable", "usable"],
        &["enable", "all"],
    ]
    .map(<[&str]>::to_vec)
    .to_vec();
    let servers = servers();
    commands.extend(servers.as_object().unwrap().keys().map(|name| vec!["get", name]));
    commands.extend([vec!["remove", "usable"], vec!["remove", "-s", "local", "usable"]]);
    commands.extend([vec!["reject", "remote"], vec!["reset-project-choices"]]);
    for command in commands {
        for options in [&[][..], &["-v"], &["-vvv"], &["--json"], &["--json", "-v"]] {
            let args = [options, &command].concat();
            let done = world.mcparley(&args);
            assert!(!done.out.is_empty() || !done.err.is_empty(), "{args:?}");
            assert_silent(&done, &args);
            if options.contains(&"--json") {
                serde_json::from_str::<serde_json::Value>(&done.out).unwrap();
            }
        }
    }
}

// B62
#[test]
fn no_way_of_adding_prints_the_secret() {
    let ways: [&[&str]; 17] = [
        &["add", "-e", "KEY=canary", "it", "cmd", "--token", "canary"],
        &["add", "-e", "canary", "it", "cmd"],
        &["add", "-e", "=canary", "it", "cmd"],
        &["add", "-H", "Authorization: Bearer canary", "it", "https://h/?k=canary"],
        &["add", "-H", "canary", "it", "https://h/"],
        &["add", "-H", "A: canary", "it", "cmd"],
        &["add", "-e", "A=canary", "it", "https://h/"],
        &["add", "it", "https://user:canary@h/"],
        &["add", "it", "https://user:canary@/"],
        &["add", "it", "ftp://user:canary@h/"],
        &["add", "it", "https://h/", "-H", "canary"],
        &["add", "it", "https://h/", "canary"],
        &["add", "-H", "K: a\ncanary", "it", "https://h/"],
        &["add-json", "it", r#"{"command": "x", "env": {"K": "canary"}"#],
        &["add-json", "it", r#"{"command": "x", "env": {"K": canary}}"#],
        &["add-json", "it", r#"{"command": "x", "env": "canary"}"#],
        &["add-json", "it", r#"{"command": "x", "args": ["--token", "canary"], "env": {"K": "canary"}}"#],
    ];
    for way in ways {
        for options in [&[][..], &["-v"], &["--json"]] {
            let args = [options, way].concat();
            assert_silent(&World::new().mcparley(&args), &args);
        }
    }
}

// B62
#[test]
fn what_is_given_for_one_run_is_not_printed() {
    let world = World::new();
    let servers = json!({ "mcpServers": servers() }).to_string();
    let broken = servers.replace("}}}", "}} canary");
    for given in [servers.as_str(), broken.as_str(), r#"{"mcpServers": "canary"}"#, r#"{"canary": 1}"#] {
        for options in [&[][..], &["--json"], &["-v"]] {
            let args = [&["--mcp-config", given, "list", "--offline"], options].concat();
            assert_silent(&world.mcparley(&args), &args);
            let args = [&["--settings", given, "plan"], options].concat();
            assert_silent(&world.mcparley(&args), &args);
        }
    }
}

// B63
#[test]
fn secrets_are_for_terminals_only() {
    let world = world();
    for args in [&["get", "usable", "--show-secrets"][..], &["get", "--show-secrets", "remote", "-v"]] {
        assert_eq!(
            world.mcparley(args),
            refusal(
                2,
                "error: `--show-secrets` works only on a terminal\nhint: read the file itself; `mcparley get` shows its path"
            )
        );
    }
    assert_silent(&world.mcparley(&["get", "usable", "--show-secrets", "--json"]), &[]);
}

// C6 B63
#[test]
fn the_names_of_variables_stay_visible() {
    let world = world();
    let shown = world.mcparley(&["get", "usable"]).out;
    assert!(shown.contains("  argument 1: ${VALUE}\n"), "{shown}");
    assert!(shown.contains("  variable: V=*** (from ${VALUE})\n"), "{shown}");
}
