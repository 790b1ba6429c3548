//! Real servers behind the daemon, each used by two agents at once: `mcparley serve` on pipes, in its own folder.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::place::{Place, installed};
use super::servers::{EVERYTHING, MEMORY, node};

/// A place with this server, and the daemon enabled until the end of the test.
struct SharedPlace(Place);

impl SharedPlace {
    fn new(name: &str, entry: impl FnOnce(&Place) -> Value) -> Self {
        let place = Place::new();
        let entry = entry(&place);
        place.world.write("home/.claude.json", &json!({ "mcpServers": { name: entry } }).to_string());
        place.world.ok(&["daemon", "enable"]);
        Self(place)
    }

    /// A folder with a repository, in which the commit has its name.
    fn repository(&self, name: &str) -> PathBuf {
        let folder = self.folder(name);
        for arguments in [
            &["init", "--quiet"][..],
            &[
                "-c",
                "user.name=f",
                "-c",
                "user.email=f@example.com",
                "commit",
                "--quiet",
                "--allow-empty",
                "-m",
                name,
            ],
        ] {
            let mut git = self.0.world.command_of("git".as_ref(), arguments);
            assert!(git.current_dir(&folder).status().unwrap().success());
        }
        folder
    }

    fn folder(&self, name: &str) -> PathBuf {
        let folder = self.0.world.home.join(name);
        std::fs::create_dir(&folder).unwrap();
        folder
    }

    /// The running processes of servers, as the daemon shows them.
    fn copies(&self) -> Vec<Value> {
        self.0.world.json(&["daemon", "status"])["daemon"]["copies"].as_array().unwrap().clone()
    }
}

impl Drop for SharedPlace {
    fn drop(&mut self) {
        self.0.world.mcparley(&["daemon", "disable"]);
    }
}

/// An agent that answers every question with its name.
struct NamedAgent {
    name: &'static str,
    folder: PathBuf,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
    /// The methods of the questions that have reached this agent.
    asked: Vec<String>,
}

