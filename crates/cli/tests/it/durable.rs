//! `serve --tasks`: calls of clients that leave and come back.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use mcparley_testkit::ScriptedStdio;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::talk::{entry, heard, world};
use crate::world::{World, wait_for};

const NEW: &str = "2026-07-28";
const OLD: &str = "2025-11-25";

/// Longer than a loaded machine takes to start a program.
const LONG: Duration = Duration::from_secs(20);

/// A world with the server `one`, whose daemon ends with the test.
struct TaskWorld {
    world: World,
    log: PathBuf,
    _folder: TempDir,
}

impl TaskWorld {
    fn new(scripts: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let server = ScriptedStdio::new(scripts).with_option("--versions", OLD).with_log(&log);
        Self { world: world(&json!({ "one": entry(&server) })), log, _folder: folder }
    }

    fn calls_heard(&self) -> usize {
        heard(&self.log, "tools/call").len()
    }

    fn kill_daemon(&self) {
        let status = self.world.json(&["daemon", "status"]);
        kill(status["daemon"]["pid"].as_u64().unwrap());
        wait_for("the end of the daemon", LONG, || self.world.mcparley(&["daemon", "status"]).code != 0);
    }
}

impl Drop for TaskWorld {
    fn drop(&mut self) {
        self.world.mcparley(&["daemon", "stop"]);
    }
}

fn kill(pid: u64) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

/// A client of `mcparley serve` on pipes. Dropping it kills the gateway.
struct PipeClient {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
    /// The `_meta` of every request, in the new era.
    meta: Option<Value>,
}

impl PipeClient {
    /// A client of the old era.
    fn old(world: &World, options: &[&str]) -> (Self, Value) {
        let mut client = Self::start(world, options, None);
        let params = json!({ "protocolVersion": OLD, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let opened = client.ask("initialize", &params);
        client.send(&json!({ "method": "notifications/initialized" }));
        (client, opened["result"].clone())
    }

    /// A client of the new era that follows tasks.
    fn new(world: &World, options: &[&str]) -> Self {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": { "extensions": { "io.modelcontextprotocol/tasks": {} } },
        });
        Self::start(world, options, Some(meta))
    }

    fn start(world: &World, options: &[&str], meta: Option<Value>) -> Self {
        let mut command = world.command(&[&["serve"], options].concat());
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output, last: 0, meta }
    }

    fn send(&mut self, message: &Value) {
        let mut message = message.clone();
        message["jsonrpc"] = json!("2.0");
        writeln!(self.input, "{message}").unwrap();
    }

    /// The answer to a request.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let id = self.last;
        let mut params = params.clone();
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        self.send(&json!({ "id": id, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the gateway has ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == json!(id) {
                return message;
            }
        }
    }

    /// Calls a tool as a task (2025-11-25), and returns the answer.
    fn call_as_task(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({ "name": tool, "arguments": arguments, "task": { "ttl": 60_000 } }))
    }
}

