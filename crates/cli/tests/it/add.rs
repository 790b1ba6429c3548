//! The words of `add`: where options may stand and what they mean (U1).

use serde_json::{Value, json};

use crate::world::World;

const CLAUDE_JSON: &str = "home/.claude.json";

/// The entry that these words make of the server `it`, in the user's file for this project.
fn entry(args: &[&str]) -> Value {
    let world = World::new();
    world.ok(&[&["add"], args].concat());
    local_entry(&world, "it")
}

fn local_entry(world: &World, name: &str) -> Value {
    world.read_json(CLAUDE_JSON)["projects"]["home/project"]["mcpServers"][name].clone()
}

fn stdio(command: &str, args: &[&str], env: &Value) -> Value {
    json!({"type": "stdio", "command": command, "args": args, "env": env})
}

// U1
#[test]
fn options_may_stand_before_and_after_the_name() {
    let expected = stdio("cmd", &["--flag", "-x"], &json!({"A": "1"}));
    for args in [
        &["-e", "A=1", "it", "cmd", "--flag", "-x"][..],
        &["it", "-e", "A=1", "cmd", "--flag", "-x"],
        &["-e", "A=1", "it", "--", "cmd", "--flag", "-x"],
        &["it", "-e", "A=1", "--", "cmd", "--flag", "-x"],
        &["--env=A=1", "it", "cmd", "--flag", "-x"],
    ] {
        assert_eq!(entry(args), expected, "{args:?}");
    }
}

// U1
#[test]
fn words_after_a_command_belong_to_the_command() {
    assert_eq!(
        entry(&["it", "cmd", "-x", "user", "--json", "--", "-H"]),
        stdio("cmd", &["-x", "user", "--json", "--", "-H"], &json!({}))
    );
    assert_eq!(
        entry(&["it", "--", "cmd", "-s", "user", "-e", "A=1", "--", "-H"]),
        stdio("cmd", &["-s", "user", "-e", "A=1", "--", "-H"], &json!({}))
    );
}

// U2: as `claude mcp add` takes them.
#[test]
fn variables_and_headers_may_be_several_behind_one_option() {
    let expected = stdio("cmd", &["-y", "B=3"], &json!({"A": "1", "B": "2"}));
    for args in [
        &["it", "-e", "A=1", "B=2", "--", "cmd", "-y", "B=3"][..],
        &["-e", "A=1", "B=2", "it", "--", "cmd", "-y", "B=3"],
        &["it", "--env=A=1", "B=2", "cmd", "-y", "B=3"],
        &["it", "-eA=1", "B=2", "cmd", "-y", "B=3"],
    ] {
        assert_eq!(entry(args), expected, "{args:?}");
    }
    let expected = json!({"type": "http", "url": "https://h/mcp", "headers": {"A": "b", "C": "d"}});
    for args in [
        &["-t", "http", "it", "https://h/mcp", "-H", "A: b", "C: d"][..],
        &["-t", "http", "it", "-H", "A: b", "C: d", "https://h/mcp"],
        &["-H", "A:b", "C:d", "--transport", "http", "it", "https://h/mcp"],
    ] {
        assert_eq!(entry(args), expected, "{args:?}");
    }
}

// U2: as `claude mcp add` takes them.
#[test]
fn options_at_the_end_of_a_command_are_those_of_add() {
    let world = World::new();
    world.ok(&["add", "it", "cmd", "x", "-e", "C=3", "D=4", "-s", "user"]);
    let servers = &world.read_json(CLAUDE_JSON)["mcpServers"];
    assert_eq!(servers["it"], stdio("cmd", &["x"], &json!({"C": "3", "D": "4"})));
    assert_eq!(entry(&["it", "cmd", "-e", "A=1", "--", "-x"]), stdio("cmd", &["-x"], &json!({"A": "1"})));
}

