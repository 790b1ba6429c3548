//! `mcparley-bench-server [--tools N] [--delay MS]`: a server so light that its own cost is negligible.
//!
//! Speaks both eras on its standard streams. Its tool `echo` returns `size` bytes of text like that of real
//! tools: short lines with quotes. A text is built once for each size; answers to requests that arrived
//! together are written together. With a delay it is slow to start.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

const BUFFER: usize = 64 * 1024;
const NEW: &str = "2026-07-28";
const NEWEST_OLD: &str = "2025-11-25";

fn main() -> io::Result<()> {
    let (tools, delay) = parse_arguments()?;
    let mut server = BenchServer::new(tools);
    std::thread::sleep(delay);
    // Files instead of the standard handles, which lock and search for line ends.
    let mut input = BufReader::with_capacity(BUFFER, File::from(io::stdin().as_fd().try_clone_to_owned()?));
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let (mut line, mut answers) = (Vec::new(), Vec::new());
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        server.append_answer(&line, &mut answers)?;
        if !input.buffer().contains(&b'\n') {
            output.write_all(&answers)?;
            answers.clear();
        }
    }
}

/// Parses the number of tools, and the delay before the first read.
fn parse_arguments() -> io::Result<(usize, Duration)> {
    let (mut tools, mut delay) = (10, Duration::ZERO);
    let mut arguments = std::env::args().skip(1);
    while let Some(option) = arguments.next() {
        let value = arguments.next().unwrap_or_default();
        match option.as_str() {
            "--tools" => tools = value.parse().map_err(io::Error::other)?,
            "--delay" => delay = Duration::from_millis(value.parse().map_err(io::Error::other)?),
            _ => return Err(io::Error::other("usage: mcparley-bench-server [--tools N] [--delay MS]")),
        }
    }
    Ok((tools, delay))
}

#[derive(Deserialize)]
struct Request<'m> {
    #[serde(borrow)]
    id: Option<&'m RawValue>,
    #[serde(borrow)]
    method: Cow<'m, str>,
    #[serde(borrow)]
    params: Option<&'m RawValue>,
}

struct BenchServer {
    tools: Vec<Value>,
    is_new: bool,
    /// The texts as they are written, by size.
    texts: HashMap<usize, Vec<u8>>,
}

impl BenchServer {
    fn new(tools: usize) -> Self {
        let tools = std::iter::once(echo_tool()).chain((1..tools).map(numbered_tool)).collect();
        Self { tools, is_new: false, texts: HashMap::new() }
    }

    /// Appends the answer to the message in `line`; nothing for a notification.
    fn append_answer(&mut self, line: &[u8], answers: &mut Vec<u8>) -> io::Result<()> {
        let request: Request<'_> = serde_json::from_slice(line)?;
        let Some(id) = request.id else { return Ok(()) };
        answers.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        answers.extend_from_slice(id.get().as_bytes());
        match request.method.as_ref() {
            "tools/call" => self.append_call_result(request.params, answers)?,
            "tools/list" => self.append_result(json!({ "tools": self.tools }), answers),
            "server/discover" => {
                self.is_new = true;
                self.append_result(discover_result(), answers);
            }
            "initialize" => {
                self.is_new = false;
                self.append_result(initialize_result(request.params)?, answers);
            }
            "ping" => self.append_result(json!({}), answers),
            _ => answers.extend_from_slice(br#","error":{"code":-32601,"message":"method not found"}"#),
        }
        answers.extend_from_slice(b"}\n");
        Ok(())
    }

    fn append_result(&self, mut result: Value, answers: &mut Vec<u8>) {
        if let (true, Some(members)) = (self.is_new, result.as_object_mut()) {
            members.insert("resultType".to_owned(), "complete".into());
            members.insert("ttlMs".to_owned(), 0.into());
            members.insert("cacheScope".to_owned(), "private".into());
        }
        answers.extend_from_slice(br#","result":"#);
        answers.extend_from_slice(result.to_string().as_bytes());
    }

    fn append_call_result(&mut self, params: Option<&RawValue>, answers: &mut Vec<u8>) -> io::Result<()> {
        #[derive(Deserialize)]
        struct EchoCall {
            arguments: EchoArguments,
        }
        #[derive(Deserialize)]
        struct EchoArguments {
            size: usize,
        }
        let params = params.map_or("{}", RawValue::get);
        let size = serde_json::from_str::<EchoCall>(params)?.arguments.size;
        let text = self.texts.entry(size).or_insert_with(|| text_of_size(size));
        let kind: &[u8] = if self.is_new { br#""resultType":"complete","# } else { b"" };
        answers.extend_from_slice(br#","result":{"#);
        answers.extend_from_slice(kind);
        answers.extend_from_slice(br#""content":[{"type":"text","text":"#);
        answers.extend_from_slice(text);
        answers.extend_from_slice(b"}]}");
        Ok(())
    }
}

/// `size` bytes of text as JSON.
fn text_of_size(size: usize) -> Vec<u8> {
    let line = "src/module/lines.rs:42: warning \"unused\" in `fn next(&mut self)`\n\tlet \"it\" = 1;\n";
    let text: String = line.chars().cycle().take(size).collect();
    Value::from(text).to_string().into_bytes()
}

fn discover_result() -> Value {
    json!({
        "supportedVersions": [NEW, NEWEST_OLD],
        "capabilities": { "tools": {} },
        "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "light", "version": "1" } }
    })
}

fn initialize_result(params: Option<&RawValue>) -> io::Result<Value> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct VersionOffer {
        protocol_version: String,
    }
    let wish: VersionOffer = serde_json::from_str(params.map_or("{}", RawValue::get))?;
    let wished = wish.protocol_version.as_str();
    let version = if wished < NEW { wished } else { NEWEST_OLD };
    Ok(json!({
        "protocolVersion": version,
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "light", "version": "1" }
    }))
}

fn echo_tool() -> Value {
    json!({
        "name": "echo",
        "description": "Gives a text of the size that is asked for.",
        "inputSchema": {
            "type": "object",
            "properties": { "size": { "type": "integer", "description": "in bytes" } },
            "required": ["size"]
        },
        "annotations": { "readOnlyHint": true }
    })
}

fn numbered_tool(number: usize) -> Value {
    json!({
        "name": format!("find_records_{number:03}"),
        "description": "Finds records by what stands in them. Use it when the user asks for records of one \
            kind; gives the number, the state and the address of each.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "text": { "type": "string", "description": "What must stand in the record" },
                "state": { "type": "string", "enum": ["open", "closed"] },
                "limit": { "type": "integer", "minimum": 1, "maximum": 100 }
            },
            "required": ["text"]
        }
    })
}
