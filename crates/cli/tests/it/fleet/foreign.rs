//! `serve` under clients that others wrote, over standard streams and over HTTP with the generated token: list, call, read
//! a resource, get a prompt, answer a question.
//!
//! Each test writes or compares its rows of `docs/compatibility-clients.md`. After a change run them once with
//! `MCPARLEY_UPDATE_PAGES=1` and read the difference.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use mcparley_testkit::program_path;
use serde_json::{Value, json};

use super::http_gateway::HttpGateway;
use super::place::{Place, installed, repository};
use super::servers::{EVERYTHING, text};

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcparley");
const PAGE: &str = "docs/compatibility-clients.md";
/// The reply of server-everything to a client that cannot answer questions.
const CANNOT_ASK: &str = "this client does not support elicitation";

/// Tests of one process that write the page do so one after the other; nextest runs each in its own process.
static PAGE_LOCK: Mutex<()> = Mutex::new(());

/// A client, as a command: a program, and the script it runs.
struct ForeignClient {
    /// Its name in the table.
    name: &'static str,
    program: fn() -> PathBuf,
    /// A script in `fleet/foreign`.
    script: Option<&'static str>,
    /// The revision it negotiates.
    protocol: &'static str,
}

/// The steps that every client makes.
fn steps() -> Value {
    json!({
        "tool": "everything__echo",
        "arguments": { "message": "hello" },
        "resource": "everything+demo://resource/dynamic/text/1",
        "prompt": "everything__simple-prompt",
        "question": "everything__trigger-elicitation-request",
    })
}

/// A place with server-everything as the only server.
pub(super) fn everything_place() -> Place {
    let place = Place::new();
    place.configure("everything", &(EVERYTHING.entry)(&place).0);
    place
}

impl ForeignClient {
    /// Makes the steps, and returns what came of each.
    fn run(&self, place: &Place, target: &[&str]) -> Value {
        let script = self.script.map(|script| text(repository().join("fleet/foreign").join(script)));
        let steps = steps().to_string();
        let words = script.iter().map(String::as_str).chain([steps.as_str()]).chain(target.iter().copied());
        let words: Vec<&str> = words.collect();
        let mut command = place.world.command_of(&(self.program)(), &words);
        let done = place.world.finish(command.env("PYTHONDONTWRITEBYTECODE", "1"));
        let line = done.out.lines().last().and_then(|line| serde_json::from_str::<Value>(line).ok());
        line.unwrap_or_else(|| panic!("{} {target:?}: {done:?}", self.name))
    }

    /// Runs the client over both transports, and checks its rows of the table.
    fn assert_served(&self) {
        let place = everything_place();
        let came = self.run(&place, &["stdio", PROGRAM, "serve"]);
        self.assert_row("stdio", &came);
        let gateway = HttpGateway::start(&place, &[]);
        let came = self.run(&place, &["http", &gateway.url, &gateway.token]);
        self.assert_row("HTTP", &came);
        drop(gateway);
        assert_eq!(place.processes(), Vec::<u32>::new(), "nothing is left running");
    }

    fn assert_row(&self, transport: &str, came: &Value) {
        // mcporter does not tell which version it negotiated.
        if let Some(protocol) = came.get("protocol") {
            assert_eq!(protocol, self.protocol, "{came}");
        }
        assert_row(self.name, transport, self.protocol, &Outcomes::from_steps(came));
    }
}

/// The outcome of each step, as a cell of the table.
struct Outcomes([String; 5]);

