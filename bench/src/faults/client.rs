//! A client of the new era over HTTP: one connection, one call at a time, no session.

use std::io::{self, BufReader, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::peers::ResponseHead;

const VERSION: &str = "2026-07-28";
/// The time that an answer may take; longer than any promise.
const PATIENCE: Duration = Duration::from_mins(1);

/// A connection.
pub(super) struct FaultClient {
    address: String,
    stream: BufReader<TcpStream>,
    last: u64,
}

/// The outcome of a call.
#[derive(Debug)]
pub(super) enum FaultStatus {
    /// An answer; whether it is a result without an error.
    Answered { is_result: bool },
    /// Another status of HTTP than 200.
    Refused(u16),
}

impl FaultStatus {
    pub(super) fn is_result(&self) -> bool {
        matches!(self, Self::Answered { is_result: true })
    }

    pub(super) fn require_result(self) -> io::Result<()> {
        if self.is_result() { Ok(()) } else { Err(io::Error::other(format!("a call failed: {self:?}"))) }
    }
}

impl FaultClient {
    pub(super) fn open_connection(address: &str) -> io::Result<Self> {
        Ok(Self { address: address.to_owned(), stream: Self::open_stream(address)?, last: 0 })
    }

    fn open_stream(address: &str) -> io::Result<BufReader<TcpStream>> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(BufReader::new(stream))
    }

    /// Sends a call of a tool of the soak test's server, and reads no answer.
    pub(super) fn send_call(&mut self, tool: &str, ms: u64) -> io::Result<()> {
        self.last += 1;
        let mut arguments = json!({ "token": "t" });
        if tool.ends_with("__work") {
            arguments["ms"] = json!(ms);
        }
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": self.last, "method": "tools/call", "params": params })
            .to_string();
        let (address, length) = (&self.address, body.len());
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {VERSION}\r\n\
             Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\nContent-Length: {length}\r\n\r\n"
        );
        self.stream.get_mut().write_all((head + &body).as_bytes())
    }

    /// Makes a call, and reads its answer.
    pub(super) fn make_call(&mut self, tool: &str, ms: u64) -> io::Result<FaultStatus> {
        self.send_call(tool, ms)?;
        let head = ResponseHead::read(&mut self.stream)?;
        let body = head.read_body(&mut self.stream)?;
        if head.status != 200 {
            // Some refusals end the connection.
            self.stream = Self::open_stream(&self.address)?;
            return Ok(FaultStatus::Refused(head.status));
        }
        let text = String::from_utf8_lossy(&body);
        let messages = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
        let mut answers = messages.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let is_answer = |message: &Value| message.get("id").and_then(Value::as_u64) == Some(self.last);
        let answer = answers.find(is_answer).unwrap_or_default();
        let is_result = answer.get("result").is_some_and(|result| result["isError"] != true);
        Ok(FaultStatus::Answered { is_result })
    }
}
