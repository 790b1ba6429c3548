//! An agent in small: an MCP client of `mcparley serve` on pipes, with a folder as its root.

use std::collections::HashSet;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The time limit for a complete list.
const PATIENCE: Duration = Duration::from_secs(300);

/// The pause between two lists.
const PAUSE: Duration = Duration::from_millis(2);

/// A client and its gateway process.
#[derive(Debug)]
pub(super) struct AgentClient {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    folder: PathBuf,
    last: u64,
}

impl AgentClient {
    /// Starts the gateway and does the handshake, as a client of the old era with roots and forms.
    pub(super) fn start(mut command: Command, folder: &Path) -> io::Result<Self> {
        command.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let input = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let output = BufReader::new(child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?);
        let mut client = Self { child, input, output, folder: folder.to_owned(), last: 0 };
        let offer = json!({ "roots": { "listChanged": true }, "elicitation": {} });
        client.send_request(
            "initialize",
            &json!({ "protocolVersion": "2025-11-25", "capabilities": offer,
                     "clientInfo": { "name": "bench", "version": "1" } }),
        )?;
        client.send(&json!({ "method": "notifications/initialized" }))?;
        Ok(client)
    }

    /// Lists tools until those of this many servers are there; returns the number of tools.
    pub(super) fn wait_for_tools(&mut self, servers: usize) -> io::Result<usize> {
        let begun = Instant::now();
        loop {
            let tools = self.list_tools()?;
            let listed: HashSet<&str> =
                tools.iter().filter_map(|tool| Some(tool.split_once("__")?.0)).collect();
            if listed.len() >= servers {
                return Ok(tools.len());
            }
            if begun.elapsed() > PATIENCE {
                let listed: Vec<&str> = listed.into_iter().collect();
                return Err(io::Error::other(format!(
                    "only these servers were listed: {}",
                    listed.join(" ")
                )));
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn list_tools(&mut self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        let mut params = json!({});
        loop {
            let page = self.send_request("tools/list", &params)?;
            let tools = page["tools"].as_array().into_iter().flatten();
            names.extend(tools.filter_map(|tool| tool["name"].as_str().map(str::to_owned)));
            match page["nextCursor"].as_str() {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => return Ok(names),
            }
        }
    }

    /// Calls a tool, and returns its first text.
    pub(super) fn call_tool(&mut self, name: &str, arguments: &Value) -> io::Result<String> {
        let result = self.send_request("tools/call", &json!({ "name": name, "arguments": arguments }))?;
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        match result["isError"].as_bool() {
            Some(true) => Err(io::Error::other(text.to_owned())),
            Some(false) | None => Ok(text.to_owned()),
        }
    }

    /// The process id of the gateway.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a request and waits for its result; requests of the gateway are answered meanwhile.
    fn send_request(&mut self, method: &str, params: &Value) -> io::Result<Value> {
        self.last += 1;
        let id = self.last;
        self.send(&json!({ "id": id, "method": method, "params": params }))?;
        let mut line = String::new();
        loop {
            line.clear();
            if self.output.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let mut message: Value = serde_json::from_str(&line)?;
            if let Some(asked) = message["method"].as_str() {
                if !message["id"].is_null() {
                    let answer = self.answer_to(asked);
                    let reply = json!({ "id": message["id"], "result": answer });
                    self.send(&reply)?;
                }
            } else if message["id"] == json!(id) {
                return match message.get_mut("result") {
                    Some(result) => Ok(result.take()),
                    None => Err(io::Error::other(line.trim().to_owned())),
                };
            }
        }
    }

    fn answer_to(&self, method: &str) -> Value {
        match method {
            "roots/list" => json!({ "roots": [{ "uri": format!("file://{}", self.folder.display()) }] }),
            "elicitation/create" => json!({ "action": "cancel" }),
            _ => json!({}),
        }
    }

    fn send(&mut self, message: &Value) -> io::Result<()> {
        let mut message = message.clone();
        message["jsonrpc"] = json!("2.0");
        writeln!(self.input, "{message}")
    }
}

impl Drop for AgentClient {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}
