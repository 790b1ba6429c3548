//! The HTTP doors, spoken to in raw bytes over real sockets.

use std::net::SocketAddr;
use std::time::Duration;

use mcparley_door::{DoorListener, DoorOptions, Doors, TokenFile, TokenPolicy};
use mcparley_gateway::{Gateway, Seal};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::client::LONG;
use crate::world::{World, logged};

const NEW: &str = "2026-07-28";

/// Doors on a port of their own.
pub(crate) struct OpenDoors {
    pub(crate) address: SocketAddr,
    pub(crate) stop: Option<oneshot::Sender<()>>,
    pub(crate) serving: JoinHandle<()>,
}

/// The head of a response, and its connection.
pub(crate) struct HttpReply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) stream: BufReader<TcpStream>,
}

pub(crate) fn options() -> DoorOptions {
    DoorOptions { has_sse: true, ..DoorOptions::new(TokenPolicy::Open, Seal::in_memory().unwrap()) }
}

impl OpenDoors {
    /// Opens doors without tokens.
    pub(crate) async fn open_plain(gateway: &Gateway) -> Self {
        Self::open(gateway, options()).await
    }

    /// Opens doors for the principals `a` and `b`, whose tokens are `secret-a` and `secret-b`.
    pub(crate) async fn open_for_two(gateway: &Gateway, folder: &std::path::Path) -> Self {
        let path = folder.join("tokens");
        drop(TokenFile::open(&path).unwrap());
        std::fs::write(&path, "a:secret-a\nb:secret-b\n").unwrap();
        let (file, _) = TokenFile::open(&path).unwrap();
        Self::open(gateway, DoorOptions { tokens: TokenPolicy::File(file), ..options() }).await
    }

    pub(crate) async fn open(gateway: &Gateway, options: DoorOptions) -> Self {
        let listener = DoorListener::bind_tcp("127.0.0.1:0".parse().unwrap(), false).await.unwrap();
        let address = listener.address().unwrap();
        let doors = Doors::new(gateway, options, vec![listener]);
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(doors.serve_until(async move { drop(stopped.await) }));
        Self { address, stop: Some(stop), serving }
    }

    /// Sends a request of raw header lines, and reads the head of the response.
    pub(crate) async fn send(&self, start: &str, headers: &[(&str, &str)], body: &str) -> HttpReply {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut text = format!("{start} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            text += &format!("Host: {}\r\n", self.address);
        }
        for (name, value) in headers.iter().filter(|(_, value)| *value != "-") {
            text += &format!("{name}: {value}\r\n");
        }
        if !body.is_empty() {
            text += &format!("Content-Length: {}\r\n", body.len());
        }
        stream.write_all(format!("{text}\r\n{body}").as_bytes()).await.unwrap();
        HttpReply::read(stream).await
    }

    pub(crate) async fn post(&self, headers: &[(&str, &str)], message: &Value) -> HttpReply {
        let mut all =
            vec![("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
        all.extend_from_slice(headers);
        self.send("POST /mcp", &all, &message.to_string()).await
    }

    /// Does the handshake of the old era, and returns the session id.
    pub(crate) async fn initialize(
        &self,
        version: &str,
        capabilities: Value,
        headers: &[(&str, &str)],
    ) -> String {
        let params = json!({
            "protocolVersion": version, "capabilities": capabilities,
            "clientInfo": { "name": "raw", "version": "1" },
        });
        let reply = self.post(headers, &request(0, "initialize", params)).await;
        assert_eq!(reply.status, 200);
        let id = reply.header("mcp-session-id").expect("a session id").to_owned();
        assert_eq!(reply.json().await["result"]["protocolVersion"], version);
        let mut all = vec![("Mcp-Session-Id", id.as_str())];
        all.extend_from_slice(headers);
        let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.post(&all, &done).await.status, 202);
        id
    }

    pub(crate) async fn post_new(&self, headers: &[(&str, &str)], method: &str, params: Value) -> HttpReply {
        self.post_capable(headers, method, params, &json!({})).await
    }

    /// Posts a request of the new era with these capabilities.
    pub(crate) async fn post_capable(
        &self,
        headers: &[(&str, &str)],
        method: &str,
        mut params: Value,
        capabilities: &Value,
    ) -> HttpReply {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(NEW);
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
        let mut all = vec![("MCP-Protocol-Version", NEW), ("Mcp-Method", method)];
        let name = params["name"].as_str().map(str::to_owned);
        if let Some(name) = &name {
            all.push(("Mcp-Name", name));
        }
        all.retain(|(name, _)| !headers.iter().any(|(other, _)| other == name));
        all.extend_from_slice(headers);
        self.post(&all, &request(1, method, params)).await
    }
}

impl Drop for OpenDoors {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl HttpReply {
    pub(crate) async fn read(stream: TcpStream) -> Self {
        tokio::time::timeout(LONG, Self::read_slowly(stream)).await.expect("a head in time")
    }

