//! What a person sees is what there is: one element a line, nothing hidden, nothing that drives the terminal (B45).

use serde_json::{Value, json};

use crate::world::World;

/// Escape sequences, C1, bidi, zero width, tags and a line separator.
const HOSTILE: &str = "\u{1b}[31m\u{1b}]0;title\u{7}\u{9b}1m\u{202e}\u{2066}\u{200b}\u{e0041}\u{2028}\u{7f}";

fn hostile() -> World {
    let text = |prefix: &str| format!("{prefix}{HOSTILE}");
    let entry = json!({
        "command": text("command"), "args": [text("arg")], "env": {text("KEY"): "v"}, "cwd": text("/cwd"),
        text("unknown\r\n"): 1,
    });
    let remote = json!({
        "url": format!("https://h/{HOSTILE}"), "headers": {text("H"): "v"}, "headersHelper": text("help"),
        "oauth": {"clientId": text("id")},
    });
    let bad = json!({"type": text("bogus")});
    let servers = json!({"mcpServers": {text("name"): entry, text("remote"): remote, text("bad"): bad}});
    let settings = json!({
        "disabledMcpjsonServers": [text("name")], "permissions": {"allow": [text("rule")]}, text("x"): 1,
        "deniedMcpServers": [{"serverName": text("name")}], "plugins": [text("plug")],
    });
    World::with(&[
        ("home/project/.mcp.json", &servers.to_string()),
        ("home/.claude/settings.json", &settings.to_string()),
        ("home/.claude.json", &format!("{{\"{HOSTILE}")),
        ("home/.cursor/mcp.json", &servers.to_string()),
    ])
}

fn is_raw(character: char) -> bool {
    (HOSTILE.contains(character) && !character.is_ascii_graphic())
        || (character.is_control() && character != '\n')
}

// B45 B63
#[test]
fn nothing_hostile_reaches_the_terminal_raw() {
    let world = hostile();
    let name = format!("name{HOSTILE}");
    let commands: [&[&str]; 17] = [
        &["list"],
        &["list", "--offline"],
        &["plan", "-v"],
        &["get", &name],
        &["get", "nothing"],
        &["approve", &name],
        &["reject", &name],
        &["disable", &name],
        &["enable", &name],
        &["enable", HOSTILE],
        &["remove", HOSTILE],
        &["permissions", "test", &name, HOSTILE],
        &["import"],
        &["tools"],
        &["tools", &name, HOSTILE],
        &["call", &name, HOSTILE, HOSTILE],
        &["logs", &name],
    ];
    for command in commands {
        for json in [&[][..], &["--json"]] {
            let done = world.mcparley(&[json, command].concat());
            let raw: Vec<char> = done.out.chars().chain(done.err.chars()).filter(|c| is_raw(*c)).collect();
            assert!(raw.is_empty(), "{command:?} {json:?}: {raw:?} in {done:?}");
            assert!(!done.out.is_empty() || !done.err.is_empty());
        }
    }
}

// B45 U3
#[test]
fn escaped_json_parses_to_the_original_text() {
    let world = hostile();
    let plan = world.json(&["plan"]);
    let names: Vec<&Value> =
        plan["servers"].as_array().unwrap().iter().map(|server| &server["name"]).collect();
    let expected = ["bad", "remote", "name"].map(|name| json!(format!("{name}{HOSTILE}")));
    assert_eq!(names, expected.iter().collect::<Vec<_>>());
}

// B45
#[test]
fn every_argument_stands_on_a_line_of_its_own_and_nothing_is_cut() {
    let long = "x".repeat(5_000);
    let hidden = format!("safe{}; rm -rf /", " ".repeat(200));
    let world = World::with(&[(
        "home/project/.mcp.json",
        &json!({"mcpServers": {"it": {"command": "sh", "args": ["-c", hidden, "a\nb", "", long]}}})
            .to_string(),
    )]);
    let shown = world.ok(&["get", "it"]);
    let lines: Vec<&str> = shown.lines().skip_while(|line| !line.starts_with("  command")).collect();
    assert_eq!(
        lines[..6],
        [
            "  command: sh".to_owned(),
            "  argument 1: -c".to_owned(),
            format!("  argument 2: {hidden}"),
            "  argument 3: a\\nb".to_owned(),
            "  argument 4: ".to_owned(),
            format!("  argument 5: {long}"),
        ]
    );
}

// B58
#[test]
fn variables_that_change_what_runs_are_marked() {
    let world = World::with(&[(
        "home/project/.mcp.json",
        r#"{"mcpServers": {"it": {"command": "x", "env": {"LD_PRELOAD": "a", "PLAIN": "b", "NODE_OPTIONS": "c", "PATH": "d", "PYTHONPATH": "e"}}}}"#,
    )]);
    let shown = world.ok(&["get", "it"]);
    assert!(
        shown.contains(
            "  caution: LD_PRELOAD, NODE_OPTIONS, PATH, PYTHONPATH can change the program that runs\n"
        ),
        "{shown}"
    );
    assert_eq!(
        world.json(&["get", "it"])["declarations"][0]["cautions"],
        json!(["LD_PRELOAD", "NODE_OPTIONS", "PATH", "PYTHONPATH"])
    );
}

// B45 B54
#[test]
fn a_command_to_copy_cannot_smuggle_in_another_one() {
    let world = World::with(&[(
        "home/project/.mcp.json",
        r#"{"mcpServers": {"x; rm -rf ~": {"command": "x"}, "my server": {"command": "y"}}}"#,
    )]);
    let shown = world.ok(&["get", "my server"]);
    assert!(shown.contains("  approve: mcparley approve 'my server' --definition sha256:"), "{shown}");
    let refused = world.ok(&["get", "x; rm -rf ~"]);
    assert!(refused.contains("`x; rm -rf ~` contains `;`") && !refused.contains("approve:"), "{refused}");
    let plan = world.ok(&["plan"]);
    assert!(plan.contains("hint: look at it with `mcparley get 'my server'`, then"), "{plan}");
}

// U3
#[test]
fn colors_are_for_terminals_only() {
    let world = hostile();
    let done = world.mcparley(&["plan"]);
    assert!(!done.out.contains('\u{1b}') && !done.err.contains('\u{1b}'));
}
