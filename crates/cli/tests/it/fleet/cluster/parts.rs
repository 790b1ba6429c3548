//! The parts of a cluster as real processes on loopback: Redis, nginx, gateways; and a plain HTTP client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fleet::place::{installed, repository};
use crate::world::World;

pub(crate) const TOKEN_A: &str = "Authorization: Bearer secret-a";
pub(crate) const TOKEN_B: &str = "Authorization: Bearer secret-b";
const NEW: &str = "2026-07-28";
/// More than any step takes on a machine that is busy.
const LONG: Duration = Duration::from_secs(60);

/// A process that leads a group, as nginx leads its workers. The group ends with this value.
pub(crate) struct Process(Child);

impl Process {
    fn start(mut command: Command) -> Self {
        Self(command.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0).spawn().unwrap())
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    /// The processor time of the process so far, without that of its children, in ticks of the system clock.
    pub(crate) fn processor_time(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        // The name of the program is in parentheses, and may have spaces.
        let fields: Vec<&str> = text.rsplit_once(") ").unwrap().1.split(' ').collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }

    pub(crate) fn kill(&mut self) {
        // The group is gone if it was killed before.
        kill_process_group(Pid::from_child(&self.0), Signal::KILL).unwrap_or_default();
        self.0.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A process that was stopped ends too.
        self.kill();
    }
}

/// A program of the set `debian`, with its libraries.
fn program(name: &str) -> Command {
    let mut command = Command::new(installed(&format!("debian/bin/{name}")));
    let libraries = repository().join(".tools/fleet/debian/lib");
    if libraries.exists() {
        command.env("LD_LIBRARY_PATH", libraries);
    }
    command
}

/// A free port, for a program that cannot choose one itself.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn wait_for_port(port: u16) {
    wait_until(&format!("port {port}"), || TcpStream::connect(("127.0.0.1", port)).is_ok());
}

pub(crate) fn wait_until(what: &str, mut is_met: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_met() {
        assert!(begun.elapsed() < LONG, "{what} did not happen in time");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A Redis server with a password and without persistence.
pub(crate) struct Redis {
    pub(crate) process: Process,
    port: u16,
    folder: TempDir,
}

impl Redis {
    pub(crate) fn start() -> Self {
        let (port, folder) = (free_port(), tempfile::tempdir().unwrap());
        let process = Self::run(port, folder.path().to_path_buf());
        Self { process, port, folder }
    }

    fn run(port: u16, folder: PathBuf) -> Process {
        let mut command = program("redis-server");
        command.args([
            "--port",
            &port.to_string(),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
        ]);
        command.args(["--requirepass", "secret-word", "--loglevel", "warning"]).current_dir(folder);
        let process = Process::start(command);
        wait_for_port(port);
        process
    }

    /// Starts the server again, without its data.
    pub(crate) fn restart(&mut self) {
        self.process = Self::run(self.port, self.folder.path().to_path_buf());
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://:secret-word@127.0.0.1:{}/3", self.port)
    }

    /// The number of calls of each command so far.
    pub(crate) fn command_counts(&self) -> std::collections::BTreeMap<String, u64> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(b"AUTH secret-word\r\nINFO commandstats\r\nQUIT\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let lines = text.lines().filter_map(|line| {
            let (name, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
            Some((name.to_owned(), rest.split(',').next()?.parse().ok()?))
        });
        lines.collect()
    }

    /// The keys of the database.
    pub(crate) fn keys(&self) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(b"AUTH secret-word\r\nSELECT 3\r\nKEYS *\r\nQUIT\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }
}

/// A proxy before Redis that delays every answer.
pub(crate) struct SlowProxy {
    port: u16,
}

impl SlowProxy {
    /// Starts a proxy with these delays, one after the other.
    pub(crate) fn start(redis: &Redis, delays: &'static [u64]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, redis) = (listener.local_addr().unwrap().port(), redis.port);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(("127.0.0.1", redis)).unwrap();
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                std::thread::spawn(move || copy_with_delays(from, to, &[]));
                std::thread::spawn(move || copy_with_delays(server, client, delays));
            }
        });
        Self { port }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://:secret-word@127.0.0.1:{}/3", self.port)
    }
}

/// Copies bytes until a side ends; each part leaves a delay after it came, however long those before it waited.
fn copy_with_delays(mut from: TcpStream, mut to: TcpStream, delays: &'static [u64]) {
    let (parts, coming) = std::sync::mpsc::channel::<(Instant, Vec<u8>)>();
    std::thread::spawn(move || {
        for (due, part) in coming {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&part).is_err() {
                return;
            }
        }
    });
    let (mut bytes, mut waits) = ([0; 16_384], delays.iter().cycle());
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        let delay = waits.next().map_or(Duration::ZERO, |delay| Duration::from_millis(*delay));
        if parts.send((Instant::now() + delay, bytes[..read].to_vec())).is_err() {
            return;
        }
    }
}

/// A gateway of the cluster, with a home of its own.
pub(crate) struct ClusterGateway {
    pub(crate) process: Process,
    pub(crate) address: String,
    _world: World,
    pub(crate) stderr: std::sync::Arc<std::sync::Mutex<String>>,
}