impl Outcomes {
    fn from_steps(came: &Value) -> Self {
        let tools = came["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        let has = |step: &str, text: &str| came[step].as_str().is_some_and(|it| it.contains(text));
        let works = |is_right: bool| if is_right { "yes".to_owned() } else { format!("wrong: {came}") };
        let answer = match has("answer", CANNOT_ASK) {
            true => "no: it declares no elicitation".to_owned(),
            false => works(has("answer", "Ada")),
        };
        Self([
            works(tools.contains(&json!("everything__echo"))),
            works(has("call", "Echo: hello")),
            works(has("resource", "Resource 1: This is a plaintext resource")),
            works(has("prompt", "This is a simple prompt without arguments.")),
            answer,
        ])
    }
}

/// Compares a row with the one of the page, or writes it if that is asked for.
fn assert_row(client: &str, transport: &str, protocol: &str, Outcomes(cells): &Outcomes) {
    let _alone = PAGE_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let beginning = format!("| {client} | {transport} | {protocol} |");
    let row = format!("{beginning} {} |", cells.join(" | "));
    let path = repository().join(PAGE);
    let file = std::fs::File::open(&path).unwrap();
    file.lock().unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    let found = page.lines().find(|line| line.starts_with(&beginning));
    let found = found.unwrap_or_else(|| panic!("{PAGE} has no row that begins with `{beginning}`"));
    if std::env::var_os("MCPARLEY_UPDATE_PAGES").is_some() {
        std::fs::write(&path, page.replace(found, &row)).unwrap();
    } else {
        assert_eq!(found, row, "see the comment in tests/it/fleet/foreign.rs");
    }
}

/// Makes one request with the command line of the Inspector.
fn inspect(place: &Place, era: &str, method: &[&str], target: &[&str]) -> Value {
    let launcher = "inspector/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
    let launcher = text(installed(launcher));
    let words = [&[launcher.as_str(), "--cli", "--protocol-era", era, "--method"], method, target].concat();
    let done = place.world.finish(&mut place.world.command_of(&installed("inspector/node"), &words));
    let mut values = serde_json::Deserializer::from_str(&done.out).into_iter::<Value>();
    values.next().and_then(Result::ok).unwrap_or_else(|| panic!("{words:?}: {done:?}"))
}

/// Makes the steps with the Inspector, each with a process of its own.
fn inspect_steps(place: &Place, era: &str, target: &[&str]) -> Value {
    let steps = steps();
    let name = |step: &str| steps[step].as_str().unwrap();
    let inspect = |method: &[&str]| inspect(place, era, method, target);
    let listed = inspect(&["tools/list"]);
    let tools = listed["tools"].as_array().into_iter().flatten().map(|tool| tool["name"].clone());
    let called = inspect(&["tools/call", "--tool-name", name("tool"), "--tool-arg", "message=hello"]);
    let read = inspect(&["resources/read", "--uri", name("resource")]);
    let prompt = inspect(&["prompts/get", "--prompt-name", name("prompt")]);
    let asked = inspect(&["tools/call", "--tool-name", name("question")]);
    json!({
        "tools": tools.collect::<Vec<_>>(),
        "call": called["content"][0]["text"],
        "resource": read["contents"][0]["text"],
        "prompt": prompt["messages"][0]["content"]["text"],
        "answer": asked["content"][0]["text"],
    })
}

fn assert_inspector_served(era: &str, protocol: &str) {
    let place = everything_place();
    let name = "Inspector 2.12.0, command line";
    let came = inspect_steps(&place, era, &["--", PROGRAM, "serve"]);
    assert_row(name, "stdio", protocol, &Outcomes::from_steps(&came));
    let gateway = HttpGateway::start(&place, &[]);
    let header = format!("Authorization: Bearer {}", gateway.token);
    let target = ["--transport", "http", "--server-url", &gateway.url, "--header", &header];
    let came = inspect_steps(&place, era, &target);
    assert_row(name, "HTTP", protocol, &Outcomes::from_steps(&came));
}

// G1 G2 G6 G7
#[test]
fn fleet_inspector_does_every_step_in_the_old_era() {
    assert_inspector_served("legacy", "2025-11-25");
}

// G1 G2 G6 G7
#[test]
fn fleet_inspector_does_every_step_in_the_new_era() {
    assert_inspector_served("modern", "2026-07-28");
}

// G1 G2 G3 G6 G7
#[test]
fn fleet_python_sdk_1_does_every_step() {
    let program = || installed("ws/bin/python");
    let script = Some("python_sdk_1.py");
    ForeignClient { name: "Python SDK 1.30.0", program, script, protocol: "2025-11-25" }.assert_served();
}

// G1 G2 G3 G6 G7
#[test]
fn fleet_python_sdk_2_does_every_step() {
    let program = || installed("servers/bin/python");
    let script = Some("python_sdk_2.py");
    ForeignClient { name: "Python SDK 2.3.0", program, script, protocol: "2026-07-28" }.assert_served();
}

// G1 G2 G3 G6 G7
#[test]
fn fleet_fastmcp_client_does_every_step() {
    let program = || installed("fastmcp/bin/python");
    let script = Some("fastmcp_client.py");
    ForeignClient { name: "FastMCP 4.1.2", program, script, protocol: "2026-07-28" }.assert_served();
}

// G1 G2 G6 G7
#[test]
fn fleet_mcporter_does_every_step() {
    let program = || installed("mcporter/node");
    let script = Some("mcporter_client.mjs");
    ForeignClient { name: "mcporter 0.9.0", program, script, protocol: "2025-11-25" }.assert_served();
}

// G1 G2 G3 G6 G7
#[test]
fn fleet_rmcp_client_does_every_step() {
    let program = || program_path("mcparley-fleet-rmcp-client");
    ForeignClient { name: "rmcp 3.8.0", program, script: None, protocol: "2025-11-25" }.assert_served();
}
