//! One bad entry or file never hides the good ones (C10, B53, B54, F77).

use mcparley::config::plan::PlanStatus;

use crate::world::{World, servers};

const FILE: &str = "home/.claude.json";

// C10 B53
#[test]
fn every_bad_entry_is_reported_with_its_path_and_the_good_one_loads() {
    let world = World::with(&[(
        FILE,
        r#"{"mcpServers": {
"type": {"type": "bogus", "command": "x"},
"nothing": {},
"both": {"command": "x", "url": "https://h/"},
"args": {"command": "x", "args": ["a", 7]},
"port": {"url": "https://h/", "oauth": {"callbackPort": 70000}},
"timeout": {"command": "x", "timeout": -1},
"env": {"command": "x", "env": {"K": null}},
"null": null,
"list": ["x"],
"url": {"url": "not a url"},
"scheme": {"type": "ws", "url": "https://h/"},
"sdk": {"type": "sdk", "name": "x"},
"blank": {"command": " "},
"good": {"command": "x"}
}}"#,
    )]);
    let bad = |name: &str, place: &str, why: &str| format!("user {name} invalid: {FILE}:{place}: {why}");
    assert_eq!(
        world.table(),
        [
            bad("type", "2:18", "`mcpServers.type.type` cannot be `bogus`"),
            bad("nothing", "3:1", "neither `command` nor `url` is given"),
            bad("both", "4:1", "`command` and `url` are both given"),
            bad("args", "5:40", "`mcpServers.args.args[1]` is a number, not a string"),
            bad(
                "port",
                "6:57",
                "`mcpServers.port.oauth.callbackPort` is `70000`, not a port from 1 to 65535"
            ),
            bad(
                "timeout",
                "7:40",
                "`mcpServers.timeout.timeout` is `-1`, not a whole number of milliseconds, 0 or more"
            ),
            bad("env", "8:38", "`mcpServers.env.env.K` is null, not a string"),
            bad("null", "9:9", "`mcpServers.null` is null, not an object"),
            bad("list", "10:9", "`mcpServers.list` is an array, not an object"),
            bad("url", "11:16", "`url` is not a URL: relative URL without a base"),
            bad("scheme", "12:33", "`url` must begin with wss:// or ws://"),
            bad("sdk", "13:1", "`sdk` servers come from a running program, never from a file"),
            bad("blank", "14:22", "`command` is empty"),
            "user good ready".to_owned(),
        ]
    );
}

// C10 B53
#[test]
fn servers_in_a_list_are_a_problem_of_that_file_alone() {
    let world = World::with(&[
        (FILE, r#"{"mcpServers": [{"command": "x"}]}"#),
        ("home/.claude/settings.json", &servers(&["good"])),
    ]);
    assert_eq!(world.table(), ["user good ready"]);
    assert_eq!(world.problems(), ["home/.claude.json:1:16: `mcpServers` is an array, not an object"]);
}

// F77
#[test]
fn a_file_that_cannot_be_read_takes_no_other_source_with_it() {
    let files = [
        FILE,
        "home/.claude/settings.json",
        "home/project/.mcp.json",
        "home/project/.claude/settings.json",
        "home/project/.claude/settings.local.json",
    ];
    for broken in files {
        for bytes in [&b"{\"mcpServers\": {\n  \"a\": "[..], b"\xff\xfe{", b"{} trailing"] {
            let mut world = World::new();
            world.run_options.mcp_config = vec![servers(&["given"])];
            world.write(broken, "");
            std::fs::write(world.path(broken), bytes).unwrap();
            assert_eq!(world.table(), ["dynamic given ready"]);
            let problems = world.problems();
            assert_eq!(problems.len(), 1, "{problems:?}");
            let place = problems[0].strip_prefix(&format!("{broken}:"));
            assert!(place.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())), "{problems:?}");
        }
    }
}

// F77
#[test]
fn folder_or_pipe_in_place_of_a_file_is_a_problem_without_blocking() {
    let world =
        World::with(&[("home/.claude.json/inner", ""), ("home/.claude/settings.json", &servers(&["good"]))]);
    let made =
        std::process::Command::new("mkfifo").arg(world.path("home/project/.mcp.json")).status().unwrap();
    assert!(made.success());
    assert_eq!(world.table(), ["user good ready"]);
    assert_eq!(world.problems().len(), 2, "{:?}", world.problems());
}

// B54
#[test]
fn odd_names_are_shown_and_only_usable_ones_run() {
    let long = "n".repeat(10_000);
    let names = [
        "__proto__",
        "constructor",
        "",
        long.as_str(),
        "../../x",
        "a/b",
        "🦀",
        "a b",
        "line\nbreak",
        "\u{202e}x",
    ];
    let entries: serde_json::Map<String, serde_json::Value> = names
        .iter()
        .map(|name| ((*name).to_owned(), serde_json::json!({"command": format!("run-{}", name.len())})))
        .collect();
    let world = World::with(&[(FILE, &serde_json::json!({ "mcpServers": entries }).to_string())]);
    let loaded = world.load();
    let found: Vec<&str> = loaded.plan.servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(found, names);
    let ready = loaded.plan.servers.iter().filter(|server| server.status == PlanStatus::Ready);
    let ready: Vec<&str> = ready.map(|server| server.name.as_str()).collect();
    assert_eq!(ready, ["__proto__", "constructor", "a b"]);
    let invalid = loaded.plan.servers.iter().filter(|server| matches!(server.status, PlanStatus::Invalid(_)));
    assert_eq!(invalid.count(), names.len() - ready.len());
}

// C10
#[test]
fn unknown_fields_are_reported_once_and_ignored() {
    let world = World::with(&[(FILE, r#"{"mcpServers": {"it": {"command": "x", "comand": "y"}}}"#)]);
    let loaded = world.load();
    assert_eq!(world.lines(&loaded), ["user it ready"]);
    let hints: Vec<String> = loaded.plan.servers[0]
        .hints
        .iter()
        .map(|hint| world.relative(&format!("{}: {}", hint.origin, hint.text)))
        .collect();
    assert_eq!(
        hints,
        ["home/.claude.json:1:40: `mcpServers.it.comand` is not a known field; it is kept but has no effect"]
    );
}

// F78
#[test]
fn comments_a_byte_order_mark_and_an_empty_file_are_read() {
    for text in [
        "\u{feff}{\"mcpServers\": {\"it\": {\"command\": \"x\"},}} // end",
        "{/*a*/\"mcpServers\":{\"it\":{\"command\":\"x\"}}}\r\n",
    ] {
        let world = World::with(&[(FILE, text)]);
        assert_eq!(world.table(), ["user it ready"]);
    }
    let world = World::with(&[(FILE, "")]);
    assert!(world.table().is_empty() && world.problems().is_empty());
}
