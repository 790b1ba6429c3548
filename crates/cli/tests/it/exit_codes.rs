//! Every exit code of the reference, and the same in JSON (U3).

use mcparley_cli::exit;
use serde_json::json;

use crate::world::World;

fn prepared() -> World {
    let world = World::with(&[
        ("home/project/broken.json", "{"),
        ("managed/managed-settings.json", r#"{"deniedMcpServers": [{"serverName": "denied"}]}"#),
        ("home/.codex/config.toml/inner", ""),
    ]);
    world.ok(&["add", "it", "x"]);
    world.ok(&["add", "-s", "user", "it", "x"]);
    world.write("home/project/.mcp.json/inner", "");
    world
}

// U3
#[test]
fn every_kind_of_failure_has_its_code() {
    let cases: [(exit::NamedExitCode, &[&str]); 13] = [
        (exit::OK, &["list", "--offline"]),
        (exit::USAGE, &["add", "a b", "x"]),
        (exit::USAGE, &["get", "it", "--show-secrets"]),
        (exit::CONFIG, &["list", "--mcp-config", "broken.json"]),
        (exit::CONFIG, &["list", "--settings", "missing.json"]),
        (exit::CONFIG, &["add", "new", "ftp://h/"]),
        (exit::CONFIG, &["plan", "--check"]),
        (exit::BLOCKED, &["add", "denied", "x"]),
        (exit::NOT_FOUND, &["get", "nobody"]),
        (exit::NOT_FOUND, &["approve", "it"]),
        (exit::CONFLICT, &["add", "it", "x"]),
        (exit::CONFLICT, &["remove", "it"]),
        (exit::FILE, &["add", "-s", "project", "new", "x"]),
    ];
    let world = prepared();
    for (code, args) in cases {
        let done = world.mcparley(args);
        assert_eq!(done.code, i32::from(code.number), "{args:?}: {done:?}");
        let report = world.mcparley(&[&["--json"], args].concat());
        assert_eq!(report.code, i32::from(code.number), "{args:?}: {report:?}");
        let value: serde_json::Value = serde_json::from_str(&report.out).unwrap();
        // `plan --check` shows the plan, and says by its code alone that it is not right.
        let has_report = code == exit::OK || args.contains(&"--check");
        assert_eq!(value.get("error").is_none(), has_report, "{args:?}: {value}");
        if !has_report {
            let error = &value["error"];
            assert_eq!(
                (&error["code"], &error["exit"]),
                (&json!(code.name), &json!(code.number)),
                "{args:?}"
            );
        }
    }
}

// U3
#[test]
fn without_a_home_the_run_fails_and_says_why() {
    let mut world = World::new();
    world.set("HOME", "relative");
    let done = world.mcparley(&["list"]);
    assert_eq!(done.code, i32::from(exit::FAILED.number));
    assert_eq!(done.err, "error: the home directory is not known\nhint: set `HOME` to an absolute path\n");
}

// U3
#[test]
fn an_error_as_json_has_message_and_hint() {
    let world = World::new();
    assert_eq!(
        world.json(&["get", "nobody"]),
        json!({"error": {
            "code": "not-found", "exit": 5, "message": "there is no server named `nobody`",
            "hint": "`mcparley plan` shows every configured server",
        }})
    );
}

// U3
#[test]
fn a_closed_pipe_is_no_error() {
    use std::io::Read;
    use std::process::Stdio;
    let names: Vec<String> = (0..5_000).map(|n| format!(r#""server-{n}": {{"command": "x"}}"#)).collect();
    let world =
        World::with(&[("home/.claude.json", &format!(r#"{{"mcpServers": {{{}}}}}"#, names.join(",")))]);
    let mut command = world.command(&["list", "--offline"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 8];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), String::from_utf8(done.stderr).unwrap().as_str()), (Some(0), ""));
}