impl Drop for PipeClient {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn text_of(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

// G10 X8
#[test]
fn client_that_leaves_finds_its_task_and_the_result_in_a_new_session() {
    let here = TaskWorld::new(&[]);
    let (mut first, opened) = PipeClient::old(&here.world, &["--tasks"]);
    let offered = json!({ "requests": { "tools": { "call": {} } }, "list": {}, "cancel": {} });
    assert_eq!(opened["capabilities"]["tasks"], offered);
    let tools = first.ask("tools/list", &json!({}))["result"]["tools"].as_array().unwrap().clone();
    let slow = tools.iter().find(|tool| tool["name"] == "one__slow").unwrap();
    assert_eq!(slow["execution"], json!({ "taskSupport": "optional" }));
    let created = first.call_as_task("one__slow", &json!({ "ms": 1500 }));
    let task = created["result"]["task"].clone();
    assert_eq!((&task["status"], &task["ttl"]), (&json!("working"), &json!(60_000)), "{created}");
    let id = json!({ "taskId": task["taskId"] });
    // The gateway is killed while the call runs.
    drop(first);
    let (mut second, _) = PipeClient::old(&here.world, &["--tasks"]);
    let listed = second.ask("tasks/list", &json!({}))["result"]["tasks"].clone();
    assert_eq!(listed[0]["taskId"], task["taskId"], "{listed}");
    let result = second.ask("tasks/result", &id)["result"].clone();
    assert_eq!(text_of(&result), "done", "{result}");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/related-task"], id);
    assert_eq!(second.ask("tasks/get", &id)["result"]["status"], "completed");
    assert_eq!(here.calls_heard(), 1, "the call is made once");
    let again = second.ask("tasks/cancel", &id);
    assert_eq!(again["error"]["code"], -32602, "{again}");
}

// G10 X8: the server decides in the new era, so every call of a client that follows tasks is one.
#[test]
fn client_of_the_new_era_follows_any_call_as_a_task_over_two_sessions() {
    let here = TaskWorld::new(&[]);
    let mut first = PipeClient::new(&here.world, &["--tasks"]);
    let offered = first.ask("server/discover", &json!({}))["result"]["capabilities"]["extensions"].clone();
    assert_eq!(offered["io.modelcontextprotocol/tasks"], json!({}));
    let call = json!({ "name": "one__echo", "arguments": { "message": "hello" } });
    let created = first.ask("tools/call", &call)["result"].clone();
    assert_eq!(
        (&created["resultType"], &created["status"]),
        (&json!("task"), &json!("working")),
        "{created}"
    );
    drop(first);
    let mut second = PipeClient::new(&here.world, &["--tasks"]);
    let id = json!({ "taskId": created["taskId"] });
    let mut seen = json!({});
    wait_for("the end of the task", LONG, || {
        seen = second.ask("tasks/get", &id)["result"].clone();
        seen["status"] != "working"
    });
    assert_eq!((&seen["status"], text_of(&seen["result"])), (&json!("completed"), "hello"), "{seen}");
    assert_eq!(second.ask("tasks/update", &id)["result"]["resultType"], "complete");
}

// G10: nothing that was complete is lost, and nothing is repeated.
#[test]
fn daemon_that_is_killed_in_mid_call_leaves_a_task_of_unknown_outcome() {
    let here = TaskWorld::new(&["call-hang"]);
    let (mut client, _) = PipeClient::old(&here.world, &["--tasks"]);
    let task = client.call_as_task("one__echo", &json!({ "message": "hi" }))["result"]["task"].clone();
    let id = json!({ "taskId": task["taskId"] });
    wait_for("the call", LONG, || here.calls_heard() == 1);
    here.kill_daemon();
    for _ in ["without a daemon", "with the next daemon"] {
        let seen = client.ask("tasks/get", &id)["result"].clone();
        assert_eq!(seen["status"], "failed", "{seen}");
        let text = "the outcome of `one echo` is unknown: the daemon ended while it ran, so it may have taken effect";
        assert_eq!(seen["statusMessage"], text);
        assert_eq!(client.ask("tasks/result", &id)["error"]["message"], text);
        here.world.ok(&["daemon", "start"]);
    }
    assert_eq!(here.calls_heard(), 1, "the call is not repeated");
}

// G10
#[test]
fn canceled_task_is_canceled_at_the_server() {
    let here = TaskWorld::new(&["call-hang"]);
    let (mut client, _) = PipeClient::old(&here.world, &["--tasks"]);
    let task = client.call_as_task("one__echo", &json!({ "message": "hi" }))["result"]["task"].clone();
    let id = json!({ "taskId": task["taskId"] });
    wait_for("the call", LONG, || here.calls_heard() == 1);
    assert_eq!(client.ask("tasks/cancel", &id)["result"]["status"], "cancelled");
    wait_for("the cancellation", LONG, || heard(&here.log, "notifications/cancelled").len() == 1);
    assert_eq!(client.ask("tasks/result", &id)["error"]["message"], "the task was canceled");
}

// G10: a gateway with more calls than the daemon takes goes on without tasks, and makes each call once.
#[test]
fn call_beyond_the_limit_of_running_tasks_is_made_by_the_gateway() {
    let here = TaskWorld::new(&[]);
    let mut client = PipeClient::new(&here.world, &["--tasks"]);
    let slow = json!({ "name": "one__slow", "arguments": { "ms": 600_000 } });
    for _ in 0..64 {
        let created = client.ask("tools/call", &slow);
        assert_eq!(created["result"]["resultType"], "task", "{created}");
    }
    let call = json!({ "name": "one__echo", "arguments": { "message": "hello" } });
    let answer = client.ask("tools/call", &call);
    assert_eq!(text_of(&answer["result"]), "hello", "{answer}");
    wait_for("all calls", LONG, || here.calls_heard() == 65);
    let (mut old, _) = PipeClient::old(&here.world, &["--tasks"]);
    let refused = old.call_as_task("one__echo", &json!({ "message": "hello" }));
    let reason = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(reason.contains("64 tasks are running already"), "{refused}");
    assert_eq!(here.calls_heard(), 65, "it was not sent");
}

// G10: the tasks of a server stay with the server.
#[test]
fn tasks_that_a_server_has_itself_pass_through() {
    let here = TaskWorld::new(&["task:2"]);
    let (mut client, _) = PipeClient::old(&here.world, &["--tasks"]);
    let created = client.call_as_task("one__chore", &json!({ "message": "swept" }));
    let id = json!({ "taskId": created["result"]["task"]["taskId"] });
    let result = client.ask("tasks/result", &id);
    assert!(result["result"]["content"].is_array(), "{created} {result}");
    assert_eq!(here.world.ok(&["tasks"]), "No tasks.\n");
    assert_eq!(heard(&here.log, "tasks/result").len(), 1);
}

// G10 P1: the call is permitted before the daemon hears of it.
#[test]
fn denied_call_becomes_no_task() {
    let here = TaskWorld::new(&[]);
    let (mut client, _) = PipeClient::old(&here.world, &["--tasks", "--disallowed-tools", "mcp__one"]);
    let refused = client.call_as_task("one__echo", &json!({ "message": "hi" }));
    assert!(refused["result"]["task"].is_null(), "{refused}");
    assert_eq!((here.calls_heard(), here.world.ok(&["tasks"])), (0, "No tasks.\n".to_owned()));
}

// G10: nothing changes for those who do not ask for it.
#[test]
fn gateway_without_the_option_offers_no_durable_tasks() {
    let here = TaskWorld::new(&[]);
    let (mut client, opened) = PipeClient::old(&here.world, &[]);
    assert!(opened["capabilities"]["tasks"].is_null(), "{opened}");
    let tools = client.ask("tools/list", &json!({}))["result"]["tools"].as_array().unwrap().clone();
    assert!(tools.iter().all(|tool| tool["execution"].is_null()), "{tools:?}");
    let done = client.call_as_task("one__echo", &json!({ "message": "hi" }))["result"].clone();
    assert_eq!(text_of(&done), "hi");
    let mut client = PipeClient::new(&here.world, &[]);
    let call = json!({ "name": "one__echo", "arguments": { "message": "hi" } });
    assert_eq!(text_of(&client.ask("tools/call", &call)["result"]), "hi");
    assert_eq!(here.world.ok(&["tasks"]), "No tasks.\n");
}

/// `serve --http --tasks` with the tokens `ann` and `bob`.
struct TokenGateway {
    child: Child,
    address: String,
}

impl TokenGateway {
    fn start(world: &World) -> Self {
        world.write("home/project/tokens", "ann:one-secret\nbob:other-secret\n");
        let file = world.project.join("tokens");
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let mut command = world.command(&["serve", "--tasks", "--http", "127.0.0.1:0", "--token-file"]);
        let mut child = command.arg(&file).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let address =
            lines.find_map(|line| line.split("http://").nth(1)?.strip_suffix("/mcp").map(str::to_owned));
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address: address.unwrap() }
    }

    /// The answer to a request of the new era with this token.
    fn ask(&self, token: &str, method: &str, name: &str, params: &Value) -> Value {
        let mut params = params.clone();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientCapabilities": { "extensions": { "io.modelcontextprotocol/tasks": {} } },
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
             Connection: close\r\nMCP-Protocol-Version: {NEW}\r\nMcp-Method: {method}\r\nMcp-Name: {name}\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }
}

impl Drop for TokenGateway {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

// G10 G4: ids are sealed for their principal, over a restart of the gateway too.
#[test]
fn another_principal_does_not_see_a_task() {
    let here = TaskWorld::new(&[]);
    let gateway = TokenGateway::start(&here.world);
    let call = json!({ "name": "one__echo", "arguments": { "message": "hello" } });
    let created = gateway.ask("one-secret", "tools/call", "one__echo", &call)["result"].clone();
    let id = created["taskId"].as_str().unwrap_or_else(|| panic!("{created}"));
    drop(gateway);
    let gateway = TokenGateway::start(&here.world);
    let wanted = json!({ "taskId": id });
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        let refused = gateway.ask("other-secret", method, id, &wanted);
        assert_eq!(refused["error"]["message"], "unknown task", "{method}: {refused}");
    }
    // Nor does the user's client on standard input.
    let (mut client, _) = PipeClient::old(&here.world, &["--tasks"]);
    assert_eq!(client.ask("tasks/get", &wanted)["error"]["message"], "unknown task");
    assert_eq!(client.ask("tasks/list", &json!({}))["result"]["tasks"], json!([]));
    let mut seen = json!({});
    wait_for("the end of the task", LONG, || {
        seen = gateway.ask("one-secret", "tasks/get", id, &wanted)["result"].clone();
        seen["status"] == "completed"
    });
    assert_eq!(text_of(&seen["result"]), "hello");
}
