//! A client over HTTP in raw bytes: one connection for each POST, and the event stream of a session.
//!
//! A client of 2024-11-05 uses HTTP+SSE, every other one Streamable HTTP.

use std::collections::HashMap;
use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};

use crate::client::NEW;

const LEGACY: &str = "2024-11-05";

/// The link of one client.
pub(crate) struct HttpLink {
    address: SocketAddr,
    version: String,
    /// The id of the session (old era).
    session: Option<String>,
    /// The bearer token.
    token: Option<String>,
    /// The path for messages.
    endpoint: String,
    sender: mpsc::UnboundedSender<String>,
    received: mpsc::UnboundedReceiver<String>,
    /// The readers of responses, which end with the link.
    readers: JoinSet<()>,
    /// The readers by the id of their request.
    streams: HashMap<String, AbortHandle>,
}

/// A response whose head is read.
struct HttpResponse {
    status: u16,
    headers: HashMap<String, String>,
    stream: BufReader<TcpStream>,
}

impl HttpLink {
    /// Connects a client of this revision; one of 2024-11-05 opens its event stream.
    pub(crate) async fn connect(address: SocketAddr, version: &str) -> Self {
        let (sender, received) = mpsc::unbounded_channel();
        let mut link = Self {
            address,
            version: version.to_owned(),
            session: None,
            token: None,
            endpoint: "/mcp".to_owned(),
            sender,
            received,
            readers: JoinSet::new(),
            streams: HashMap::new(),
        };
        if version == LEGACY {
            let (endpoint, named) = oneshot::channel();
            link.open_events("/sse", Some(endpoint)).await;
            link.endpoint = named.await.unwrap();
        }
        link
    }

    /// Authenticates all later requests.
    pub(crate) fn with_token(self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self }
    }

    /// Posts a message. The messages of its response are read in the background.
    pub(crate) async fn send(&mut self, message: &[u8]) {
        let parsed: Value = serde_json::from_slice(message).unwrap_or_default();
        let method = parsed["method"].as_str().unwrap_or_default();
        let stream = self.write_post(&parsed, message).await;
        let is_request = parsed.get("id").is_some() && parsed.get("method").is_some();
        if !is_request || self.version == LEGACY {
            assert_eq!(HttpResponse::read(stream).await.status, 202, "{parsed}");
            if method == "notifications/initialized" && self.version != LEGACY {
                self.open_events("/mcp", None).await;
            }
            return;
        }
        let sender = self.sender.clone();
        if method == "initialize" {
            let response = HttpResponse::read(stream).await;
            self.session = response.headers.get("mcp-session-id").cloned();
            response.forward_messages(&sender, None).await;
            return;
        }
        let reader = self.readers.spawn(async move {
            HttpResponse::read(stream).await.forward_messages(&sender, None).await;
        });
        self.streams.insert(parsed["id"].to_string(), reader);
    }

    pub(crate) async fn next_message(&mut self) -> Option<String> {
        self.received.recv().await
    }

    /// Closes the connection of a request of the new era.
    pub(crate) fn close_stream(&mut self, id: &Value) -> bool {
        if self.version != NEW {
            return false;
        }
        self.streams.remove(&id.to_string()).unwrap().abort();
        true
    }

    async fn write_post(&self, parsed: &Value, body: &[u8]) -> TcpStream {
        let mut head = format!("POST {} HTTP/1.1\r\nHost: {}\r\n", self.endpoint, self.address);
        head += "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
        if self.version == NEW {
            let (method, params) = (parsed["method"].as_str().unwrap_or_default(), &parsed["params"]);
            head += &format!("MCP-Protocol-Version: {NEW}\r\nMcp-Method: {method}\r\n");
            let name = match method {
                "tools/call" | "prompts/get" => params["name"].as_str(),
                "resources/read" => params["uri"].as_str(),
                method if method.starts_with("tasks/") => params["taskId"].as_str(),
                _ => None,
            };
            head += &name.map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
        }
        head += &self.session_headers();
        head += &format!("Content-Length: {}\r\n\r\n", body.len());
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(&[head.as_bytes(), body].concat()).await.unwrap();
        stream
    }

    fn session_headers(&self) -> String {
        let token = self.token.as_ref().map(|token| format!("Authorization: Bearer {token}\r\n"));
        let token = token.unwrap_or_default();
        let Some(session) = &self.session else { return token };
        format!("{token}Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: {}\r\n", self.version)
    }

    /// Opens the event stream of a session.
    async fn open_events(&mut self, path: &str, endpoint: Option<oneshot::Sender<String>>) {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\n", self.address);
        stream.write_all(format!("{head}{}\r\n", self.session_headers()).as_bytes()).await.unwrap();
        let response = HttpResponse::read(stream).await;
        assert_eq!(response.status, 200, "{path}");
        let sender = self.sender.clone();
        self.readers.spawn(async move { response.forward_messages(&sender, endpoint).await });
    }
}

impl HttpResponse {
    async fn read(stream: TcpStream) -> Self {
        let mut stream = BufReader::new(stream);
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await.unwrap();
            if line.trim().is_empty() {
                break;
            }
            lines.push(line.trim().to_owned());
        }
        let status = lines.first().and_then(|line| line.split(' ').nth(1)).unwrap().parse().unwrap();
        let header = |line: &String| {
            let (name, value) = line.split_once(':').unwrap();
            (name.to_ascii_lowercase(), value.trim().to_owned())
        };
        Self { status, headers: lines.iter().skip(1).map(header).collect(), stream }
    }

    /// Forwards the message of a JSON body, or all messages of an event stream.
    async fn forward_messages(
        mut self,
        sender: &mpsc::UnboundedSender<String>,
        mut endpoint: Option<oneshot::Sender<String>>,
    ) {
        if self.headers.get("content-type").map(String::as_str) != Some("text/event-stream") {
            let length = self.headers.get("content-length").map_or(0, |length| length.parse().unwrap());
            let mut body = vec![0; length];
            self.stream.read_exact(&mut body).await.unwrap();
            if length > 0 {
                drop(sender.send(String::from_utf8(body).unwrap()));
            }
            return;
        }
        let (mut text, mut kind) = (Vec::new(), String::new());
        while let Some(chunk) = self.next_chunk().await {
            text.extend(chunk);
            while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = text.drain(..=end).collect();
                let line = String::from_utf8(line).unwrap();
                if let Some(event) = line.strip_prefix("event:") {
                    event.trim().clone_into(&mut kind);
                }
                let Some(data) = line.strip_prefix("data:").map(str::trim) else { continue };
                match endpoint.take_if(|_| kind == "endpoint") {
                    Some(endpoint) => endpoint.send(data.to_owned()).unwrap(),
                    None if data.is_empty() => {}
                    None => drop(sender.send(data.to_owned())),
                }
                kind.clear();
            }
        }
    }

    /// The next part of a chunked body; `None` at its end.
    async fn next_chunk(&mut self) -> Option<Vec<u8>> {
        let mut size = String::new();
        if self.stream.read_line(&mut size).await.ok()? == 0 {
            return None;
        }
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        let mut chunk = vec![0; size + 2];
        self.stream.read_exact(&mut chunk).await.ok()?;
        chunk.truncate(size);
        (size > 0).then_some(chunk)
    }
}
