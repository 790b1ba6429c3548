//! `call` against real servers: what is typed, what is printed, and how it ends.

use mcparley_cli::exit::{self, NamedExitCode};
use mcparley_testkit::{HttpServer, ScriptedStdio};
use serde_json::{Value, json};

use crate::talk::{VERSIONS, entry, good, heard, scripted, world};
use crate::world::{Output, refusal};

fn printed(out: &str) -> Output {
    Output { code: 0, out: format!("{out}\n"), err: String::new() }
}

// U2 U2a
#[test]
fn every_form_of_arguments_reaches_the_tool() {
    let world = good();
    world.write("home/project/text", "from a file");
    let forms: [&[&str]; 10] = [
        &["call", "good", "echo", "message=from a file"],
        &["call", "good", "echo", r#"{"message":"from a file"}"#],
        &["call", "good", "echo", "--message", "from a file"],
        &["call", "good", "echo", "--message=from a file"],
        &["call", "good", "echo", "message=@text"],
        &["call", "good", "echo", r#"message:="from a file""#],
        &["call", "mcp__good__echo", "message=from a file"],
        &["call", "mcp__good__echo", "--message", "from a file"],
        &["call", "good", "echo", "--", "--message", "from a file"],
        &["mcp", "call", "-v", "good", "echo", "message=from a file"],
    ];
    for form in forms {
        assert_eq!(world.mcparley(form), printed("from a file"), "{form:?}");
    }
    assert_eq!(world.fed(&["call", "good", "echo", "-"], r#"{"message":"in"}"#), printed("in"));
    assert_eq!(world.fed(&["call", "good", "echo", "message=@-"], "in\n"), printed("in"));
    assert_eq!(world.mcparley(&["call", "good", "add", "--a", "1", "b=2.5"]), printed("3.5"));
}

// U2: with an empty home and no network there is still something to call.
#[test]
fn the_built_in_server_is_there_without_any_configuration() {
    let world = crate::world::World::new();
    assert_eq!(world.mcparley(&["call", "mcparley", "echo", "message=hi"]), printed("hi"));
}

// U2 U3
#[test]
fn json_may_be_asked_for_on_both_sides_of_the_tool() {
    let world = good();
    let expected = json!({"isError": false, "content": [{"type": "text", "text": "hi"}]});
    let forms: [&[&str]; 5] = [
        &["--json", "call", "good", "echo", "message=hi"],
        &["call", "--json", "good", "echo", "message=hi"],
        &["call", "good", "--json", "echo", "message=hi"],
        &["call", "good", "echo", "message=hi", "--json"],
        &["call", "mcp__good__echo", "--json", "message=hi"],
    ];
    for form in forms {
        let done = world.mcparley(form);
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{form:?}");
        assert_eq!(serde_json::from_str::<Value>(&done.out).unwrap(), expected, "{form:?}");
    }
    let error = world.mcparley(&["call", "nobody", "echo", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&error.out).unwrap()["error"]["code"], "not-found");
}

// U2
#[test]
fn help_after_a_tool_shows_the_help_of_the_tool() {
    let help = good().ok(&["call", "good", "add", "--help"]);
    assert!(help.starts_with("Add two numbers\n\nUsage: mcparley call good add [ARGUMENTS]…\n"), "{help}");
    assert!(help.contains("  --a <number>\n        [required]\n"), "{help}");
}

// T9: each version of the protocol, over both transports.
#[test]
fn servers_of_every_version_can_be_called() {
    for version in VERSIONS {
        let local = entry(&ScriptedStdio::new(&[]).with_option("--versions", version));
        let remote = HttpServer::start_with(&[], &["--versions", version]);
        let world = world(&json!({"local": local, "remote": {"url": remote.url()}}));
        for server in ["local", "remote"] {
            let done = world.mcparley(&["call", server, "echo", "message=hi"]);
            assert_eq!(done, printed("hi"), "{version} {server}");
        }
    }
}

// U3 F15
#[test]
fn each_kind_of_failure_has_its_exit_code() {
    let locked = HttpServer::start(&["www-authenticate"]);
    // Two entries that start the same are one server.
    let other = |name: &str| entry(&ScriptedStdio::new(&[]).with_option("--tag", name));
    let mut world = world(&json!({
        "good": scripted(&[]),
        "exits": scripted(&["exit-start"]),
        "silent": scripted(&["hang-start"]),
        "hangs": scripted(&["call-hang"]),
        "dies": scripted(&["call-exit"]),
        "damaged": scripted(&["not-json"]),
        "grumbles": entry(&ScriptedStdio::new(&["list-error:initialize"]).with_option("--versions", "2025-11-25")),
        "listless": scripted(&["list-error"]),
        "locked": {"url": locked.url()},
        "off": other("off"),
        "invalid": {"type": "bogus"},
    }));
    world.set("MCP_TIMEOUT", "1500");
    world.ok(&["disable", "off"]);
    world.write("home/project/.mcp.json", &json!({"mcpServers": {"waits": other("waits")}}).to_string());
    world.write("managed/managed-settings.json", r#"{"deniedMcpServers": [{"serverName": "blocked"}]}"#);
    world.write(
        "home/.claude/settings.json",
        &json!({"mcpServers": {"blocked": other("blocked")}}).to_string(),
    );
    let cases: [(NamedExitCode, &[&str]); 21] = [
        (exit::OK, &["call", "good", "echo", "message=hi"]),
        (exit::TOOL_ERROR, &["call", "good", "fail"]),
        (exit::USAGE, &["call", "good"]),
        (exit::USAGE, &["call", "good", "echo", "nonsense"]),
        (exit::USAGE, &["call", "good", "echo", "mesage=hi"]),
        (exit::USAGE, &["call", "good", "echo"]),
        (exit::USAGE, &["call", "good", "echo", "message=hi", "--timeout", "soon"]),
        (exit::FILE, &["call", "good", "echo", "message=@missing"]),
        (exit::NOT_FOUND, &["call", "nobody", "echo"]),
        (exit::NOT_FOUND, &["call", "good", "ecko"]),
        (exit::NOT_FOUND, &["call", "mcp__good__ecko"]),
        (exit::UNREACHABLE, &["call", "exits", "echo"]),
        (exit::UNREACHABLE, &["call", "grumbles", "echo"]),
        (exit::NOT_FOUND, &["call", "listless", "echo"]),
        (exit::UNREACHABLE, &["call", "dies", "echo", "message=hi"]),
        (exit::UNREACHABLE, &["call", "damaged", "echo", "message=hi"]),
        (exit::TIMED_OUT, &["call", "silent", "echo"]),
        (exit::TIMED_OUT, &["call", "hangs", "echo", "message=hi", "--timeout", "100"]),
        (exit::NEEDS_AUTH, &["call", "locked", "echo"]),
        (exit::DENIED, &["call", "off", "echo"]),
        (exit::CONFIG, &["call", "invalid", "echo"]),
    ];
    for (code, args) in cases {
        let done = world.mcparley(args);
        assert_eq!(done.code, i32::from(code.number), "{args:?}: {done:?}");
        if code != exit::OK && code != exit::TOOL_ERROR {
            assert_eq!(done.out, "", "{args:?}");
        }
    }
    for (code, name) in [(exit::DENIED, "waits"), (exit::BLOCKED, "blocked")] {
        let done = world.mcparley(&["call", name, "echo"]);
        assert_eq!(done.code, i32::from(code.number), "{name}: {done:?}");
    }
}

// U2a P3 C7: consent is given by typing, but what denies still denies, and nothing of the server runs.
#[test]
fn a_deny_rule_holds_and_an_ask_rule_asks_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let world = world(&json!({"good": entry(&ScriptedStdio::new(&[]).with_log(&log))}));
    let ask = ["--settings", r#"{"permissions":{"ask":["mcp__good"]}}"#];
    let done = world.mcparley(&[&ask[..], &["call", "good", "echo", "message=hi"]].concat());
    assert_eq!(done, printed("hi"));
    let called = || heard(&log, "tools/call").len();
    assert_eq!(called(), 1);
    for deny in ["mcp__good", "mcp__good__echo", "mcp__good__echo(message:h*)"] {
        let done = world.mcparley(&["--disallowed-tools", deny, "call", "good", "echo", "message=hi"]);
        assert_eq!(done.code, i32::from(exit::DENIED.number), "{deny}: {done:?}");
        assert!(done.err.contains("denied"), "{done:?}");
    }
    let plan = world.mcparley(&["--permission-mode", "plan", "call", "good", "add", "a=1", "b=2"]);
    assert_eq!(plan.code, i32::from(exit::DENIED.number), "{plan:?}");
    assert_eq!(called(), 1, "nothing that was denied reached the server");
}

// U3
#[test]
fn a_misspelled_name_gets_suggestions() {
    let world = good();
    assert_eq!(
        world.mcparley(&["call", "goood", "echo"]),
        refusal(5, "error: there is no server named `goood`\nhint: did you mean `good`?")
    );
    assert_eq!(
        world.mcparley(&["call", "good", "ecko"]),
        refusal(5, "error: there is no tool `ecko`\nhint: did you mean `echo`?")
    );
    assert_eq!(
        world.mcparley(&["call", "good"]),
        refusal(2, "error: missing tool of server `good`\nhint: run `mcparley tools good` to list its tools")
    );
}

// U3: the server's last words come before the error.
#[test]
fn stderr_of_a_failed_server_is_printed() {
    let world = world(&json!({"exits": scripted(&["exit-start"])}));
    let done = world.mcparley(&["call", "exits", "echo"]);
    let (said, error) = (done.err.find("stderr: ").unwrap(), done.err.find("error: ").unwrap());
    assert!(said < error && done.err.contains("exited with code 3"), "{done:?}");
}

// U2 U2a: whose option it is depends on where it stands.
#[test]
fn every_word_after_a_tool_belongs_to_the_tool() {
    let parsed = |args: &[&str]| {
        let words: Vec<_> = ["mcparley"].iter().chain(args).map(Into::into).collect();
        let cli = mcparley_arguments::parse(&words, "").unwrap();
        let mcparley_arguments::RootCommand::Direct(mcparley_arguments::McpCommand::Call(call)) = cli.command
        else {
            panic!("{args:?}")
        };
        (cli.global.json, cli.global.settings, call.target, call.words)
    };
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let name = "mcp__s__t".to_owned();
    assert_eq!(
        parsed(&["call", "mcp__s__t", "--settings", "x", "--help"]),
        (false, vec![], name.clone(), words(&["--settings", "x", "--help"]))
    );
    assert_eq!(
        parsed(&["call", "--json", "--settings", "{}", "mcp__s__t", "--", "--json"]),
        (true, words(&["{}"]), name, words(&["--", "--json"]))
    );
    assert_eq!(
        parsed(&["call", "s", "--json", "t", "--settings", "x", "--", "-v"]),
        (true, vec![], "s".to_owned(), words(&["t", "--settings", "x", "--", "-v"]))
    );
}

// N9: the host's own tools belong to no server.
#[test]
fn the_tools_of_the_host_itself_can_be_called() {
    let done = good().mcparley(&["call", "ListMcpResources", "--server", "good"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
    assert!(serde_json::from_str::<Value>(&done.out).unwrap().is_array(), "{done:?}");
}

// U3 L11
#[test]
fn a_missing_tool_is_explained_by_a_failed_tool_list() {
    let done = world(&json!({"listless": scripted(&["list-error"])})).mcparley(&["call", "listless", "echo"]);
    assert_eq!(done.code, i32::from(exit::NOT_FOUND.number), "{done:?}");
    assert!(done.err.contains("server `listless`: `tools/list`: the server answered with error"), "{done:?}");
}

// U3
#[test]
fn a_write_error_of_the_output_is_reported() {
    let world = good();
    let mut command = world.command(&["call", "good", "echo", "message=hi"]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let done = command.stdout(full).stderr(std::process::Stdio::piped()).output().unwrap();
    assert_eq!(done.status.code(), Some(i32::from(exit::FAILED.number)));
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(said.contains("error: could not write all output: "), "{said}");
}

// U1
#[test]
fn refused_connection_says_what_to_check() {
    let world = world(&json!({ "closed": { "url": "http://127.0.0.1:1/mcp" } }));
    let done = world.mcparley(&["call", "closed", "echo"]);
    assert_eq!(done.code, i32::from(exit::UNREACHABLE.number), "{done:?}");
    let hint = "hint: no program listens there: start the server, or correct the port in its URL\n";
    assert!(done.err.ends_with(hint), "{done:?}");
}
