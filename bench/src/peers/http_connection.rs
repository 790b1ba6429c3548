//! A client over Streamable HTTP that reads all forms of an answer: JSON or an event stream, with a length, in chunks or
//! until the connection ends.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use mcparley_bench::raw::CallText;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::caller::check_length;

/// The time that a gateway may take for an answer; the first ones of an interpreter are slow.
const PATIENCE: Duration = Duration::from_secs(30);
/// The ids of one connection of a session.
const FORK_IDS: u64 = 1_000_000;
/// The largest body that is read.
const BODY: u64 = 16 * 1024 * 1024;

/// The parameters of the handshake.
const INITIALIZE: &str =
    r#"{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}"#;

/// A session on one connection, which is opened again when the gateway closes it.
#[derive(Debug)]
pub(super) struct PeerConnection {
    address: String,
    path: &'static str,
    session: Option<String>,
    stream: Option<BufReader<TcpStream>>,
    last: u64,
}

/// The head of a response, as far as it says how to read the body.
#[derive(Debug, Default)]
pub(crate) struct ResponseHead {
    pub(crate) status: u16,
    length: Option<u64>,
    is_chunked: bool,
    is_last: bool,
    session: Option<String>,
}

#[derive(Deserialize)]
struct PeerReply<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

impl PeerConnection {
    /// Connects and does the handshake.
    pub(super) fn open(address: &str, path: &'static str) -> io::Result<Self> {
        let mut connection = Self { address: address.to_owned(), path, session: None, stream: None, last: 0 };
        connection.request("initialize", INITIALIZE)?;
        connection.post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)?;
        Ok(connection)
    }

    /// Another connection of the same session; `number` keeps the ids of its requests apart.
    pub(super) fn fork_connection(&self, number: usize) -> Self {
        let last = (number as u64 + 1) * FORK_IDS;
        Self {
            address: self.address.clone(),
            path: self.path,
            session: self.session.clone(),
            stream: None,
            last,
        }
    }

    /// Calls `echo` under its public name, and checks the length of the text.
    pub(super) fn call_echo(&mut self, tool: &str, size: usize) -> io::Result<()> {
        let params = format!(r#"{{"name":"{tool}","arguments":{{"size":{size}}}}}"#);
        let result = self.request("tools/call", &params)?;
        let called: CallText = serde_json::from_str(&result)?;
        check_length(called.text_length(), size)
    }

    /// Makes a request, and returns its result.
    fn request(&mut self, method: &str, params: &str) -> io::Result<String> {
        self.last += 1;
        let id = self.last;
        let body =
            self.post(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#))?;
        let text = String::from_utf8_lossy(&body);
        // In an event stream each message is the data of an event; in JSON it is the body itself.
        let messages = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
        let own = id.to_string();
        let result =
            messages.filter_map(|line| serde_json::from_str::<PeerReply<'_>>(line).ok()).find_map(|reply| {
                let is_own = reply.id.is_some_and(|id| id.get() == own);
                if is_own { reply.result.map(|result| result.get().to_owned()) } else { None }
            });
        result.ok_or_else(|| io::Error::other(format!("no result of {method}: {text}")))
    }

    /// Sends a message, and returns the body of its response. A connection that the gateway has closed meanwhile is
    /// opened again.
    fn post(&mut self, body: &str) -> io::Result<Vec<u8>> {
        if let Some(stream) = self.stream.take() {
            match self.exchange(stream, body) {
                Err(error) if is_closed(&error) => {}
                exchanged => return exchanged,
            }
        }
        self.exchange(self.connect()?, body)
    }

    fn exchange(&mut self, mut stream: BufReader<TcpStream>, body: &str) -> io::Result<Vec<u8>> {
        let (address, path, length) = (&self.address, self.path, body.len());
        let session = self
            .session
            .iter()
            .map(|session| format!("mcp-session-id: {session}\r\nmcp-protocol-version: 2025-06-18\r\n"));
        let session: String = session.collect();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\naccept: application/json, text/event-stream\r\n\
             content-type: application/json\r\n{session}content-length: {length}\r\n\r\n"
        );
        stream.get_mut().write_all((head + body).as_bytes())?;
        let head = ResponseHead::read(&mut stream)?;
        let body = head.read_body(&mut stream)?;
        if !(200..300).contains(&head.status) {
            let text = String::from_utf8_lossy(&body);
            return Err(io::Error::other(format!("status {}: {text}", head.status)));
        }
        self.session = head.session.or(self.session.take());
        self.stream = (!head.is_last).then_some(stream);
        Ok(body)
    }

    fn connect(&self) -> io::Result<BufReader<TcpStream>> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(BufReader::with_capacity(256 * 1024, stream))
    }
}

impl ResponseHead {
    pub(crate) fn read(stream: &mut impl BufRead) -> io::Result<Self> {
        let mut head = Self::default();
        let first = read_line(stream)?;
        head.status = first.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or_default();
        loop {
            let line = read_line(stream)?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').unwrap_or_default();
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => head.length = value.parse().ok(),
                "transfer-encoding" => head.is_chunked = value.eq_ignore_ascii_case("chunked"),
                "connection" => head.is_last |= value.eq_ignore_ascii_case("close"),
                "mcp-session-id" => head.session = Some(value.to_owned()),
                _ => {}
            }
        }
        let has_body = !matches!(head.status, 204 | 304);
        head.is_last |= has_body && head.length.is_none() && !head.is_chunked;
        Ok(head)
    }

    pub(crate) fn read_body(&self, stream: &mut impl BufRead) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        if self.is_chunked {
            loop {
                let size = u64::from_str_radix(read_line(stream)?.trim(), 16).map_err(io::Error::other)?;
                stream.by_ref().take(size.min(BODY)).read_to_end(&mut body)?;
                read_line(stream)?;
                if size == 0 || body.len() as u64 > BODY {
                    return Ok(body);
                }
            }
        }
        let length = if self.is_last { self.length.unwrap_or(BODY) } else { self.length.unwrap_or_default() };
        stream.by_ref().take(length.min(BODY)).read_to_end(&mut body)?;
        Ok(body)
    }
}

fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}

fn read_line(stream: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    if stream.by_ref().take(BODY).read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}