    /// Reads the head of a response that may take as long as it wants.
    pub(crate) async fn read_slowly(stream: TcpStream) -> Self {
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

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    pub(crate) async fn text(mut self) -> String {
        let length = self.header("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        tokio::time::timeout(LONG, self.stream.read_exact(&mut body)).await.unwrap().unwrap();
        String::from_utf8(body).unwrap()
    }

    pub(crate) async fn json(self) -> Value {
        serde_json::from_str(&self.text().await).unwrap()
    }

    /// The next line of an event stream with this prefix; `None` at the end.
    pub(crate) async fn line(&mut self, prefix: &str) -> Option<String> {
        assert_eq!(self.header("content-type"), Some("text/event-stream"));
        loop {
            let mut line = String::new();
            let read = tokio::time::timeout(LONG, self.stream.read_line(&mut line)).await;
            if read.expect("a line in time").unwrap() == 0 || line.trim_end() == "0" {
                return None;
            }
            if let Some(rest) = line.strip_prefix(prefix) {
                return Some(rest.trim().to_owned());
            }
        }
    }

    /// The next message of an event stream.
    pub(crate) async fn event(&mut self) -> Option<Value> {
        loop {
            let data = self.line("data:").await?;
            if !data.is_empty() {
                return Some(serde_json::from_str(&data).unwrap());
            }
        }
    }
}

pub(crate) fn request(id: u64, method: &str, params: Value) -> Value {
    let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": method });
    message["params"] = params;
    message
}

pub(crate) fn call(id: u64, name: &str, arguments: Value) -> Value {
    let mut params = json!({ "name": name });
    params["arguments"] = arguments;
    request(id, "tools/call", params)
}

// G1
#[tokio::test]
async fn session_of_the_old_era_lists_calls_and_ends() {
    let served = World::one().allow("mcp__one").gateway();
    let doors = OpenDoors::open(&served, options()).await;
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let id = doors.initialize(version, json!({}), &[]).await;
        let session = [("Mcp-Session-Id", id.as_str()), ("MCP-Protocol-Version", version)];
        let tools = doors.post(&session, &request(1, "tools/list", json!({}))).await;
        assert_eq!(tools.header("content-type"), Some("application/json"));
        assert!(tools.text().await.contains("one__echo"));
        let echo = call(2, "one__echo", json!({ "message": "hello" }));
        let done = doors.post(&session, &echo).await.json().await;
        assert_eq!((&done["id"], &done["result"]["content"][0]["text"]), (&json!(2), &json!("hello")));
        assert_eq!(doors.send("DELETE /mcp", &session, "").await.status, 200);
        assert_eq!(doors.post(&session, &request(3, "ping", json!({}))).await.status, 404);
    }
    assert_eq!(doors.post(&[], &request(3, "tools/list", json!({}))).await.status, 400);
}

// G1 B93
#[tokio::test]
async fn session_is_restored_from_its_id_for_its_principal_only() {
    let served = World::one().allow("mcp__one").gateway();
    let folder = tempfile::tempdir().unwrap();
    let (key, tokens) = (folder.path().join("s/seal"), folder.path().join("s/tokens"));
    let open = || {
        let (file, _) = TokenFile::open(&tokens).unwrap();
        DoorOptions { seal: Seal::from_file(&key).unwrap(), tokens: TokenPolicy::File(file), ..options() }
    };
    drop(open());
    std::fs::write(&tokens, "a:secret-a\nb:secret-b\n").unwrap();
    let first = OpenDoors::open(&served, open()).await;
    let ours = ("Authorization", "Bearer secret-a");
    let id = first.initialize("2025-11-25", json!({}), &[ours]).await;
    drop(first);
    let second = OpenDoors::open(&served, open()).await;
    let list = request(1, "tools/list", json!({}));
    let session = ("Mcp-Session-Id", id.as_str());
    let theirs = ("Authorization", "Bearer secret-b");
    assert_eq!(second.post(&[session, theirs], &list).await.status, 404);
    let reply = second.post(&[session, ours], &list).await;
    assert_eq!(reply.status, 200);
    assert!(reply.text().await.contains("one__echo"));
    assert_eq!(second.post(&[session, theirs], &list).await.status, 404);
    assert_eq!(second.post(&[("Mcp-Session-Id", "mp1.guess"), ours], &list).await.status, 404);
}

// G4 B88
#[tokio::test]
async fn request_without_valid_token_is_challenged() {
    let served = World::one().gateway();
    let folder = tempfile::tempdir().unwrap();
    let (file, generated) = TokenFile::open(&folder.path().join("private/tokens")).unwrap();
    let token = generated.expect("a new token");
    let doors = OpenDoors::open(&served, DoorOptions { tokens: TokenPolicy::File(file), ..options() }).await;
    let ping = request(1, "initialize", json!({ "protocolVersion": "2025-11-25" }));
    let bearer = format!("Bearer {}", token.as_str());
    let twice = [("Authorization", bearer.as_str()), ("Authorization", bearer.as_str())];
    let wrong = [("Authorization", "Bearer wrong")];
    for headers in [&[] as &[(&str, &str)], &wrong, &twice, &[("Authorization", "Basic eDp5")]] {
        let refused = doors.post(headers, &ping).await;
        assert_eq!(refused.status, 401, "{headers:?}");
        assert!(refused.header("www-authenticate").unwrap().starts_with("Bearer"));
    }
    let query = format!("POST /mcp?access_token={}", token.as_str());
    let json = [("Content-Type", "application/json")];
    assert_eq!(doors.send(&query, &json, &ping.to_string()).await.status, 401);
    assert_eq!(doors.post(&[("Authorization", &bearer)], &ping).await.status, 200);
    assert_eq!(doors.send("GET /healthz", &[], "").await.status, 200);
}

// B85 B86
#[tokio::test]
async fn foreign_hosts_and_origins_are_refused() {
    let served = World::one().gateway();
    let origins = vec!["https://app.example".to_owned()];
    let doors = OpenDoors::open(&served, DoorOptions { origins, ..options() }).await;
    let hello = request(1, "initialize", json!({ "protocolVersion": "2025-11-25" }));
    let port = doors.address.port();
    let (other, local) = (format!("127.0.0.1:{}", port ^ 1), format!("localhost:{port}"));
    let hosts: [(&[(&str, &str)], u16); 7] = [
        (&[("Host", "evil.com")], 403),
        (&[("Host", "127.0.0.1.evil.com")], 403),
        (&[("Host", &other)], 403),
        (&[("Host", "localhost"), ("Host", "evil.com")], 403),
        (&[("Host", "-")], 421),
        (&[("Host", &local)], 200),
        (&[("Host", "localhost")], 200),
    ];
    for (headers, status) in hosts {
        assert_eq!(doors.post(headers, &hello).await.status, status, "{headers:?}");
    }
    let json = [("Content-Type", "application/json")];
    let absolute = doors.send("POST http://evil.com/mcp", &json, &hello.to_string()).await;
    assert_eq!(absolute.status, 403);
    let (own, other) = (format!("http://127.0.0.1:{port}"), format!("http://{other}"));
    for (origin, status) in [
        ("https://evil.com", 403),
        ("null", 403),
        ("http://localhost.evil", 403),
        ("http://localhost", 403),
        (other.as_str(), 403),
        (own.as_str(), 200),
        ("https://app.example", 200),
    ] {
        assert_eq!(doors.post(&[("Origin", origin)], &hello).await.status, status, "{origin}");
    }
    let twice = [("Origin", own.as_str()), ("Origin", own.as_str())];
    assert_eq!(doors.post(&twice, &hello).await.status, 403);
    let asked = doors.send("OPTIONS /mcp", &[("Origin", "https://app.example")], "").await;
    assert_eq!(
        (asked.status, asked.header("access-control-allow-origin")),
        (204, Some("https://app.example"))
    );
    let wanted =
        [("Origin", "https://app.example"), ("Access-Control-Request-Headers", "mcp-param-region, x-evil")];
    let asked = doors.send("OPTIONS /mcp", &wanted, "").await;
    let allowed = asked.header("access-control-allow-headers").unwrap();
    assert!(allowed.ends_with(", mcp-param-region"), "{allowed}");
    let exposed = asked.header("access-control-expose-headers").unwrap();
    assert!(exposed.contains("www-authenticate"), "{exposed}");
    assert_eq!(doors.send("OPTIONS /mcp", &[("Origin", "https://evil.com")], "").await.status, 405);
}

// B90
#[tokio::test]
async fn address_of_other_machines_needs_permission() {
    let wildcard: SocketAddr = "0.0.0.0:0".parse().unwrap();
    assert!(DoorListener::bind_tcp(wildcard, false).await.is_err());
    assert!(DoorListener::bind_tcp(wildcard, true).await.is_ok());
}

// G2 B97
#[tokio::test]
async fn new_era_request_is_checked_against_its_headers() {
    let served = World::one().allow("mcp__one").gateway();
    let doors = OpenDoors::open(&served, options()).await;
    let echo = || json!({ "name": "one__echo", "arguments": { "message": "hi" } });
    let listed = doors.post_new(&[], "tools/list", json!({})).await;
    assert_eq!(listed.status, 200);
    assert!(listed.header("mcp-session-id").is_none());
    let done = doors.post_new(&[], "tools/call", echo()).await.json().await;
    assert_eq!(done["result"]["content"][0]["text"], "hi", "{done}");
    let encoded = doors.post_new(&[("Mcp-Name", "=?base64?b25lX19lY2hv?=")], "tools/call", echo());
    assert_eq!(encoded.await.status, 200);
    for header in [
        ("MCP-Protocol-Version", "-"),
        ("MCP-Protocol-Version", "2025-11-25"),
        ("Mcp-Method", "-"),
        ("Mcp-Method", "tools/list"),
        ("Mcp-Name", "-"),
        ("Mcp-Name", "ONE__echo"),
        ("Mcp-Name", "=?base64?!?="),
    ] {
        let refused = doors.post_new(&[header], "tools/call", echo()).await;
        assert_eq!(refused.status, 400, "{header:?}");
        let error = refused.json().await;
        assert_eq!((&error["error"]["code"], &error["id"]), (&json!(-32020), &json!(1)), "{header:?}");
    }
    for method in ["ping", "initialize", "no/such"] {
        let refused = doors.post_new(&[], method, json!({})).await;
        assert_eq!((refused.status, &refused.json().await["error"]["code"]), (404, &json!(-32601)));
    }
    let headers = [("MCP-Protocol-Version", NEW), ("Mcp-Method", "tools/list")];
    let bare = doors.post(&headers, &request(1, "tools/list", json!({}))).await;
    assert_eq!((bare.status, &bare.json().await["error"]["code"]), (400, &json!(-32602)));
    let reply = doors.post(&headers, &json!({ "jsonrpc": "2.0", "id": 1, "result": {} })).await;
    assert_eq!(reply.status, 400);
    assert_eq!(doors.send("GET /mcp", &[("MCP-Protocol-Version", NEW)], "").await.status, 405);
}

#[tokio::test]
async fn unsuitable_requests_are_refused_with_their_status() {
    let served = World::one().gateway();
    let doors = OpenDoors::open(&served, options()).await;
    let json = ("Content-Type", "application/json");
    let body = request(1, "ping", json!({})).to_string();
    assert_eq!(doors.send("POST /other", &[json], &body).await.status, 404);
    let put = doors.send("PUT /mcp", &[json], &body).await;
    assert_eq!((put.status, put.header("allow")), (405, Some("POST, GET, DELETE")));
    assert_eq!(doors.send("POST /mcp", &[("Content-Type", "text/plain")], &body).await.status, 415);
    assert_eq!(doors.send("POST /mcp", &[json, ("Accept", "text/html")], &body).await.status, 406);
    let long = "x".repeat(40 * 1024);
    assert_eq!(doors.send("POST /mcp", &[json, ("X-Long", &long)], &body).await.status, 431);
    let large = [json, ("Content-Length", "99999999")];
    assert_eq!(doors.send("POST /mcp", &large, "").await.status, 413);
    for (text, code) in [("{", -32700), ("no", -32700), ("{\"jsonrpc\":\"2.0\"}", -32600), ("[]", -32600)] {
        let refused = doors.send("POST /mcp", &[json], text).await;
        assert_eq!(refused.status, 400, "{text}");
        assert_eq!(refused.json().await["error"]["code"], code, "{text}");
    }
}

// F91
#[tokio::test]
async fn closed_connection_cancels_the_call_at_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let served = World::with([("one", logged(&[], &log))]).allow("mcp__one").gateway();
    let doors = OpenDoors::open(&served, options()).await;
    let _tools = doors.post_new(&[], "tools/list", json!({})).await.text().await;
    let mut stream = TcpStream::connect(doors.address).await.unwrap();
    let params = json!({ "name": "one__slow", "arguments": { "ms": 60_000 }, "_meta": {
        "io.modelcontextprotocol/protocolVersion": NEW, "io.modelcontextprotocol/clientCapabilities": {} } });
    let body = request(1, "tools/call", params).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nMCP-Protocol-Version: {NEW}\r\n\
         Mcp-Method: tools/call\r\nMcp-Name: one__slow\r\nContent-Length: {}\r\n\r\n{body}",
        doors.address,
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    wait_for_log(&log, "tools/call").await;
    drop(stream);
    wait_for_log(&log, "notifications/cancelled").await;
}

pub(crate) async fn wait_for_log(log: &std::path::Path, text: &str) {
    let found = async {
        while !std::fs::read_to_string(log).unwrap_or_default().contains(text) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LONG, found).await.unwrap_or_else(|_| panic!("no `{text}` at the server"));
}

// G1
#[tokio::test]
async fn legacy_event_stream_carries_the_answers_of_posts() {
    let served = World::one().allow("mcp__one").gateway();
    let doors = OpenDoors::open(&served, options()).await;
    let mut events = doors.send("GET /sse", &[("Accept", "text/event-stream")], "").await;
    assert_eq!(events.line("event:").await.as_deref(), Some("endpoint"));
    let path = events.line("data:").await.unwrap();
    let hello = json!({ "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {} });
    let json = [("Content-Type", "application/json")];
    for message in [request(1, "initialize", hello), call(2, "one__echo", json!({ "message": "old" }))] {
        let sent = doors.send(&format!("POST {path}"), &json, &message.to_string()).await;
        assert_eq!(sent.status, 202);
        let answer = events.event().await.unwrap();
        assert_eq!(answer["id"], message["id"], "{answer}");
    }
    drop(events);
    let gone = async { while doors.send(&format!("POST {path}"), &json, "{}").await.status != 404 {} };
    tokio::time::timeout(LONG, gone).await.expect("the session ends with its stream");
}

// X5 F93
#[tokio::test]
async fn doors_finish_calls_before_they_close() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let served = World::with([("one", logged(&[], &log))]).allow("mcp__one").gateway();
    let mut doors = OpenDoors::open(&served, options()).await;
    let id = doors.initialize("2025-11-25", json!({}), &[]).await;
    let session = [("Mcp-Session-Id", id.as_str())];
    let _tools = doors.post(&session, &request(1, "tools/list", json!({}))).await.text().await;
    let slow = call(2, "one__slow", json!({ "ms": 300 }));
    let metrics = doors.send("GET /metrics", &[], "").await.text().await;
    assert!(metrics.contains("mcparley_sessions 1"), "{metrics}");
    let stop = doors.stop.take();
    let stopping = async {
        wait_for_log(&log, "tools/call").await;
        drop(stop);
        while doors.send("GET /readyz", &[], "").await.status == 200 {}
        let hello = request(1, "initialize", json!({ "protocolVersion": "2025-11-25" }));
        let refused = doors.post(&[], &hello).await;
        assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    };
    let (done, ()) = tokio::join!(doors.post(&session, &slow), stopping);
    assert_eq!(done.status, 200);
    assert!(done.json().await.get("result").is_some());
    tokio::time::timeout(LONG, &mut doors.serving).await.expect("an end in time").unwrap();
}
