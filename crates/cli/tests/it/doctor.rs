//! `doctor` against servers that are broken in every common way, and some that are not.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::thread;

use mcparley_testkit::{HttpServer, ScriptedStdio};
use serde_json::{Value, json};

use crate::talk::{entry, scripted};
use crate::terminal;
use crate::world::{Output, World};

const VARIABLE: &str = "SEARCH_API_KEY";

/// A server that says this to whatever it hears: its port.
fn says(answer: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            thread::spawn(move || {
                let _read = stream.read(&mut [0; 4096]).unwrap_or_default();
                stream.write_all(answer.as_bytes()).unwrap_or_default();
            });
        }
    });
    port
}

fn page() -> u16 {
    says(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 32\r\nConnection: close\r\n\r\n<!doctype html><p>Please sign in",
    )
}

fn down() -> u16 {
    says("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
}

/// A port that nobody listens at.
fn closed() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn shell(script: &str) -> Value {
    json!({"command": "sh", "args": ["-c", script]})
}

fn at(port: u16) -> Value {
    json!({"url": format!("http://127.0.0.1:{port}/mcp")})
}

fn program(world: &World, path: &str, text: &str, mode: u32) {
    world.write(path, text);
    std::fs::set_permissions(world.root.join(path), std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Local servers, each broken in its own way, with the cause that is to be found.
fn local(world: &World) -> Vec<(&'static str, Value)> {
    let at = |path: &str| world.root.join(path);
    program(world, "bin/closed", "#!/bin/sh\n", 0o644);
    program(world, "bin/script", "#!/no/such/interpreter\n", 0o755);
    program(world, "bin/garbage", "neither this nor that\n", 0o755);
    let no_docker =
        "#!/bin/sh\necho 'docker: Cannot connect to the Docker daemon. Is it running?' >&2\nexit 1\n";
    program(world, "bin/docker", no_docker, 0o755);
    vec![
        ("program-missing", json!({"command": "no-such-program"})),
        ("node-missing", json!({"command": "npx", "args": ["-y", "x"], "env": {"PATH": at("empty")}})),
        ("uv-missing", json!({"command": "uvx", "args": ["x"], "env": {"PATH": at("empty")}})),
        ("command-with-arguments", json!({"command": "npx -y some-server"})),
        ("program-path-wrong", json!({"command": at("bin/nothing")})),
        ("not-executable", json!({"command": at("bin/closed")})),
        ("program-is-a-folder", json!({"command": at("bin")})),
        ("interpreter-missing", json!({"command": at("bin/script")})),
        ("not-for-this-machine", json!({"command": at("bin/garbage")})),
        ("folder-missing", json!({"command": "true", "cwd": "no/such/folder"})),
        ("docker-not-running", json!({"command": at("bin/docker"), "args": ["run", "-i", "x"]})),
        ("python-module-missing", json!({"command": "python3", "args": ["-m", "no_such_module_at_all"]})),
        ("npm-package-missing", shell("echo 'npm error code E404' >&2; exit 1")),
        ("key-missing", shell("echo 'Error: SEARCH_API_KEY environment variable is required' >&2; exit 1")),
        ("wrong-arguments", shell("echo 'error: unknown option --fast' >&2; exit 2")),
        ("exited", scripted(&["exit-start"])),
        ("ended-silently", json!({"command": "true"})),
        ("crashed", shell("kill -SEGV $$")),
        ("speaks-http-not-stdio", shell("echo 'Uvicorn running on http://127.0.0.1:1' >&2; exec sleep 60")),
        ("language-server-framing", shell("printf 'Content-Length: 86\\r\\n\\r\\n'; exec sleep 60")),
        ("logs-on-output", shell("echo 'ready and waiting'; exec sleep 60")),
        ("silent", scripted(&["hang-start"])),
    ]
}

/// Servers behind an address, each broken in its own way.
fn remote(locked: &HttpServer, moved: &HttpServer, good: &HttpServer) -> Vec<(&'static str, Value)> {
    let plain = good.address();
    vec![
        ("nobody-listens-here", at(closed())),
        // Longer than a label may be, so no resolver has to ask anybody.
        ("name-unknown", json!({"url": format!("http://{}/mcp", "a".repeat(64))})),
        ("needs-sign-in", json!({"url": locked.url()})),
        ("wrong-path", json!({"url": format!("http://{plain}/nothing/here")})),
        ("web-page", at(page())),
        ("gateway-error", at(down())),
        ("no-tls", json!({"url": format!("https://127.0.0.1:{}/mcp", page())})),
        ("sse-is-http", json!({"type": "sse", "url": good.url()})),
        ("redirected", json!({"url": moved.url()})),
    ]
}

fn examined<'r>(report: &'r Value, name: &str) -> &'r Value {
    let servers = report["servers"].as_array().unwrap();
    servers.iter().find(|server| server["name"] == name).unwrap_or_else(|| panic!("no `{name}`"))
}

fn prepare(world: &mut World, servers: &[(&str, Value)]) {
    let servers: serde_json::Map<String, Value> =
        servers.iter().map(|(name, entry)| ((*name).to_owned(), entry.clone())).collect();
    world.write("home/.claude.json", &json!({ "mcpServers": servers }).to_string());
    world.set("MCP_TIMEOUT", "6000");
    world.set("MCP_SERVER_CONNECTION_BATCH_SIZE", "8");
}

// U2 L13 F01 F02 F03 F12 F28 F30 F32 F33 F44 F54 F55 B10
#[test]
fn doctor_reports_the_cause_of_each_of_thirty_broken_servers() {
    let (good, locked) = (HttpServer::start(&[]), HttpServer::start(&["www-authenticate"]));
    let moved = HttpServer::start(&["redirect:other"]);
    let mut world = World::new();
    let broken = [local(&world), remote(&locked, &moved, &good)].concat();
    let fine = [
        ("fine-local", scripted(&[])),
        ("fine-new", entry(&ScriptedStdio::new(&[]).with_option("--versions", "2026-07-28"))),
        ("fine-remote", json!({"url": good.url()})),
        ("flawed", scripted(&["banner"])),
    ];
    prepare(&mut world, &[broken.clone(), fine.to_vec()].concat());
    world.set(VARIABLE, "canary-shell");
    let done = world.mcparley(&["doctor", "--json"]);
    assert_eq!(done.code, 9, "{done:?}");
    assert!(!done.out.contains("canary"), "{done:?}");
    let report: Value = serde_json::from_str(&done.out).unwrap();
    let found: Vec<(&str, &Value)> =
        broken.iter().map(|(id, _)| (*id, &examined(&report, id)["diagnosis"]["id"])).collect();
    let wrong: Vec<_> = found.iter().filter(|(id, found)| *found != id).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    for (name, _) in &fine {
        let is = if *name == "flawed" { "flawed" } else { "works" };
        assert_eq!(examined(&report, name)["is"], is, "{name}");
    }
    assert_eq!(report["counts"], json!({"works": 4, "broken": broken.len(), "resting": 0}));
    how_it_ended(&report);
}

/// What was tried and seen, of some of them.
fn how_it_ended(report: &Value) {
    let trouble = |name: &str, field: &str| examined(report, name)["trouble"][field].clone();
    assert_eq!(trouble("exited", "exitCode"), 3);
    assert_eq!(trouble("exited", "stderr"), json!(["exit-start: the database is missing"]));
    assert_eq!(trouble("crashed", "signal"), 11);
    assert_eq!(trouble("needs-sign-in", "httpStatus"), 401);
    assert_eq!(trouble("gateway-error", "httpStatus"), 503);
    assert_eq!(trouble("not-executable", "obstacle"), "not-executable");
    assert_eq!(
        examined(report, "logs-on-output")["stray"],
        json!({"lines": 1, "first": "ready and waiting"})
    );
    let stages = |name: &str| -> Vec<String> {
        let phases = examined(report, name)["phases"].as_array().unwrap();
        phases.iter().map(|phase| phase["stage"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(stages("fine-local"), ["find", "open", "probe", "greet", "list", "close"]);
    assert_eq!(stages("fine-new"), ["find", "open", "probe", "list", "close"]);
    assert_eq!(stages("fine-remote"), ["reach", "probe", "greet", "list", "close"]);
    assert_eq!(stages("exited"), ["find", "open", "probe", "reopen", "greet"]);
    assert_eq!(stages("name-unknown"), ["resolve", "probe"]);
    let hints = examined(report, "key-missing")["diagnosis"]["do"].to_string();
    assert!(hints.contains("`SEARCH_API_KEY` is set in your shell"), "{hints}");
}

// U2 C7 C15: what may not run is told with its reason and what to do, and nothing of it is started.
#[test]
fn doctor_reports_servers_that_may_not_run_without_starting_them() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let theirs = entry(&ScriptedStdio::new(&[]).with_log(&log));
    let world = World::with(&[
        ("home/.claude.json", &json!({"mcpServers": {
            "off": {"command": "x"}, "twice": {"command": "y"}, "same": {"command": "true", "args": ["1"]},
            "keyless": {"command": "z", "env": {"K": "${NO_SUCH_KEY}"}}, "empty": {},
        }}).to_string()),
        ("home/project/.claude/settings.local.json", &json!({"mcpServers": {"twice": {"command": "true"}}}).to_string()),
        ("home/project/.mcp.json", &json!({"mcpServers": {"theirs": theirs}}).to_string()),
    ]);
    world.ok(&["approve", "twice"]);
    world.ok(&["disable", "off"]);
    let report = world.json(&["doctor"]);
    assert!(!log.exists(), "it was never started");
    let told = |name: &str| {
        let server = examined(&report, name);
        (server["is"].clone(), server["diagnosis"]["id"].clone(), server["diagnosis"]["do"][0].clone())
    };
    assert_eq!(
        told("theirs"),
        (
            json!("resting"),
            json!("needs-approval"),
            json!("look at it with `mcparley get theirs`, then `mcparley approve theirs`")
        )
    );
    assert_eq!(told("off"), (json!("resting"), json!("disabled"), json!("run `mcparley enable off`")));
    assert_eq!(
        told("keyless"),
        (
            json!("broken"),
            json!("variable-unset"),
            json!("set it before starting mcparley: `export NO_SUCH_KEY=…`")
        )
    );
    assert_eq!(told("empty").1, "entry-invalid");
    let servers = report["servers"].as_array().unwrap();
    let shadowed = servers.iter().find(|server| server["standing"]["is"] == "shadowed").unwrap();
    assert_eq!(shadowed["diagnosis"]["id"], "shadowed");
    assert_eq!(shadowed["diagnosis"]["do"][1], "or remove this one: `mcparley remove -s user twice`");
}

// U2 F77 B60 U3
#[test]
fn doctor_prints_general_findings_first() {
    let mut world = World::with(&[
        ("home/.claude/settings.json", "{\"mcpServers\": {,}}"),
        ("home/.mcp.json", r#"{"mcpServers": {"open": {"command": "true"}}}"#),
        (
            "home/.claude.json",
            r#"{"mcpServers": {"a": {"command": "nope", "args": ["1"]}, "b": {"command": "nope"}}}"#,
        ),
        ("home/.local/state", "a file where a folder should be"),
    ]);
    let open = std::fs::Permissions::from_mode(0o666);
    std::fs::set_permissions(world.root.join("home/.mcp.json"), open).unwrap();
    world.set("MCP_TIMEOUT", "30");
    let done = world.mcparley(&["doctor"]);
    assert_eq!(done.code, 9, "{done:?}");
    let lines: Vec<&str> = done.out.lines().collect();
    for part in [
        "error: home/.claude/settings.json:1:",
        "error: home/.mcp.json: ignored: every user of this machine may write to it",
        "error: `nope` is not on the `PATH` that servers see, and 2 servers need it: b, a",
        "warning: the folder `home/.local/state/mcparley/logs` is not writable",
        "warning: `MCP_TIMEOUT` is 30 milliseconds",
    ] {
        assert!(lines.iter().any(|line| line.starts_with(part)), "{part}: {done:#?}");
    }
    let first_server =
        lines.iter().position(|line| line.starts_with("a: ") || line.starts_with("b: ")).unwrap();
    let last_finding = lines.iter().rposition(|line| line.starts_with("warning: ")).unwrap();
    assert!(last_finding < first_server);
    assert_eq!(done.err, "");
}

/// The output with every time made the same, and the shell where most systems have it.
fn timeless(text: &str) -> String {
    let words = text.split(' ').collect::<Vec<_>>();
    let mut shown: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    for (index, pair) in words.windows(2).enumerate() {
        let is_time = pair[0].bytes().all(|byte| byte.is_ascii_digit()) && pair[1].starts_with("ms");
        if is_time {
            shown[index] = "N".to_owned();
        }
    }
    shown.join(" ").replace("(/bin/sh)", "(/usr/bin/sh)")
}

// U2 U3
#[test]
fn doctor_prints_cause_then_hints_then_details() {
    let mut world = World::new();
    prepare(
        &mut world,
        &[("exits", shell("echo 'Error: SEARCH_API_KEY is not set in the environment' >&2; exit 1"))],
    );
    world.set(VARIABLE, "x");
    let done = world.mcparley(&["doctor", "exits"]);
    assert_eq!(done.code, 9);
    assert_eq!(
        timeless(&done.out),
        "exits: does not work\n  \
         cause: an API key or another environment variable is missing [key-missing]\n  \
         do: `SEARCH_API_KEY` is set in your shell, but servers do not inherit it: add `\"env\": {\"SEARCH_API_KEY\": \"${SEARCH_API_KEY}\"}` to its entry in home/.claude.json:1:16\n  \
         do: set the variable in its `env`, in home/.claude.json:1:16; servers inherit only a few variables unless the entry has `\"inheritEnv\": true`\n  \
         error: the connection ended: the server exited with code 1\n  \
         stderr: Error: SEARCH_API_KEY is not set in the environment\n  \
         steps: find program N ms (/usr/bin/sh), start N ms, handshake (2026-07-28) N ms, restart N ms, handshake (initialize) N ms\n  \
         declared in home/.claude.json:1:16\n\
         0 server(s) work, 1 do not work, 0 may not run.\n"
    );
}

// U2 U3
#[test]
fn doctor_prints_one_line_for_a_working_server() {
    let mut world = World::new();
    prepare(&mut world, &[("good", scripted(&[])), ("off", json!({"command": "x"}))]);
    world.ok(&["disable", "off"]);
    let Output { code, out, err } = world.mcparley(&["doctor", "good"]);
    assert_eq!((code, err.as_str(), out.lines().count()), (0, "", 2), "{out}");
    assert!(out.ends_with("All 1 server(s) work.\n"), "{out}");
    assert_eq!(world.mcparley(&["doctor"]).code, 0, "a server that is switched off is not broken");
    assert_eq!(world.mcparley(&["doctor", "off"]).code, 10);
    let missing = world.mcparley(&["doctor", "goood"]);
    assert_eq!(missing.code, 5);
    assert_eq!(missing.err, "error: there is no server named `goood`\nhint: did you mean `good`?\n");
    world.write("home/project/.claude/settings.json", "{");
    assert_eq!(world.mcparley(&["doctor"]).code, 3);
    let empty = World::new().mcparley(&["doctor"]);
    assert_eq!((empty.code, empty.out.as_str()), (0, "No servers are configured.\n"));
}

// U2: where a program is, though not on the server's PATH, and what its name is meant to be.
#[test]
fn doctor_finds_a_program_in_another_folder_or_with_a_similar_name() {
    let mut world = World::new();
    for path in ["home/.nvm/versions/node/v20.1.0/bin/npx", "home/.local/bin/uvx", "bin/files-server"] {
        program(&world, path, "#!/bin/sh\n", 0o755);
    }
    let path = json!({"PATH": world.root.join("bin")});
    prepare(
        &mut world,
        &[
            ("npx", json!({"command": "npx", "env": path})),
            ("uvx", json!({"command": "uvx", "env": path})),
            ("files", json!({"command": "file-server", "env": path})),
        ],
    );
    let report = world.mcparley(&["doctor", "--json"]).out;
    let report: Value = serde_json::from_str(&report).unwrap();
    let first = |name: &str| examined(&report, name)["diagnosis"]["do"][0].as_str().unwrap().to_owned();
    assert!(
        first("npx").starts_with("it is at `home/.nvm/versions/node/v20.1.0/bin/npx`"),
        "{}",
        first("npx")
    );
    assert!(first("uvx").starts_with("it is at `home/.local/bin/uvx`"), "{}", first("uvx"));
    assert_eq!(first("files"), "did you mean `files-server`?");
}

// B62 N7 H10: what a server repeats of its secrets, on any of its streams, is masked, and nothing drives the terminal.
#[test]
fn doctor_prints_no_secrets_and_no_escape_sequences() {
    let wrong = says(
        "HTTP/1.1 400 Bad Request\r\nContent-Length: 14\r\nConnection: close\r\n\r\ncanary-4 \u{1b}[2Jbad",
    );
    let mut world = World::new();
    let script = "echo \"key $KEY\"; printf 'canary-2 \\033[2J bad\\n' >&2; exit 1";
    let noisy = "echo \"key $KEY\"; exec sleep 60";
    prepare(
        &mut world,
        &[
            (
                "loud",
                json!({"command": "sh", "args": ["-c", script, "--token=canary-2"], "env": {"KEY": "canary-1", "OTHER": "canary-2"}}),
            ),
            ("noisy", json!({"command": "sh", "args": ["-c", noisy], "env": {"KEY": "canary-1"}})),
            (
                "remote",
                json!({"url": format!("http://127.0.0.1:{wrong}/mcp?token=canary-4"), "headers": {"X-Key": "canary-4"}}),
            ),
        ],
    );
    world.set("MCP_TIMEOUT", "2000");
    for args in [&["doctor"][..], &["doctor", "-v"], &["doctor", "--json"]] {
        let done = world.mcparley(args);
        assert!(done.out.contains("***"), "{args:?}: {done:?}");
        assert!(!done.out.contains("canary") && !done.err.contains("canary"), "{args:?}: {done:?}");
        assert!(!done.out.contains('\u{1b}'), "{args:?}: {done:?}");
    }
}

// U3
#[test]
fn doctor_shows_a_progress_line_on_a_terminal() {
    let mut world = World::new();
    prepare(&mut world, &[("silent", scripted(&["hang-start"]))]);
    world.set("MCP_TIMEOUT", "800");
    world.set("TERM", "xterm");
    let (code, out, shown) = terminal::run(&mut world.command(&["doctor"]), false);
    assert_eq!(code, 9);
    assert!(shown.contains("waiting for 1 server(s) …"), "{shown:?}");
    assert!(out.contains("it is running, but did not answer within 800ms [silent]"), "{out}");
}

// B44 B119: cautions about entries and about the names of tools, as text and as JSON.
#[test]
fn doctor_prints_cautions_about_entries_and_tool_names() {
    let mut world = World::new();
    let twin = "also-tool:\u{435}\u{441}ho";
    let loose = json!({"command": "npx", "args": ["-y", "@x/server"]});
    let servers = [
        ("good", scripted(&[])),
        ("twin", scripted(&[twin])),
        ("loose", loose),
        ("l0ose", json!({"command": "x"})),
    ];
    prepare(&mut world, &servers);
    world.ok(&["disable", "loose"]);
    world.ok(&["disable", "l0ose"]);
    let told = world.ok(&["doctor"]);
    let unpinned = "`npx` fetches `@x/server` without a pinned version; name an exact version";
    let alike = "different tools have names that look alike: `\u{435}\u{441}ho` of `twin` (with U+0435, U+0441), \
                 `echo` of `good`, `echo` of `twin`";
    for line in [
        format!("  caution: {unpinned}\n"),
        "  caution: its name looks like that of another server, `l0ose`\n".to_owned(),
        "  caution: its name looks like that of another server, `loose`\n".to_owned(),
        format!("\ncaution: {alike}\n"),
    ] {
        assert!(told.contains(&line), "{line} in {told}");
    }
    let report = world.json(&["doctor"]);
    let cautions = &examined(&report, "loose")["cautions"];
    assert_eq!(*cautions, json!([unpinned, "its name looks like that of another server, `l0ose`"]));
    assert_eq!(report["toolCautions"][0]["is"], "lookAlike");
    assert_eq!(report["toolCautions"][0]["tools"][0], json!({"server": "twin", "tool": "\u{435}\u{441}ho"}));
    assert_eq!(examined(&report, "twin")["offers"]["tools"], 9, "the two are not merged");
}
