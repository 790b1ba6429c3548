//! Streamable HTTP by hand: calls are answered by an event stream, everything else by JSON.

use std::collections::HashSet;
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::tools::{EchoEra, EchoServer, MessageOutput};

/// The body size limit: more than any request here has.
const BODY: usize = 1 << 20;

/// The state shared by the connections.
struct EchoSite {
    server: Arc<EchoServer>,
    /// The sessions of this process; a killed server has forgotten all of its own.
    sessions: Mutex<HashSet<String>>,
}

/// The parts of a request that are used here.
#[derive(Default)]
struct HttpRequest {
    method: String,
    session: Option<String>,
    body: Vec<u8>,
}

/// Serves until standard input ends; prints a line when it listens.
pub(crate) async fn serve_http(server: Arc<EchoServer>, port: u16) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let site = Arc::new(EchoSite { server, sessions: Mutex::default() });
    let mut output = tokio::io::stdout();
    output.write_all(b"listening\n").await?;
    output.flush().await?;
    let accept = async {
        loop {
            let (stream, _) = listener.accept().await?;
            let site = Arc::clone(&site);
            // An I/O error on one connection does not affect the others.
            tokio::spawn(async move { site.serve_connection(stream).await });
        }
    };
    tokio::select! {
        failed = accept => failed,
        ended = async { tokio::io::copy(&mut tokio::io::stdin(), &mut tokio::io::sink()).await } => {
            ended.map(drop)
        }
    }
}

impl EchoSite {
    async fn serve_connection(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut stream = BufReader::new(stream);
        while let Some(request) = HttpRequest::read(&mut stream).await? {
            self.answer_request(&request, &mut stream).await?;
        }
        Ok(())
    }

    async fn answer_request(
        &self,
        request: &HttpRequest,
        stream: &mut BufReader<TcpStream>,
    ) -> io::Result<()> {
        let is_old = self.server.era == EchoEra::Old;
        let is_known = request.session.as_ref().is_some_and(|id| self.lock_sessions().contains(id));
        let Ok(message) = serde_json::from_slice::<Value>(&request.body) else {
            let status = if request.method == "DELETE" { "200 OK" } else { "405 Method Not Allowed" };
            return stream.write_all(&format_response(status, None, "")).await;
        };
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        let is_greeting = method == "initialize";
        if is_old && !is_greeting && !is_known {
            return stream.write_all(&format_response("404 Not Found", None, "session not found")).await;
        }
        let (sender, messages) = mpsc::unbounded_channel();
        let output = MessageOutput::new(sender);
        if method == "tools/call" {
            return self.stream_answer(&message, (output, messages), stream).await;
        }
        let session = (is_old && is_greeting).then(|| self.open_session());
        let response = match self.server.answer_message(&message, &output).await {
            Some(answer) => format_response("200 OK", session.as_deref(), &answer.to_string()),
            None => format_response("202 Accepted", None, ""),
        };
        stream.write_all(&response).await
    }

    /// Answers a call by an event stream, until the client closes the connection.
    async fn stream_answer(
        &self,
        message: &Value,
        (output, mut messages): (MessageOutput, mpsc::UnboundedReceiver<Value>),
        stream: &mut BufReader<TcpStream>,
    ) -> io::Result<()> {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        let mut bytes = head.to_owned();
        let mut answer = std::pin::pin!(self.server.answer_message(message, &output));
        loop {
            tokio::select! {
                biased;
                Some(sent) = messages.recv() => {
                    bytes += &format_event(&sent);
                    while let Ok(more) = messages.try_recv() {
                        bytes += &format_event(&more);
                    }
                }
                done = &mut answer => {
                    while let Ok(more) = messages.try_recv() {
                        bytes += &format_event(&more);
                    }
                    bytes += &done.as_ref().map(format_event).unwrap_or_default();
                    bytes += "0\r\n\r\n";
                    return stream.write_all(bytes.as_bytes()).await;
                }
                more = stream.fill_buf(), if bytes.is_empty() => {
                    if more?.is_empty() {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
            }
            stream.write_all(bytes.as_bytes()).await?;
            bytes.clear();
        }
    }

    /// Opens a session; its id contains the process id, so that it is unknown after a restart.
    fn open_session(&self) -> String {
        let mut sessions = self.lock_sessions();
        let session = format!("{}-{}", std::process::id(), sessions.len());
        sessions.insert(session.clone());
        session
    }

    fn lock_sessions(&self) -> MutexGuard<'_, HashSet<String>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HttpRequest {
    async fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Self>> {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        let method = line.split(' ').next().unwrap_or_default().to_owned();
        let mut request = Self { method, ..Self::default() };
        let mut length = 0;
        loop {
            line.clear();
            stream.read_line(&mut line).await?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().map_err(io::Error::other)?,
                "mcp-session-id" => request.session = Some(value.trim().to_owned()),
                _ => {}
            }
        }
        request.body.resize(length.min(BODY), 0);
        stream.read_exact(&mut request.body).await?;
        Ok(Some(request))
    }
}

fn format_event(message: &Value) -> String {
    let event = format!("event: message\ndata: {message}\n\n");
    format!("{:x}\r\n{event}\r\n", event.len())
}

fn format_response(status: &str, session: Option<&str>, body: &str) -> Vec<u8> {
    let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
    let kind = if body.starts_with('{') { "application/json" } else { "text/plain" };
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{session}\r\n{body}")
        .into_bytes()
}
