//! The daemon behind the real program: commands and gateways that share servers, and its faults.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};

use crate::world::{World, wait_for};

/// Much longer than anything here takes.
const LONG: Duration = Duration::from_secs(20);

/// A world with the daemon enabled and a user-wide server `one`. The daemon is stopped at the end.
struct SharedWorld(World);

impl SharedWorld {
    fn new(scripts: &[&str]) -> Self {
        let server = ScriptedStdio::new(scripts);
        let entry = json!({ "command": server.program, "args": server.args });
        let world =
            World::with(&[("home/.claude.json", &json!({ "mcpServers": { "one": entry } }).to_string())]);
        world.ok(&["daemon", "enable"]);
        Self(world)
    }

    fn pid(&self) -> u32 {
        self.0.ok(&["call", "one.pid"]).trim().parse().unwrap()
    }

    fn status(&self) -> Value {
        self.0.json(&["daemon", "status"])
    }
}

impl Drop for SharedWorld {
    fn drop(&mut self) {
        self.0.mcparley(&["daemon", "disable"]);
    }
}

/// A `mcparley serve` with a client of the old era.
struct Gateway {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Gateway {
    fn new(world: &World) -> Self {
        let mut command = world.command(&["serve"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut gateway = Self { child, input, output };
        let client = json!({ "name": "test", "version": "1" });
        gateway.send(&json!({ "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client } }));
        gateway.answer_to(0);
        gateway.send(&json!({ "method": "notifications/initialized" }));
        gateway
    }

    fn send(&mut self, message: &Value) {
        let mut message = message.clone();
        message["jsonrpc"] = json!("2.0");
        writeln!(self.input, "{message}").unwrap();
    }

    fn call(&mut self, id: u64, tool: &str, arguments: &Value) {
        self.send(
            &json!({ "id": id, "method": "tools/call", "params": { "name": tool, "arguments": arguments } }),
        );
    }

    fn answer_to(&mut self, id: u64) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the gateway has ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == json!(id) {
                return message;
            }
        }
    }

    fn pid(&mut self, id: u64) -> u32 {
        self.call(id, "one__pid", &json!({}));
        self.answer_to(id)["result"]["content"][0]["text"].as_str().unwrap().parse().unwrap()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn kill(pid: u64) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

fn is_running(pid: u32) -> bool {
    std::path::Path::new("/proc").join(pid.to_string()).exists()
}

// U5
#[test]
fn commands_and_gateways_of_one_folder_use_one_process() {
    let world = SharedWorld::new(&[]);
    let process = world.pid();
    assert_eq!(world.pid(), process, "the next command");
    let status = world.status();
    assert_eq!(status["daemon"]["copies"][0]["process"], json!(process));
    let (mut first, mut second) = (Gateway::new(&world.0), Gateway::new(&world.0));
    assert_eq!(first.pid(1), second.pid(1), "two gateways");
    assert_ne!(world.0.ok(&["--no-daemon", "call", "one.pid"]).trim(), process.to_string());
}

// U5 U3
#[test]
fn commands_print_the_same_with_and_without_the_daemon() {
    let world = SharedWorld::new(&[]);
    let commands: [&[&str]; 7] = [
        &["tools", "one"],
        &["call", "one.echo", "message=hello"],
        &["call", "one.fail"],
        &["call", "one.crash"],
        &["call", "one.ecko"],
        &["search", "echo"],
        &["resources"],
    ];
    for words in commands {
        let with = world.0.mcparley(words);
        let without = world.0.mcparley(&[&["--no-daemon"], words].concat());
        assert_eq!(with, without, "{words:?}");
    }
}

// U5 L1
#[test]
fn reconnect_starts_the_server_of_the_daemon_again() {
    let world = SharedWorld::new(&[]);
    let process = world.pid();
    world.0.ok(&["reconnect", "one"]);
    assert_ne!(world.pid(), process);
}

// U5 L9
#[test]
fn daemon_that_is_stopped_leaves_nothing_behind() {
    let world = SharedWorld::new(&[]);
    let process = world.pid();
    let daemon = world.status()["daemon"]["pid"].as_u64().unwrap();
    assert_eq!(world.0.ok(&["daemon", "stop"]), "The daemon has ended.\n");
    wait_for("the end of the server", LONG, || !is_running(process));
    wait_for("the end of the daemon", LONG, || !is_running(u32::try_from(daemon).unwrap()));
    assert_eq!(world.0.mcparley(&["daemon", "status"]).code, 5);
}

// U5 L9 F1
#[test]
fn heavy_every_call_ends_when_the_daemon_is_killed_under_two_hundred_calls_of_twenty_gateways() {
    let world = SharedWorld::new(&[]);
    let mut gateways: Vec<Gateway> = (0..20).map(|_| Gateway::new(&world.0)).collect();
    let processes: HashSet<u32> = gateways.iter_mut().map(|gateway| gateway.pid(1)).collect();
    assert_eq!(processes.len(), 1, "one process for all");
    for gateway in &mut gateways {
        for id in 10..20 {
            gateway.call(id, "one__slow", &json!({ "ms": 600_000 }));
        }
        // Answered after the calls before it were read.
        gateway.pid(2);
    }
    let daemon = world.status()["daemon"]["pid"].as_u64().unwrap();
    let killed = Instant::now();
    kill(daemon);
    for gateway in &mut gateways {
        for id in 10..20 {
            let answer = gateway.answer_to(id);
            let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
            assert!(text.contains("whether it took effect is unknown"), "{answer}");
        }
    }
    let took = killed.elapsed();
    assert!(took < Duration::from_secs(1), "{took:?}");
    let later: HashSet<u32> = gateways.iter_mut().map(|gateway| gateway.pid(3)).collect();
    assert!(later.is_disjoint(&processes));
    wait_for("the end of the server", LONG, || processes.iter().all(|pid| !is_running(*pid)));
}

// U5
#[test]
fn client_that_is_killed_releases_its_server() {
    let world = SharedWorld::new(&[]);
    let mut gateway = Gateway::new(&world.0);
    gateway.pid(1);
    let clients = || world.status()["daemon"]["copies"][0]["clients"].as_array().map_or(0, Vec::len);
    assert_eq!(clients(), 1);
    drop(gateway);
    wait_for("the end of its use", LONG, || clients() == 0);
}

// U5
#[test]
fn client_without_a_daemon_that_can_be_started_goes_on_at_once() {
    let mut world = SharedWorld::new(&[]);
    world.0.ok(&["daemon", "stop"]);
    // A folder that cannot be created.
    world.0.set("XDG_RUNTIME_DIR", "/proc/nowhere");
    let done = world.0.mcparley(&["call", "one.echo", "message=hello"]);
    assert_eq!((done.code, done.out.as_str()), (0, "hello\n"), "{done:?}");
    assert_eq!(done.err.matches("the daemon is not used").count(), 1, "{done:?}");
}