// U2: never stored as a wrong command.
#[test]
fn ambiguous_options_after_the_command_are_refused_with_a_hint() {
    for args in [
        &["it", "npx", "-y", "pkg", "-s", "user"][..],
        &["it", "docker", "run", "-i", "--rm", "-e", "TOKEN", "image"],
        &["it", "cmd", "-e", "A=1", "image"],
        &["it", "cmd", "-s", "user", "--fast"],
    ] {
        let world = World::new();
        let done = world.mcparley(&[&["add"], args].concat());
        assert_eq!((done.code, done.out.as_str()), (2, ""), "{args:?}: {done:?}");
        assert!(done.err.contains("after the command may belong to `add` or to"), "{done:?}");
        assert!(done.err.contains("hint: put `--` before the command"), "{done:?}");
        assert!(world.files().is_empty());
    }
}

// U2
#[test]
fn an_address_without_a_scheme_is_taken_for_a_url() {
    let cases: [(&[&str], &str, &str); 6] = [
        (&["it", "example.com/mcp"], "http", "https://example.com/mcp"),
        (&["it", "localhost:3000/mcp"], "http", "http://localhost:3000/mcp"),
        (&["it", "127.0.0.1:3000/sse"], "sse", "http://127.0.0.1:3000/sse"),
        (&["-t", "http", "it", "${URL}/mcp"], "http", "${URL}/mcp"),
        (&["it", "${URL}/mcp", "-t", "sse"], "sse", "${URL}/mcp"),
        (&["-t", "http", "it", "example.com"], "http", "https://example.com"),
    ];
    for (args, kind, url) in cases {
        assert_eq!(entry(args), json!({"type": kind, "url": url}), "{args:?}");
    }
    for command in ["./server", "bin/server", "server.py", "/usr/bin/x", "example.com"] {
        assert_eq!(entry(&["it", command]), stdio(command, &[], &json!({})));
    }
    assert_eq!(entry(&["it", "example.com/mcp", "x"])["command"], "example.com/mcp");
    let world = World::with(&[("home/project/my.app/run", "")]);
    world.ok(&["add", "it", "my.app/run"]);
    assert_eq!(local_entry(&world, "it")["command"], "my.app/run", "a file that is there is a program");
}

// U1
#[test]
fn a_command_may_begin_with_a_hyphen_after_two_of_them() {
    assert_eq!(entry(&["it", "--", "cmd", "--json"]), stdio("cmd", &["--json"], &json!({})));
}

// U1
#[test]
fn variables_may_be_repeated_and_hold_anything() {
    assert_eq!(
        entry(&["-e", "A=x=y", "-e", "B=", "-e", "C= ${D:-e} ", "it", "cmd"]),
        stdio("cmd", &[], &json!({"A": "x=y", "B": "", "C": " ${D:-e} "}))
    );
}

// U1
#[test]
fn headers_may_be_repeated_and_their_values_are_trimmed() {
    assert_eq!(
        entry(&["-H", "A: 1", "it", "https://h/mcp", "-H", "B:2", "--header", "C: d: e"]),
        json!({"type": "http", "url": "https://h/mcp", "headers": {"A": "1", "B": "2", "C": "d: e"}})
    );
}

// U1
#[test]
fn options_may_follow_a_url() {
    let world = World::new();
    world.ok(&[
        "add",
        "it",
        "https://h/mcp",
        "-s",
        "user",
        "-t",
        "sse",
        "--client-id",
        "me",
        "--callback-port",
        "8080",
    ]);
    assert_eq!(
        world.read_json(CLAUDE_JSON)["mcpServers"]["it"],
        json!({"type": "sse", "url": "https://h/mcp", "oauth": {"clientId": "me", "callbackPort": 8080}})
    );
}

// U1
#[test]
fn the_transport_is_detected_from_the_url() {
    let cases = [
        ("https://h/mcp", "http"),
        ("http://localhost:8080", "http"),
        ("https://h/sse", "sse"),
        ("https://h/sse/?a=b", "sse"),
        ("https://h/mcp?x=/sse", "http"),
        ("wss://h/mcp", "ws"),
        ("WS://h/sse", "ws"),
    ];
    for (url, kind) in cases {
        assert_eq!(entry(&["it", url]), json!({"type": kind, "url": url}));
    }
}