impl ClusterGateway {
    pub(crate) fn start(servers: &Value, redis: &Redis, options: &[&str]) -> Self {
        let mut world = World::with(&[
            ("home/.claude.json", &json!({ "mcpServers": servers }).to_string()),
            ("private/tokens", "a:secret-a\nb:secret-b\n"),
        ]);
        world.set("MCPARLEY_STATE", redis.url());
        restrict(&world.root.join("private/tokens"), 0o600);
        restrict(&world.root.join("private"), 0o700);
        let tokens = world.root.join("private/tokens").to_string_lossy().into_owned();
        let words = [
            "serve",
            "--http",
            "127.0.0.1:0",
            "--token-file",
            &tokens,
            "--allowed-tools",
            "mcp__one,mcp__two",
        ];
        let words = [&words[..], options].concat();
        let mut command = world.command(&words);
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let mut seen = String::new();
        let address = lines.find_map(|line| {
            seen += &line;
            seen.push('\n');
            let url = line.split("http://").nth(1)?;
            url.strip_suffix("/mcp").map(str::to_owned)
        });
        let address = address.unwrap_or_else(|| panic!("no address: {seen}"));
        let stderr = std::sync::Arc::new(std::sync::Mutex::new(seen));
        let written = std::sync::Arc::clone(&stderr);
        std::thread::spawn(move || lines.for_each(|line| written.lock().unwrap().push_str(&line)));
        Self { process: Process(child), address, _world: world, stderr }
    }
}

fn restrict(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// nginx before the gateways, with the configuration of the page `docs/team.md`.
pub(crate) struct Balancer {
    _process: Process,
    pub(crate) address: String,
    _folder: TempDir,
}

impl Balancer {
    /// Starts the proxy on a port whose address the gateways know as a host of theirs.
    pub(crate) fn start(port: u16, gateways: &[&ClusterGateway]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let page = std::fs::read_to_string(repository().join("docs/team.md")).unwrap();
        let text = page.split("```nginx\n").nth(1).unwrap().split("```").next().unwrap();
        let text = text.replace("127.0.0.1:8930", &format!("127.0.0.1:{port}"));
        let servers = gateways
            .iter()
            .map(|gateway| format!("    server {} max_fails=1 fail_timeout=2s;\n", gateway.address));
        let first = text.find("    server 127.0.0.1:8931").unwrap();
        let last = text.find("    keepalive").unwrap();
        let text = format!("{}{}{}", &text[..first], servers.collect::<String>(), &text[last..]);
        let root = folder.path().display();
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .iter()
            .map(|name| format!("{name}_temp_path {root}/{name};\n"))
            .collect();
        let whole = format!(
            "daemon off;\nworker_processes 1;\npid {root}/pid;\nerror_log {root}/error.log warn;\n\
             events {{ worker_connections 4096; }}\nhttp {{\naccess_log off;\n{temporary}{text}\n}}\n"
        );
        std::fs::write(folder.path().join("nginx.conf"), whole).unwrap();
        let mut command = program("nginx");
        command.arg("-e").arg(folder.path().join("start.log"));
        command.arg("-p").arg(folder.path()).arg("-c").arg(folder.path().join("nginx.conf"));
        let process = Process::start(command);
        wait_for_port(port);
        Self { _process: process, address: format!("127.0.0.1:{port}"), _folder: folder }
    }
}

/// The answer to an HTTP request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// The last message of the body, JSON or an event stream.
    pub(crate) fn message(&self) -> Value {
        let last =
            self.body.lines().filter_map(|line| line.strip_prefix("data:")).rfind(|it| !it.trim().is_empty());
        serde_json::from_str(last.unwrap_or(&self.body).trim()).unwrap_or(Value::Null)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let line = self.head.lines().find(|line| line.to_ascii_lowercase().starts_with(&format!("{name}:")));
        line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim())
    }

    /// The text of a call's result.
    pub(crate) fn text(&self) -> String {
        self.message()["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
    }
}

/// Sends a request on a connection of its own.
pub(crate) fn begin(address: &str, method: &str, headers: &[&str], body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    let mut head = format!("{method} /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    for header in headers {
        head += header;
        head += "\r\n";
    }
    if !headers.iter().any(|header| header.starts_with("Accept")) {
        head += "Accept: application/json, text/event-stream\r\n";
    }
    head += &format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    stream
}

/// Reads an answer to its end; `None` if the connection broke before its head.
pub(crate) fn finish(mut stream: TcpStream) -> Option<Answer> {
    let mut bytes = Vec::new();
    // A connection that breaks has what came before.
    let _broken = stream.read_to_end(&mut bytes).is_err();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, head: head.to_owned(), body: body.to_owned() })
}

pub(crate) fn send(address: &str, method: &str, headers: &[&str], body: &str) -> Answer {
    finish(begin(address, method, headers, body)).unwrap()
}

/// Sends a request of the new era.
pub(crate) fn post_new(address: &str, token: &str, method: &str, mut params: Value) -> Answer {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(NEW);
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({ "elicitation": { "form": {} }, "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let name = params["name"].as_str().or(params["taskId"].as_str()).map(|name| format!("Mcp-Name: {name}"));
    let (version, routed) = (format!("MCP-Protocol-Version: {NEW}"), format!("Mcp-Method: {method}"));
    let mut headers = vec![token, version.as_str(), routed.as_str()];
    headers.extend(name.as_deref());
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    send(address, "POST", &headers, &body.to_string())
}

/// The headers of a session of the old era.
pub(crate) fn open_session(address: &str, token: &str) -> Vec<String> {
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "raw", "version": "1" } });
    let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let opened = send(address, "POST", &[token], &body.to_string());
    let id = opened.header("mcp-session-id").unwrap_or_else(|| panic!("{opened:?}")).to_owned();
    vec![token.to_owned(), format!("Mcp-Session-Id: {id}"), "MCP-Protocol-Version: 2025-11-25".to_owned()]
}

pub(crate) fn call_body(id: u64, name: &str, arguments: &Value, with_progress: bool) -> String {
    let mut params = json!({ "name": name, "arguments": arguments });
    if with_progress {
        params["_meta"]["progressToken"] = json!("t");
    }
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

pub(crate) fn refer(headers: &[String]) -> Vec<&str> {
    headers.iter().map(String::as_str).collect()
}
