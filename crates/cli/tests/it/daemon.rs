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

/// Removes these members everywhere in a document.
fn remove_members(value: &mut Value, names: &[&str]) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !names.contains(&name.as_str()));
            members.values_mut().for_each(|value| remove_members(value, names));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| remove_members(value, names)),
        _ => {}
    }
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
    let commands: [&[&str]; 8] = [
        &["tools", "one"],
        &["prompts"],
        &["call", "one.echo", "message=hello"],
        &["call", "one.fail"],
        &["call", "one.crash"],
        &["call", "one.ecko"],
        &["search", "echo"],
        &["resources"],
    ];
    let document = |words: &[&str]| {
        let mut document = world.0.json(words);
        // Times differ, and only clients of the daemon share.
        remove_members(&mut document, &["milliseconds", "sharing"]);
        document
    };
    for command in ["state", "list"] {
        assert_eq!(document(&[command]), document(&["--no-daemon", command]), "{command}");
    }
    for words in commands {
        let with = world.0.mcparley(words);
        let without = world.0.mcparley(&[&["--no-daemon"], words].concat());
        assert_eq!(with, without, "{words:?}");
    }
}

// U5 G8
#[test]
fn plan_and_state_tell_why_a_server_may_have_several_copies() {
    let world = SharedWorld::new(&[]);
    let reason = "runs in the project's folder; `share: always` if it does not use the folder";
    assert!(world.0.ok(&["plan"]).contains(&format!("several copies: {reason}\n")));
    assert_eq!(world.0.json(&["plan"])["servers"][0]["sharing"][0], reason);
    assert_eq!(world.0.json(&["state"])["clients"][0]["sharing"][0], reason);
    assert!(!world.0.ok(&["--no-daemon", "plan"]).contains("several copies"));
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
    assert_eq!(later.len(), 1, "one process for all again");
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
    let log = world.0.ok(&["daemon", "logs"]);
    assert!(log.lines().last().unwrap().contains("a client starts its servers itself, because"), "{log}");
}

// U5: the bound is generous; a daemon that is missing or hangs costs up to 0.3 s.
#[test]
fn client_of_a_daemon_that_hangs_is_not_much_later_and_asks_it_once() {
    let world = SharedWorld::new(&[]);
    world.pid();
    let daemon = world.status()["daemon"]["pid"].as_u64().unwrap();
    let pid = rustix::process::Pid::from_raw(i32::try_from(daemon).unwrap()).unwrap();
    let begun = Instant::now();
    world.0.ok(&["--no-daemon", "call", "one.pid"]);
    let own = begun.elapsed();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    let begun = Instant::now();
    let done = world.0.mcparley(&["call", "one.pid"]);
    let took = begun.elapsed();
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
    assert!(done.code == 0 && done.err.contains("it does not answer"), "{done:?}");
    assert!(took < own * 3 + Duration::from_secs(2), "{took:?}, without a daemon {own:?}");
}

// U5
#[test]
fn variable_keeps_a_client_from_the_daemon() {
    let mut world = SharedWorld::new(&[]);
    let shared = world.pid();
    world.0.set("MCPARLEY_NO_DAEMON", "1");
    assert_ne!(world.pid(), shared);
    world.0.set("MCPARLEY_NO_DAEMON", "0");
    assert_eq!(world.pid(), shared);
}

// U5: with the lock and the socket on a full disk there is no daemon, and nothing else fails.
#[test]
fn client_goes_on_where_the_state_folder_takes_no_files() {
    let world = SharedWorld::new(&[]);
    world.0.ok(&["daemon", "stop"]);
    let folder = world.0.home.join(".local/state/mcparley/daemon");
    for name in ["daemon.lock", "start.lock", "socket", "run"] {
        let path = folder.join(name);
        let _gone = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path));
        std::os::unix::fs::symlink("/dev/full/nowhere", &path).unwrap();
    }
    let done = world.0.mcparley(&["call", "one.echo", "message=hello"]);
    assert_eq!((done.code, done.out.as_str()), (0, "hello\n"), "{done:?}");
    assert_eq!(done.err.matches("the daemon is not used").count(), 1, "{done:?}");
}
