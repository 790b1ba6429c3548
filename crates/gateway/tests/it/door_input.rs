//! Who may use the doors: tables of hosts, origins, tokens and principals, and what is refused how.

use std::time::Duration;

use mcparley_door::{DoorOptions, TokenFile, TokenPolicy};
use mcparley_testkit::{HttpServer, ScriptedStdio, log_lines};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::client::LONG;
use crate::door::{HttpReply, OpenDoors, call, options, request};
use crate::world::{World, logged};

fn hello() -> Value {
    request(1, "initialize", json!({ "protocolVersion": "2025-11-25" }))
}

/// Sends raw bytes and reads the head of the response.
pub(crate) async fn send_raw(doors: &OpenDoors, bytes: impl AsRef<[u8]>) -> HttpReply {
    let mut stream = TcpStream::connect(doors.address).await.unwrap();
    stream.write_all(bytes.as_ref()).await.unwrap();
    HttpReply::read(stream).await
}

// B85 H03
#[tokio::test]
async fn host_is_compared_in_every_form_of_the_request() {
    let served = World::one().gateway();
    let hosts = vec!["tools.example".to_owned()];
    let doors = OpenDoors::open(&served, DoorOptions { hosts, ..options() }).await;
    let port = doors.address.port();
    let body = hello().to_string();
    let ours = format!("127.0.0.1:{port}");
    let table: [(&str, &[&str], u16); 14] = [
        ("/mcp", &["127.0.0.1"], 200),
        ("/mcp", &["[::1]"], 200),
        ("/mcp", &["LOCALHOST"], 200),
        ("/mcp", &["tools.example"], 200),
        ("/mcp", &["tools.example.evil.com"], 403),
        ("/mcp", &["127.0.0.1.evil.com"], 403),
        ("/mcp", &["127.0.0.1:1"], 403),
        ("/mcp", &["evil.com#127.0.0.1"], 403),
        ("/mcp", &["evil.com@127.0.0.1"], 403),
        ("/mcp", &["127.0.0.1", "127.0.0.1"], 403),
        ("/mcp", &[""], 403),
        ("/mcp", &[], 421),
        ("http://evil.com/mcp", &["127.0.0.1"], 403),
        ("http://127.0.0.1/mcp", &["evil.com"], 403),
    ];
    for (target, hosts, status) in table {
        let hosts: String = hosts.iter().map(|host| format!("Host: {host}\r\n")).collect();
        let bytes = format!(
            "POST {target} HTTP/1.1\r\n{hosts}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        assert_eq!(send_raw(&doors, bytes).await.status, status, "{target} {hosts:?}");
    }
    let absolute =
        format!("POST http://{ours}/mcp HTTP/1.1\r\nHost: {ours}\r\nContent-Type: application/json\r\n");
    let absolute = format!("{absolute}Content-Length: {}\r\n\r\n{body}", body.len());
    assert_eq!(send_raw(&doors, absolute).await.status, 200);
    // HTTP/2 is not served, so it has no `:authority` that could differ.
    let mut prior = TcpStream::connect(doors.address).await.unwrap();
    prior.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    tokio::time::timeout(LONG, prior.read_to_end(&mut answer)).await.unwrap().unwrap_or_default();
    assert!(!answer.starts_with(b"HTTP/1.1 2"), "{answer:?}");
    // Every path is checked, also those without a token.
    for path in ["/healthz", "/readyz", "/metrics", "/sse"] {
        let refused = doors.send(&format!("GET {path}"), &[("Host", "evil.com")], "").await;
        assert_eq!(refused.status, 403, "{path}");
    }
}

// B86 H03
#[tokio::test]
async fn origin_is_refused_unless_it_is_ours_or_listed() {
    let served = World::one().gateway();
    let origins = vec!["https://app.example".to_owned()];
    let doors = OpenDoors::open(&served, DoorOptions { origins, ..options() }).await;
    let port = doors.address.port();
    let (own, other) = (format!("http://localhost:{port}"), format!("http://localhost:{}", port ^ 1));
    let suffix = format!("http://localhost:{port}.evil.com");
    let table: [(&[&str], u16); 11] = [
        (&[own.as_str()], 200),
        (&["https://app.example"], 200),
        (&["https://app.example:8443"], 403),
        (&["http://app.example"], 403),
        (&["https://app.example.evil.com"], 403),
        (&["null"], 403),
        (&[""], 403),
        (&["file://"], 403),
        (&[other.as_str()], 403),
        (&[suffix.as_str()], 403),
        (&["https://app.example", "https://evil.com"], 403),
    ];
    for (origins, status) in table {
        let headers: Vec<(&str, &str)> = origins.iter().map(|origin| ("Origin", *origin)).collect();
        let reply = doors.post(&headers, &hello()).await;
        assert_eq!(reply.status, status, "{origins:?}");
        if status == 403 {
            let refusal = reply.json().await;
            assert!(refusal.get("id").is_none_or(Value::is_null), "{refusal}");
            assert_eq!(refusal["error"]["code"], -32600, "{refusal}");
        }
    }
}

/// A token file with these lines.
fn token_file(folder: &std::path::Path, lines: &str) -> TokenFile {
    let path = folder.join("private/tokens");
    drop(TokenFile::open(&path).unwrap());
    std::fs::write(&path, lines).unwrap();
    TokenFile::open(&path).unwrap().0
}

// B88 H02
#[tokio::test]
async fn token_is_refused_in_every_wrong_form_and_too_many_close_the_address() {
    let served = World::one().gateway();
    let folder = tempfile::tempdir().unwrap();
    let file = token_file(folder.path(), "a:secret-a\n");
    let doors = OpenDoors::open(&served, DoorOptions { tokens: TokenPolicy::File(file), ..options() }).await;
    // An unsigned and an expired JWT are tokens like others here.
    let unsigned = "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.";
    let wrong: [&[(&str, &str)]; 9] = [
        &[],
        &[("Authorization", "Bearer")],
        &[("Authorization", "Bearer ")],
        &[("Authorization", "Bearer secret-")],
        &[("Authorization", "Bearer secret-a secret-a")],
        &[("Authorization", "secret-a")],
        &[("Authorization", "Basic secret-a")],
        &[("Authorization", unsigned)],
        &[("Cookie", "token=secret-a")],
    ];
    for headers in wrong {
        let refused = doors.post(headers, &hello()).await;
        assert_eq!(refused.status, 401, "{headers:?}");
        let challenge = refused.header("www-authenticate").unwrap_or_default().to_owned();
        assert!(challenge.starts_with("Bearer"), "{challenge}");
        let text = refused.text().await;
        assert!(!text.contains("secret"), "{text}");
    }
    // The scheme is not case-sensitive.
    assert_eq!(doors.post(&[("authorization", "bearer secret-a")], &hello()).await.status, 200);
    for path in ["GET /mcp", "GET /sse", "DELETE /mcp"] {
        assert_eq!(doors.send(path, &[], "").await.status, 401, "{path}");
    }
    let mut last = 0;
    for _ in 0..40 {
        last = doors.post(&[("Authorization", "Bearer guess")], &hello()).await.status;
    }
    assert_eq!(last, 429, "too many guesses");
}

// B88 X4: tokens are read again when the file changes.
#[tokio::test]
async fn changed_token_file_admits_and_refuses_while_the_gateway_runs() {
    let served = World::one().gateway();
    let folder = tempfile::tempdir().unwrap();
    let file = token_file(folder.path(), "a:secret-a\n");
    let doors = OpenDoors::open(&served, DoorOptions { tokens: TokenPolicy::File(file), ..options() }).await;
    let (old, new) = (("Authorization", "Bearer secret-a"), ("Authorization", "Bearer secret-b"));
    assert_eq!(doors.post(&[old], &hello()).await.status, 200);
    std::fs::write(folder.path().join("private/tokens"), "b:secret-b\n").unwrap();
    let changed = async {
        while doors.post(&[old], &hello()).await.status != 401 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(LONG, changed).await.expect("the old token ends");
    assert_eq!(doors.post(&[new], &hello()).await.status, 200);
    // A file that other users can read admits no client.
    let path = folder.path().join("private/tokens");
    std::fs::write(&path, "b:secret-b\n\n").unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let closed = async {
        while doors.post(&[new], &hello()).await.status != 401 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(LONG, closed).await.expect("an open file is not trusted");
    // It is trusted again when its mode is, without another change.
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let opened = async {
        while doors.post(&[new], &hello()).await.status != 200 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(LONG, opened).await.expect("a private file is trusted");
}

// B91 B95 H19
#[tokio::test]
async fn headers_of_a_client_never_reach_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let server = HttpServer::start_with(&[], &["--log", &log.to_string_lossy()]);
    let served = World::with_url("one", server.url()).allow("mcp__one").gateway();
    let file = token_file(folder.path(), "a:canary-token\n");
    let doors = OpenDoors::open(&served, DoorOptions { tokens: TokenPolicy::File(file), ..options() }).await;
    let ours = ("Authorization", "Bearer canary-token");
    let more = [
        ours,
        ("Cookie", "c=canary-cookie"),
        ("X-Forwarded-For", "canary-address"),
        ("X-Forwarded-Host", "canary-host"),
        ("Forwarded", "for=canary-forwarded"),
        ("mcp-init-host", "canary-init"),
        ("router-key", "canary-router"),
        ("Mcp-Param-Canary", "canary-param"),
    ];
    let echo = json!({ "name": "one__echo", "arguments": { "message": "plain" } });
    let done = doors.post_new(&more, "tools/call", echo).await.json().await;
    assert_eq!(done["result"]["content"][0]["text"], "plain", "{done}");
    let id = doors.initialize("2025-11-25", json!({}), &more).await;
    let mut session = vec![("Mcp-Session-Id", id.as_str())];
    session.extend(more);
    let done = doors.post(&session, &call(2, "one__echo", json!({ "message": "plain" }))).await.json().await;
    assert_eq!(done["result"]["content"][0]["text"], "plain", "{done}");
    let lines = log_lines(&log);
    assert!(lines.iter().any(|line| line.text.contains("plain")), "the log has what the server got");
    for line in &lines {
        assert!(!line.text.contains("canary") && !line.text.contains(&id), "{}", line.text);
    }
    let stats = server.stats().to_string();
    assert!(!stats.contains("canary"), "{stats}");
}

// B93 H20
#[tokio::test]
async fn sessions_states_and_event_streams_are_of_one_principal() {
    let server = ScriptedStdio::new(&["server-request:elicitation/create"]);
    let served = World::with([("one", server)]).allow("mcp__one").gateway();
    let folder = tempfile::tempdir().unwrap();
    let file = token_file(folder.path(), "a:secret-a\nb:secret-b\n");
    let doors = OpenDoors::open(&served, DoorOptions { tokens: TokenPolicy::File(file), ..options() }).await;
    let (a, b) = (("Authorization", "Bearer secret-a"), ("Authorization", "Bearer secret-b"));
    let id = doors.initialize("2025-11-25", json!({ "elicitation": {} }), &[a]).await;
    let session = ("Mcp-Session-Id", id.as_str());
    let events = ("Accept", "text/event-stream");
    // Every use of the session by the other principal.
    assert_eq!(doors.post(&[session, b], &request(2, "tools/list", json!({}))).await.status, 404);
    assert_eq!(doors.send("GET /mcp", &[session, b, events], "").await.status, 404);
    assert_eq!(doors.send("DELETE /mcp", &[session, b], "").await.status, 404);
    // The answer of another principal to an open question does not count.
    let mut asked = doors.post(&[session, a], &call(3, "one__echo", json!({ "message": "x" }))).await;
    let last = asked.line("id:").await.unwrap();
    let question = asked.event().await.unwrap();
    let answer = |name: &str| {
        let result = json!({ "action": "accept", "content": { "name": name } });
        json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })
    };
    assert_eq!(doors.post(&[session, b], &answer("Mallory")).await.status, 404);
    assert_eq!(doors.send("GET /mcp", &[session, b, events, ("Last-Event-ID", &last)], "").await.status, 404);
    let own = doors.initialize("2025-11-25", json!({}), &[b]).await;
    let stolen = [("Mcp-Session-Id", own.as_str()), b, events, ("Last-Event-ID", last.as_str())];
    let mut stolen = doors.send("GET /mcp", &stolen, "").await;
    let unknown = stolen.event().await.unwrap();
    assert_eq!(unknown["error"]["code"], -32603, "the stream is unknown in another session: {unknown}");
    assert_eq!(doors.post(&[session, a], &answer("Ada")).await.status, 202);
    let done = asked.event().await.unwrap();
    assert!(done["result"]["content"][0]["text"].as_str().unwrap().contains("Ada"), "{done}");
    // A parked call of the new era.
    let echo = json!({ "name": "one__echo", "arguments": { "message": "x" } });
    let can = json!({ "elicitation": { "form": {} } });
    let parked = doors.post_capable(&[a], "tools/call", echo.clone(), &can).await.json().await;
    let mut again = echo;
    again["requestState"] = parked["result"]["requestState"].clone();
    again["inputResponses"] =
        json!({ "elicitation-1": { "action": "accept", "content": { "name": "Eve" } } });
    let refused = doors.post_capable(&[b], "tools/call", again.clone(), &can).await.json().await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let done = doors.post_capable(&[a], "tools/call", again, &can).await.json().await;
    assert!(done["result"]["content"][0]["text"].as_str().unwrap().contains("Eve"), "{done}");
    // Guessed and damaged ids.
    let mut damaged = id.clone();
    damaged.pop();
    for guess in ["", "1", "mp1.", "mp1.AAAA", damaged.as_str(), &"x".repeat(5000)] {
        let reply = doors.post(&[("Mcp-Session-Id", guess), a], &request(2, "tools/list", json!({}))).await;
        assert_eq!(reply.status, 404, "{guess}");
    }
    let twice = [session, session, a];
    assert_eq!(doors.post(&twice, &request(2, "tools/list", json!({}))).await.status, 400);
}

// B94 H21
#[tokio::test]
async fn hidden_server_is_unknown_to_every_method_and_gets_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let servers = [("one", ScriptedStdio::new(&[])), ("two", logged(&["completions", "watched"], &log))];
    let served = World::with(servers).allow("mcp__one").deny("mcp__two").gateway();
    let doors = OpenDoors::open(&served, options()).await;
    let id = doors.initialize("2025-11-25", json!({}), &[]).await;
    let session = [("Mcp-Session-Id", id.as_str())];
    let _tools = doors.post(&session, &request(1, "tools/list", json!({}))).await.text().await;
    let before = log_lines(&log).len();
    let reference = json!({ "ref": { "type": "ref/prompt", "name": "two__greet" },
        "argument": { "name": "a", "value": "" } });
    let template = json!({ "ref": { "type": "ref/resource", "uri": "two+test://{x}" },
        "argument": { "name": "x", "value": "" } });
    for (method, params) in [
        ("tools/call", json!({ "name": "two__echo", "arguments": { "message": "x" } })),
        ("prompts/get", json!({ "name": "two__greet" })),
        ("resources/read", json!({ "uri": "two+test://note" })),
        ("resources/subscribe", json!({ "uri": "two+test://note" })),
        ("resources/unsubscribe", json!({ "uri": "two+test://note" })),
        ("completion/complete", reference),
        ("completion/complete", template),
    ] {
        let answer = doors.post(&session, &request(2, method, params.clone())).await.json().await;
        let is_refused = answer.get("error").is_some() || answer["result"] == json!({});
        let is_empty = answer["result"]["completion"]["values"] == json!([]);
        assert!(is_refused || is_empty, "{method} {params}: {answer}");
        assert!(!answer.to_string().contains("denied"), "{answer}");
    }
    assert_eq!(log_lines(&log).len(), before, "nothing went up");
}
