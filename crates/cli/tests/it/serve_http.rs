//! `serve --http`, run as a service: its end by a signal, with calls in flight, and the addresses it refuses.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use mcparley_testkit::ScriptedStdio;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::talk::{entry, heard, world};
use crate::world::{World, wait_for};

const NEW: &str = "2026-07-28";

/// A gateway that listens on a free port.
struct HttpGateway {
    child: Child,
    address: String,
}

impl HttpGateway {
    fn start(world: &World, options: &[&str]) -> Self {
        let words = [&["serve", "--http", "127.0.0.1:0", "--no-token"], options].concat();
        let mut command = world.command(&words);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let address = lines
            .find_map(|line| {
                let url = line.split("http://").nth(1)?;
                url.strip_suffix("/mcp").map(str::to_owned)
            })
            .unwrap();
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address }
    }

    /// Sends a call of the new era, and leaves its answer for later.
    fn send_call(&self, name: &str, arguments: &serde_json::Value) -> TcpStream {
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientCapabilities": {} });
        let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nConnection: close\r\n\
             MCP-Protocol-Version: {NEW}\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        stream
    }
}

impl Drop for HttpGateway {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        self.child.wait().unwrap();
    }
}

fn read_all(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

// X5 F93
#[test]
fn signal_lets_fifty_calls_finish_and_refuses_new_ones() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let server = ScriptedStdio::new(&[]).with_log(&log);
    let world = world(&json!({ "one": entry(&server) }));
    let mut gateway = HttpGateway::start(&world, &["--allowed-tools", "mcp__one"]);
    assert!(read_all(gateway.send_call("one__echo", &json!({ "message": "m" }))).contains(r#""text":"m""#));
    let calls: Vec<TcpStream> =
        (0..50).map(|_| gateway.send_call("one__slow", &json!({ "ms": 3000 }))).collect();
    wait_for("all calls at the server", Duration::from_secs(30), || heard(&log, "tools/call").len() == 51);
    kill_process(Pid::from_child(&gateway.child), Signal::TERM).unwrap();
    let signaled = Instant::now();
    let refused =
        std::iter::from_fn(|| Some(read_all(gateway.send_call("one__echo", &json!({ "message": "m" })))))
            .take(1000)
            .find(|answer| answer.starts_with("HTTP/1.1 503"));
    assert!(refused.unwrap().contains("retry-after: 1"));
    for call in calls {
        let answer = read_all(call);
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains(r#""text":"done""#), "{answer}");
    }
    let status = gateway.child.wait().unwrap();
    assert_eq!(status.code(), Some(0));
    assert!(signaled.elapsed() < Duration::from_secs(10), "{:?}", signaled.elapsed());
}

// B90 H02
#[test]
fn address_that_other_machines_reach_is_refused_without_the_option() {
    let world = world(&json!({}));
    for address in ["0.0.0.0:0", "[::]:0"] {
        let done = world.mcparley(&["serve", "--http", address]);
        assert_ne!(done.code, 0, "{done:?}");
        assert!(done.err.contains("--any-address"), "{done:?}");
    }
}

// G9
#[test]
fn durable_tasks_are_refused_with_a_shared_state() {
    let mut world = world(&json!({}));
    let words = ["serve", "--http", "0", "--no-token", "--tasks"];
    let named = world.mcparley(&[&words[..], &["--state", "redis://127.0.0.1:1"]].concat());
    world.set("MCPARLEY_STATE", "redis://:secret-word@127.0.0.1:1");
    let set = world.mcparley(&words);
    for done in [named, set] {
        assert_ne!(done.code, 0, "{done:?}");
        assert!(done.err.contains("`--tasks` cannot be used with a shared state"), "{done:?}");
        assert!(
            done.err.contains("hint: leave out `--tasks`") && !done.err.contains("secret-word"),
            "{done:?}"
        );
    }
}

/// Posts a message to a path of a gateway with a token; returns the status line and the whole answer.
fn post(address: &str, path: &str, token: &str, method: &str, params: &serde_json::Value) -> String {
    let mut params = params.clone();
    params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": NEW,
        "io.modelcontextprotocol/clientCapabilities": {} });
    let name = params["name"].as_str().map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Authorization: Bearer {token}\r\nMCP-Protocol-Version: {NEW}\r\nMcp-Method: {method}\r\n{name}\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    read_all(stream)
}

// G4 B94
#[test]
fn view_of_the_settings_is_served_to_its_clients_with_its_own_mode() {
    let (one, two) = (ScriptedStdio::new(&[]), ScriptedStdio::new(&[]));
    let world = world(&json!({ "one": entry(&one), "two": entry(&two) }));
    world.write(
        "home/.claude/settings.json",
        r#"{"gateways": {
            "ops": {"servers": ["two"], "tools": ["two__echo"], "mode": "bypassPermissions", "principals": ["token:ada"]},
            "broken": {"principals": ["ada"]}
        }}"#,
    );
    world.write(
        "home/project/.claude/settings.json",
        r#"{"gateways": {"project": {"principals": ["*"]}}, "tokenIssuer": {"issuer": "https://x.example"}}"#,
    );
    world.write("home/tokens", "ada:secret-a\neve:secret-b\n");
    let tokens = world.root.join("home/tokens");
    std::fs::set_permissions(&tokens, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let words = [
        &["serve", "--http", "127.0.0.1:0", "--permission-mode", "default", "--token-file"],
        &[tokens.to_str().unwrap()][..],
    ]
    .concat();
    let mut command = world.command(&words);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let mut said = Vec::new();
    for line in lines.by_ref() {
        let is_last = line.contains("one `name:token` per line");
        said.push(line);
        if is_last {
            break;
        }
    }
    let gateway = HttpGateway { child, address: address_of(&said) };
    std::thread::spawn(move || lines.for_each(drop));
    let text = said.join("\n");
    assert!(
        text.contains(&format!("listening on http://{}/mcp/ops: 1 server, for ada", gateway.address)),
        "{text}"
    );
    assert!(text.contains("the view `broken` is left out") && text.contains("settings.json:3:"), "{text}");
    assert!(text.contains("`gateways` counts only in managed and user settings"), "{text}");
    assert!(!text.contains("/mcp/project"), "{text}");
    let call = |path: &str, token: &str, tool: &str| {
        let params = json!({ "name": tool, "arguments": { "message": "hi" } });
        post(&gateway.address, path, token, "tools/call", &params)
    };
    let listed = post(&gateway.address, "/mcp/ops", "secret-a", "tools/list", &json!({}));
    assert!(
        listed.contains("two__echo") && !listed.contains("one__") && !listed.contains("two__slow"),
        "{listed}"
    );
    let done = call("/mcp/ops", "secret-a", "two__echo");
    assert!(done.starts_with("HTTP/1.1 200") && done.contains(r#""text":"hi""#), "{done}");
    for (path, token) in [("/mcp/ops", "secret-b"), ("/mcp/none", "secret-b"), ("/mcp/project", "secret-a")] {
        let refused = call(path, token, "two__echo");
        assert!(refused.starts_with("HTTP/1.1 404"), "{path}: {refused}");
    }
    // The main endpoint has the permission mode of the gateway, in which nothing is allowed without a question.
    let main = call("/mcp", "secret-a", "two__echo");
    assert!(!main.contains(r#""text":"hi""#), "{main}");
}

// R5 G1 G4: clients may be on other machines, and a view may have limits that its gateway has not.
#[test]
fn stored_result_of_a_client_over_http_has_a_handle_and_no_path() {
    let world = world(&json!({ "one": entry(&ScriptedStdio::new(&[])) }));
    world.write(
        "home/.claude/settings.json",
        r#"{"gateways": {"model": {"forModel": true, "principals": ["*"]}}}"#,
    );
    let long = "a line of text\n".repeat(20_000);
    let params = json!({ "name": "one__echo", "arguments": { "message": long } });
    for (options, path, is_stored) in [
        (&["--for-model", "--allowed-tools", "mcp__one"][..], "/mcp", true),
        (&["--allowed-tools", "mcp__one"][..], "/mcp/model", true),
        (&["--allowed-tools", "mcp__one"][..], "/mcp", false),
    ] {
        let gateway = HttpGateway::start(&world, options);
        let answer = post(&gateway.address, path, "none", "tools/call", &params);
        assert_eq!(answer.contains("It is stored as `result-"), is_stored, "{path}: {}", answer.len());
        assert_eq!(answer.len() < 10_000, is_stored, "{path}");
        assert!(!answer.contains(&*world.root.to_string_lossy()), "{answer}");
    }
}

fn address_of(lines: &[String]) -> String {
    let address = |line: &String| line.split("http://").nth(1)?.strip_suffix("/mcp").map(str::to_owned);
    lines.iter().find_map(address).unwrap()
}