// U1
#[test]
fn a_given_transport_wins_over_the_detected_one() {
    for (given, kind) in [("http", "http"), ("streamable-http", "http"), ("sse", "sse")] {
        assert_eq!(entry(&["-t", given, "it", "https://h/sse"])["type"], kind);
    }
    assert_eq!(entry(&["-t", "stdio", "it", "https://odd"])["command"], "https://odd");
}

// U1
#[test]
fn an_entry_can_be_given_as_json_and_keeps_every_field() {
    let text = r#"{"command":"x","timeout":5,"x-mine":{"b":1,"a":[2]},"args":["${A:-b}"]}"#;
    let world = World::new();
    world.ok(&["add-json", "one", text]);
    world.ok(&["add-json", "-s", "local", "two", text]);
    let fed = world.fed(&["add-json", "three", "-"], text);
    assert_eq!(fed.code, 0, "{fed:?}");
    let expected: Value = serde_json::from_str(text).unwrap();
    for name in ["one", "two", "three"] {
        assert_eq!(local_entry(&world, name).to_string(), expected.to_string());
    }
}

// U1 C6
#[test]
fn a_variable_that_is_not_set_yet_is_a_warning() {
    let world = World::new();
    let done = world.mcparley(&["add", "it", "https://h/${PART}"]);
    assert_eq!(done.code, 0);
    assert_eq!(
        done.err,
        "warning: environment variable `PART` is not set\nhint: set `PART`, or write a default: `${PART:-value}`\n"
    );
    assert_eq!(
        world.json(&["add", "other", "https://h/${PART}"])["notYet"],
        "environment variable `PART` is not set"
    );
}

// U1 U3
#[test]
fn adding_as_json_reports_what_was_added_without_secrets() {
    let world = World::new();
    assert_eq!(
        world.json(&["add", "-e", "KEY=canary", "it", "cmd", "--token", "canary"]),
        json!({
            "added": "it", "scope": "local", "file": CLAUDE_JSON, "notYet": null,
            "entry": {"type": "stdio", "command": "cmd", "args": ["--token", "***"], "env": {"KEY": "***"}},
        })
    );
}

// U1 U2a
#[test]
fn options_of_every_command_may_follow_a_url_too() {
    let world = World::new();
    let added = world.mcparley(&["add", "x", "https://h/mcp", "-s", "user", "--json", "-H", "A: b"]);
    let report: serde_json::Value = serde_json::from_str(&added.out).unwrap();
    assert_eq!(report["scope"], "user");
    assert_eq!(report["entry"]["headers"], serde_json::json!({"A": "***"}));
}

// U1: words that would mean something elsewhere belong to the command that is added.
#[test]
fn a_command_that_looks_like_a_call_of_a_tool_is_kept_as_it_is() {
    assert_eq!(
        entry(&["it", "call", "mcp__a__b", "--json"]),
        stdio("call", &["mcp__a__b", "--json"], &json!({}))
    );
}