impl NamedAgent {
    fn start(place: &SharedPlace, name: &'static str, folder: &Path, options: &[&str]) -> Self {
        let mut command = place.0.world.command(&[&["serve"], options].concat());
        command.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let folder = folder.to_owned();
        let mut agent = Self { name, folder, child, input, output, last: 0, asked: Vec::new() };
        let capabilities = json!({ "roots": {}, "elicitation": {}, "sampling": {} });
        let info = json!({ "name": name, "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info });
        agent.ask("initialize", &params);
        agent.send(&json!({ "method": "notifications/initialized" }));
        agent
    }

    /// The text of the result of a call.
    fn call(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let blocks = answer["result"]["content"].as_array().unwrap_or_else(|| panic!("{answer}"));
        blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(&json!({ "id": id, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the gateway has ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == json!(id) && message["method"].is_null() {
                return message;
            }
            if let (Some(method), false) = (message["method"].as_str(), message["id"].is_null()) {
                let reply = json!({ "id": message["id"], "result": self.reply_to(method) });
                self.asked.push(method.to_owned());
                self.send(&reply);
            }
        }
    }

    fn reply_to(&self, method: &str) -> Value {
        match method {
            "roots/list" => json!({ "roots": [{ "uri": format!("file://{}", self.folder.display()) }] }),
            "elicitation/create" => json!({ "action": "accept", "content": { "name": self.name } }),
            "sampling/createMessage" => json!({
                "role": "assistant", "model": "none", "content": { "type": "text", "text": self.name },
            }),
            _ => json!({}),
        }
    }

    fn send(&mut self, message: &Value) {
        let mut message = message.clone();
        message["jsonrpc"] = json!("2.0");
        writeln!(self.input, "{message}").unwrap();
    }
}

impl Drop for NamedAgent {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

// G8 U5 X6
#[test]
fn fleet_agents_in_two_folders_see_their_own_roots_in_the_filesystem_server() {
    let place = SharedPlace::new("files", |place| node(place, "mcp-server-filesystem", &[], &[]));
    let (a, b) = (place.folder("a"), place.folder("b"));
    std::fs::write(a.join("note.txt"), "note of a").unwrap();
    let mut first = NamedAgent::start(&place, "a", &a, &[]);
    let mut second = NamedAgent::start(&place, "b", &b, &[]);
    for _ in ["first call", "second call"] {
        for (agent, folder) in [(&mut first, &a), (&mut second, &b)] {
            let text = agent.call("files__list_allowed_directories", &json!({}));
            assert!(text.ends_with(folder.to_str().unwrap()), "{text}");
        }
    }
    let note = json!({ "path": a.join("note.txt") });
    assert_eq!(first.call("files__read_text_file", &note), "note of a");
    let refused = second.call("files__read_text_file", &note);
    assert!(refused.contains("Access denied"), "{refused}");
}

// G8 U5
#[test]
fn fleet_agents_of_one_folder_share_the_graph_of_the_memory_server() {
    let place = SharedPlace::new("memory", |place| (MEMORY.entry)(place).0);
    let work = place.0.work().to_owned();
    let mut first = NamedAgent::start(&place, "a", &work, &[]);
    let mut second = NamedAgent::start(&place, "b", &work, &[]);
    let entity =
        json!({ "entities": [{ "name": "Ada", "entityType": "person", "observations": ["likes engines"] }] });
    first.call("memory__create_entities", &entity);
    assert!(second.call("memory__read_graph", &json!({})).contains("likes engines"));
    let copies = place.copies();
    assert_eq!((copies.len(), copies[0]["clients"].as_array().unwrap().len()), (1, 2), "{copies:?}");
}

// G3 G8 U5
#[test]
fn fleet_questions_of_the_everything_server_reach_the_agent_that_called() {
    let place = SharedPlace::new("every", |place| (EVERYTHING.entry)(place).0);
    let work = place.0.work().to_owned();
    let mut first = NamedAgent::start(&place, "Ada", &work, &[]);
    let mut second = NamedAgent::start(&place, "Bob", &work, &[]);
    let prompt = json!({ "prompt": "who are you", "maxTokens": 10 });
    for _ in ["while the server is new", "once it is known to ask"] {
        for agent in [&mut first, &mut second] {
            let answer = agent.call("every__trigger-elicitation-request", &json!({}));
            assert!(answer.contains(agent.name), "{}: {answer}", agent.name);
            let answer = agent.call("every__trigger-sampling-request", &prompt);
            assert!(answer.contains(agent.name), "{}: {answer}", agent.name);
        }
    }
    for agent in [&first, &second] {
        let count = |method: &str| agent.asked.iter().filter(|asked| *asked == method).count();
        assert_eq!(
            (count("elicitation/create"), count("sampling/createMessage")),
            (2, 2),
            "{:?}",
            agent.asked
        );
    }
}

// G8 U5
#[test]
fn fleet_agents_in_two_folders_see_their_own_repositories() {
    let server = installed("servers/bin/mcp-server-git");
    let place = SharedPlace::new("git", |place| place.stdio(&server, &["--repository", "."], &[]));
    let (a, b) = (place.repository("apple"), place.repository("banana"));
    let mut first = NamedAgent::start(&place, "a", &a, &[]);
    let mut second = NamedAgent::start(&place, "b", &b, &[]);
    let here = json!({ "repo_path": "." });
    let (one, other) = (first.call("git__git_log", &here), second.call("git__git_log", &here));
    assert!(one.contains("apple") && !one.contains("banana"), "{one}");
    assert!(other.contains("banana") && !other.contains("apple"), "{other}");
    assert_eq!(place.copies().len(), 2);
}

// G8 U5: its tools are listed without a browser.
#[test]
fn fleet_agents_of_one_folder_have_a_playwright_server_each() {
    let place = SharedPlace::new("web", |place| node(place, "playwright-mcp", &[], &[]));
    let work = place.0.work().to_owned();
    let mut agents = ["a", "b"].map(|name| NamedAgent::start(&place, name, &work, &[]));
    for agent in &mut agents {
        // It fails without a browser, but the server is in use from then on.
        agent.call("web__browser_close", &json!({}));
        let tools = agent.ask("tools/list", &json!({}))["result"]["tools"].as_array().unwrap().clone();
        assert!(tools.iter().any(|tool| tool["name"] == "web__browser_navigate"), "{tools:?}");
    }
    let copies = place.copies();
    let reasons = copies[0]["reasons"].to_string();
    assert_eq!(copies.len(), 2, "{copies:?}");
    assert!(reasons.contains("is known to keep state for one session (playwright)"), "{reasons}");
}

// G8 U5 P1: permissions stay with the agent, though the process is shared.
#[test]
fn fleet_agents_of_two_projects_have_their_own_permissions_on_a_shared_server() {
    let place = SharedPlace::new("memory", |place| {
        let mut entry = (MEMORY.entry)(place).0;
        entry["share"] = json!("always");
        entry
    });
    let (a, b) = (place.folder("a"), place.folder("b"));
    let rules = ["--disallowed-tools", "mcp__memory__create_entities"];
    let mut reader = NamedAgent::start(&place, "reader", &a, &rules);
    let mut writer = NamedAgent::start(&place, "writer", &b, &[]);
    let entity =
        |name: &str| json!({ "entities": [{ "name": name, "entityType": "person", "observations": [] }] });
    let refused =
        reader.ask("tools/call", &json!({ "name": "memory__create_entities", "arguments": entity("Eve") }));
    assert!(refused["error"]["message"].as_str().unwrap().contains("create_entities"), "{refused}");
    writer.call("memory__create_entities", &entity("Ada"));
    let graph = reader.call("memory__read_graph", &json!({}));
    assert!(graph.contains("Ada") && !graph.contains("Eve"), "{graph}");
    let copies = place.copies();
    assert_eq!((copies.len(), copies[0]["clients"].as_array().unwrap().len()), (1, 2), "{copies:?}");
}
