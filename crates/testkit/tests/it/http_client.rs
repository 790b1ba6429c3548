//! A client on raw sockets: one connection per request, every byte of the answer kept.

use crate::stdio_client::{PATIENCE, initialize};
use mcparley_testkit::HttpServer;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

pub(crate) type Headers<'a> = &'a [(&'a str, &'a str)];

const BOTH: (&str, &str) = ("Accept", "application/json, text/event-stream");
const JSON: (&str, &str) = ("Content-Type", "application/json");

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: Vec<u8>,
}

/// Sends one request of any kind.
pub(crate) fn send(server: &HttpServer, line: &str, headers: Headers<'_>, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    let head =
        format!("{line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n{lines}\r\n");
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    stream
}

/// Sends one request and reads until the server closes.
pub(crate) fn exchange(server: &HttpServer, line: &str, headers: Headers<'_>, body: &str) -> Answer {
    let mut bytes = Vec::new();
    send(server, line, headers, body).read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|part| part == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let mut answer = Answer { status, head, body: bytes[end + 4..].to_vec() };
    if answer.header("transfer-encoding") == Some("chunked") {
        answer.body = unchunked(&answer.body);
    }
    answer
}

/// Posts a message with the usual headers and these.
pub(crate) fn post(server: &HttpServer, headers: Headers<'_>, message: &Value) -> Answer {
    exchange(server, "POST /mcp", &[&[BOTH, JSON], headers].concat(), &message.to_string())
}

pub(crate) fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// The old era's handshake; returns the session.
pub(crate) fn greet(server: &HttpServer) -> String {
    let answer = post(server, &[], &request(1, "initialize", &initialize("2025-11-25")));
    assert_eq!(answer.status, 200);
    assert_eq!(answer.message()["result"]["protocolVersion"], "2025-11-25");
    let session = answer.header("mcp-session-id").unwrap().to_owned();
    let noted = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(post(server, &[("Mcp-Session-Id", &session)], &noted).status, 202);
    session
}

/// Calls `echo` with id 2 in a session.
pub(crate) fn echo(server: &HttpServer, session: &str) -> Answer {
    let message = request(2, "tools/call", &crate::stdio_client::echo());
    post(server, &[("Mcp-Session-Id", session)], &message)
}

/// Posts a stateless request with the headers it needs.
pub(crate) fn post_modern(server: &HttpServer, method: &str, params: Value) -> Answer {
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method), ("Mcp-Name", &name)];
    post(server, &headers, &request(2, method, &crate::stdio_client::modern(params)))
}

impl Answer {
    /// A header; the name in small letters.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let pairs = self.head.lines().filter_map(|line| line.split_once(": "));
        pairs.into_iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Every message, from a JSON body or from events.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let text = String::from_utf8(self.body.clone()).unwrap();
        match self.header("content-type") {
            Some("text/event-stream") => messages(&text),
            _ => vec![serde_json::from_str(&text).unwrap()],
        }
    }

    /// The only message.
    pub(crate) fn message(&self) -> Value {
        let messages = self.messages();
        assert_eq!(messages.len(), 1);
        messages[0].clone()
    }
}

/// The data of `message` events that are JSON-RPC, by the grammar of event streams.
fn messages(text: &str) -> Vec<Value> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
    let data = |event: &str| -> String {
        let lines = event.lines().filter_map(|line| line.strip_prefix("data:"));
        lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
    };
    let values = text.split("\n\n").filter_map(|event| serde_json::from_str::<Value>(&data(event)).ok());
    values.filter(|value| value.get("jsonrpc").is_some()).collect()
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some((size, data)) = chunk(&mut bytes) {
        if size == 0 {
            break;
        }
        body.extend_from_slice(&data);
    }
    body
}

/// One chunk; a last one may be shorter than it says.
fn chunk(reader: &mut impl BufRead) -> Option<(u64, Vec<u8>)> {
    let mut size = String::new();
    reader.read_line(&mut size).unwrap();
    let size = u64::from_str_radix(size.trim_end(), 16).ok()?;
    let mut data = Vec::new();
    reader.by_ref().take(size).read_to_end(&mut data).unwrap();
    reader.read_line(&mut String::new()).unwrap();
    Some((size, data))
}

/// An event stream that stays open.
pub(crate) struct Live(BufReader<TcpStream>);

impl Live {
    /// Reads the head, which must be that of an event stream.
    pub(crate) fn open(stream: TcpStream) -> Self {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        let mut head = String::new();
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line).unwrap();
            head.push_str(&line);
        }
        assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("text/event-stream"), "{head}");
        Self(reader)
    }

    /// The text of the next piece, or none at the end.
    pub(crate) fn piece(&mut self) -> Option<String> {
        let (_, data) = chunk(&mut self.0).filter(|(size, _)| *size > 0)?;
        Some(String::from_utf8(data).unwrap())
    }

    pub(crate) fn message(&mut self) -> Value {
        messages(&self.piece().unwrap()).remove(0)
    }
}

/// Opens the GET stream of a session.
pub(crate) fn listen(server: &HttpServer, session: &str) -> Live {
    let headers = [("Accept", "text/event-stream"), ("Mcp-Session-Id", session)];
    Live::open(send(server, "GET /mcp", &headers, ""))
}
