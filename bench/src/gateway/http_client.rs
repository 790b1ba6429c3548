//! A client over HTTP without a library: one connection, blocking.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mcparley_bench::raw::CallText;
use serde::Deserialize;

use crate::caller::{BenchCaller, check_length};

/// The parameters of the handshake.
const INITIALIZE: &str =
    r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}"#;

/// A connection of a session.
#[derive(Debug)]
pub(super) struct HttpConnection {
    stream: BufReader<TcpStream>,
    address: String,
    session: String,
}

/// A session, and the connections that its calls use.
pub(super) struct HttpCaller {
    connections: Vec<HttpConnection>,
}

/// A response: its status, the session it names, and its body.
struct HttpResponse {
    status: u16,
    session: Option<String>,
    body: Vec<u8>,
}

impl HttpConnection {
    /// Connects and does the handshake.
    pub(super) fn open(address: &str) -> io::Result<Self> {
        let mut connection = Self::connect(address, String::new())?;
        let request = format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{INITIALIZE}}}"#);
        let answer = connection.post(&request)?;
        connection.session = answer.session.ok_or(io::ErrorKind::InvalidData)?;
        connection.post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)?;
        Ok(connection)
    }

    /// Another connection of the same session.
    fn fork(&self) -> io::Result<Self> {
        Self::connect(&self.address, self.session.clone())
    }

    fn connect(address: &str, session: String) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream: BufReader::with_capacity(256 * 1024, stream),
            address: address.to_owned(),
            session,
        })
    }

    /// Opens the stream of the session; the connection belongs to it from then on.
    pub(super) fn open_stream(&self) -> io::Result<Self> {
        let mut connection = self.fork()?;
        let head = connection.head("GET", "text/event-stream", "");
        connection.stream.get_mut().write_all(head.as_bytes())?;
        match connection.read_head()?.0 {
            200 => Ok(connection),
            status => Err(io::Error::other(format!("the stream is answered with {status}"))),
        }
    }

    fn head(&self, method: &str, accept: &str, more: &str) -> String {
        let session = match self.session.as_str() {
            "" => String::new(),
            session => format!("mcp-session-id: {session}\r\nmcp-protocol-version: 2025-11-25\r\n"),
        };
        let address = &self.address;
        format!("{method} /mcp HTTP/1.1\r\nhost: {address}\r\naccept: {accept}\r\n{session}{more}\r\n")
    }

    fn post(&mut self, body: &str) -> io::Result<HttpResponse> {
        let more = format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
        let request = self.head("POST", "application/json, text/event-stream", &more) + body;
        self.stream.get_mut().write_all(request.as_bytes())?;
        let (status, session, length) = self.read_head()?;
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        let response = HttpResponse { status, session, body };
        match response.status {
            200..300 => Ok(response),
            status => Err(io::Error::other(format!("status {status}"))),
        }
    }

    /// Reads the status, the session and the length of the body.
    fn read_head(&mut self) -> io::Result<(u16, Option<String>, usize)> {
        let (mut status, mut session, mut length) = (0, None, 0);
        let mut line = String::new();
        for number in 0.. {
            line.clear();
            if self.stream.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let text = line.trim_end();
            if text.is_empty() {
                break;
            }
            if number == 0 {
                status = text.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
            }
            match text.split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().map_err(io::Error::other)?;
                }
                Some((name, value)) if name.eq_ignore_ascii_case("mcp-session-id") => {
                    session = Some(value.trim().to_owned());
                }
                Some(_) | None => {}
            }
        }
        Ok((status, session, length))
    }

    fn call_echo(&mut self, id: usize, size: usize) -> io::Result<()> {
        #[derive(Deserialize)]
        struct CallReply {
            result: CallText,
        }
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"size":{size}}}}}}}"#
        );
        let answer = self.post(&call)?;
        let reply: CallReply = serde_json::from_slice(&answer.body)?;
        check_length(reply.result.text_length(), size)
    }
}

impl HttpCaller {
    pub(super) fn open(address: &str) -> io::Result<Self> {
        Ok(Self { connections: vec![HttpConnection::open(address)?] })
    }
}

impl BenchCaller for HttpCaller {
    fn call_sequentially(&mut self, size: usize, count: usize) -> io::Result<Vec<Duration>> {
        let connection = self.connections.first_mut().ok_or(io::ErrorKind::NotConnected)?;
        let mut call = |id| {
            let start = Instant::now();
            connection.call_echo(id, size)?;
            Ok(start.elapsed())
        };
        (1..=count).map(&mut call).collect()
    }

    fn call_concurrently(&mut self, size: usize, count: usize, width: usize) -> io::Result<Duration> {
        while self.connections.len() < width {
            let first = self.connections.first().ok_or(io::ErrorKind::NotConnected)?;
            let more = first.fork()?;
            self.connections.push(more);
        }
        let (begun, start) = (AtomicUsize::new(0), Instant::now());
        let work = |connection: &mut HttpConnection| {
            loop {
                let id = begun.fetch_add(1, Ordering::Relaxed);
                if id >= count {
                    return Ok(());
                }
                connection.call_echo(id, size)?;
            }
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> =
                self.connections.iter_mut().take(width).map(|one| scope.spawn(|| work(one))).collect();
            let panicked = |_| Err(io::Error::other("a worker panicked"));
            workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(panicked))
        })?;
        Ok(start.elapsed())
    }
}