// C4
#[test]
fn an_entry_that_stands_in_a_file_is_replaced_there_and_only_when_told_to() {
    let world = World::new();
    world.ok(&["add", "--file", "settings", "it", "old"]);
    assert_eq!(world.mcparley(&["add", "it", "new"]).code, 6);
    let out = world.ok(&["add", "--force", "it", "new"]);
    let file = "home/project/.claude/settings.local.json";
    assert_eq!(out, format!("Replaced stdio server it in local scope\nFile: {file}\n"));
    assert_eq!(world.read_json(file)["mcpServers"]["it"]["command"], "new");
    assert_eq!(world.files(), ["home/.local/state/mcparley/approvals.json", file]);
    assert_eq!(world.plan(), ["it local ready"], "what is written here is approved in the same step");
    let report = world.json(&["add-json", "--force", "it", r#"{"command":"newer"}"#]);
    assert_eq!((&report["replaced"], &report["file"]), (&json!(true), &json!(file)));
}

// C4
#[test]
fn literal_secrets_in_the_projects_folder_are_warned_of_and_variables_are_not() {
    let hint = "hint: use `${NAME}` instead and set that variable, or store the server outside of the project with \
                `-s local`\n";
    let mut world = World::new();
    world.set("KEY", "k");
    let shared = world.mcparley(&["add", "-s", "project", "a", "-e", "API_KEY=canary", "--", "x"]);
    assert_eq!(
        shared.err.lines().next().unwrap(),
        "warning: `env.API_KEY` is stored in plain text in home/project/.mcp.json, a file in the repository"
    );
    assert!(shared.err.contains(hint) && !shared.err.contains("canary"), "{shared:?}");
    let own =
        world.mcparley(&["add", "--file", "settings", "b", "https://h/", "-H", "Authorization: Bearer c"]);
    assert!(
        own.err.starts_with(
            "warning: `headers.Authorization` is stored in plain text in home/project/.claude/settings.local.json, \
             a file of the project\n"
        ),
        "{own:?}"
    );
    for quiet in [
        &["add", "-s", "project", "c", "-e", "API_KEY=${KEY}", "--", "x"][..],
        &["add", "d", "-e", "API_KEY=canary", "--", "x"],
        &["add", "-s", "user", "--file", "settings", "e", "-e", "API_KEY=canary", "--", "x"],
    ] {
        let done = world.mcparley(quiet);
        assert!(!done.err.contains("warning"), "{quiet:?}: {done:?}");
    }
}

// C4
#[test]
fn a_settings_file_with_a_literal_secret_is_kept_out_of_commits_once() {
    let world = World::new();
    let git = |args: &[&str]| {
        let done = world.command_of("/usr/bin/git".as_ref(), args).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    git(&["init", "--quiet"]);
    world.ok(&["add", "--file", "settings", "plain", "x"]);
    assert!(git(&["status", "--porcelain", "-uall"]).contains("settings.local.json"));
    for name in ["one", "two"] {
        let done = world.mcparley(&["add", "--file", "settings", name, "-e", "TOKEN=canary", "--", "x"]);
        assert!(done.err.contains("that git ignores (home/project/.git/info/exclude)"), "{done:?}");
    }
    assert!(!git(&["status", "--porcelain", "-uall"]).contains("settings.local.json"));
    let exclude = world.read("home/project/.git/info/exclude");
    assert_eq!(exclude.matches("/.claude/settings.local.json\n").count(), 1, "{exclude}");
}

// C4
#[test]
fn a_git_pointer_that_leads_to_no_repository_is_not_written_through() {
    let world = World::with(&[("home/project/.git", "gitdir: ../elsewhere\n"), ("home/elsewhere/x", "")]);
    world.ok(&["add", "--file", "settings", "one", "-e", "TOKEN=canary", "--", "x"]);
    assert!(!world.root.join("home/elsewhere/info").exists());
}

// C4: Claude Code refuses a URL without a type, and knows one name only for each of them.
#[test]
fn a_url_is_always_written_with_its_type() {
    let world = World::new();
    world.ok(&["add-json", "a", r#"{"url":"https://h/mcp","x":1}"#]);
    world.ok(&["add-json", "b", r#"{"url":"wss://h/mcp"}"#]);
    world.ok(&["add-json", "c", r#"{"type":"streamable-http","url":"https://h/c"}"#]);
    assert_eq!(local_entry(&world, "a").to_string(), r#"{"type":"http","url":"https://h/mcp","x":1}"#);
    assert_eq!(local_entry(&world, "b")["type"], "ws");
    assert_eq!(local_entry(&world, "c")["type"], "http");
}

// C4
#[test]
fn a_name_that_claude_code_reserves_is_warned_of() {
    let world = World::new();
    for name in ["claude-in-chrome", "computer-use", "workspace"] {
        let done = world.mcparley(&["add", name, "x"]);
        assert_eq!(done.code, 0);
        assert!(
            done.err.starts_with(&format!(
                "warning: Claude Code reserves the name `{name}` and skips this entry\n"
            )),
            "{done:?}"
        );
    }
    let report = world.json(&["add", "-s", "user", "workspace", "x"]);
    assert_eq!(report["warnings"], json!(["Claude Code reserves the name `workspace` and skips this entry"]));
}
