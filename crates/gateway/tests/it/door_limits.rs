//! Limits of the doors and their end: proxies, batches, subscriptions, bodies, sockets, stopping.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::Duration;

use mcparley::BoxedFuture;
use mcparley_door::{DoorListener, DoorOptions, PageBody, PageHandler, PageRequest, TokenFile, TokenPolicy};
use mcparley_gateway::Seal;
use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::client::LONG;
use crate::door::{HttpReply, OpenDoors, call, options, request, wait_for_log};
use crate::world::{World, logged};

fn hello() -> Value {
    request(1, "initialize", json!({ "protocolVersion": "2025-11-25" }))
}

/// Options with a file of tokens.
fn with_tokens(folder: &std::path::Path, lines: &str) -> DoorOptions {
    let path = folder.join("private/tokens");
    drop(TokenFile::open(&path).unwrap());
    std::fs::write(&path, lines).unwrap();
    DoorOptions { tokens: TokenPolicy::File(TokenFile::open(&path).unwrap().0), ..options() }
}

/// The messages of an event stream, to its end.
async fn all_events(mut reply: HttpReply) -> Vec<Value> {
    let mut events = Vec::new();
    while let Some(event) = reply.event().await {
        events.push(event);
    }
    events
}

// B88 H02
#[tokio::test]
async fn valid_token_still_works_after_many_wrong_ones_from_the_same_address() {
    let served = World::one().gateway();
    let folder = tempfile::tempdir().unwrap();
    let doors = OpenDoors::open(&served, with_tokens(folder.path(), "a:secret-a\n")).await;
    let mut statuses = Vec::new();
    for _ in 0..40 {
        statuses.push(doors.post(&[("Authorization", "Bearer guess")], &hello()).await.status);
    }
    assert_eq!(statuses[..30], [401; 30]);
    assert_eq!(statuses[30..], [429; 10]);
    assert_eq!(doors.post(&[("Authorization", "Bearer secret-a")], &hello()).await.status, 200);
}

// H02 X4
#[tokio::test]
async fn metrics_need_a_token_through_a_proxy_on_the_same_machine() {
    let served = World::one().gateway();
    let folder = tempfile::tempdir().unwrap();
    let hosts = vec!["tools.example".to_owned()];
    let options = DoorOptions { hosts, ..with_tokens(folder.path(), "a:secret-a\n") };
    let doors = OpenDoors::open(&served, options).await;
    let token = ("Authorization", "Bearer secret-a");
    let table: [(&[(&str, &str)], u16); 5] = [
        (&[], 200),
        (&[("Host", "localhost")], 200),
        (&[("Host", "tools.example")], 401),
        (&[("Host", "localhost"), ("X-Forwarded-For", "192.0.2.1")], 401),
        (&[("Host", "tools.example"), token], 200),
    ];
    for (headers, status) in table {
        assert_eq!(doors.send("GET /metrics", headers, "").await.status, status, "{headers:?}");
    }
}

// B85 H03
#[tokio::test]
async fn host_is_served_at_the_port_that_was_named_with_it() {
    let served = World::one().gateway();
    let hosts =
        vec!["tools.example:8930".to_owned(), "127.0.0.1:8930".to_owned(), "plain.example:443".to_owned()];
    let doors = OpenDoors::open(&served, DoorOptions { hosts, ..options() }).await;
    for (host, status) in [
        ("tools.example:8930", 200),
        ("TOOLS.example:8930", 200),
        ("127.0.0.1:8930", 200),
        ("plain.example", 200),
        ("plain.example:443", 200),
        ("tools.example:8931", 403),
        ("tools.example", 403),
        ("localhost:8930", 403),
        ("plain.example:8930", 403),
    ] {
        assert_eq!(doors.post(&[("Host", host)], &hello()).await.status, status, "{host}");
    }
}

// G4 F97
#[tokio::test]
async fn batch_takes_a_token_for_each_request_and_answers_invalid_members() {
    let served = World::one().gateway();
    let doors = OpenDoors::open(&served, DoorOptions { rate: Some(5), ..options() }).await;
    let id = doors.initialize("2025-03-26", json!({}), &[]).await;
    let mut members: Vec<Value> = (1..=40).map(|id| request(id, "ping", json!({}))).collect();
    members.push(json!({ "jsonrpc": "2.0", "id": 41, "method": 7 }));
    let answers = all_events(doors.post(&[("Mcp-Session-Id", &id)], &json!(members)).await).await;
    let mut ids: Vec<u64> = answers.iter().filter_map(|answer| answer["id"].as_u64()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=41).collect::<Vec<_>>(), "each member has one answer");
    let refused = |answer: &&Value| answer["error"]["message"] == "too many requests a second";
    let refused = answers.iter().filter(refused).count();
    // Handshake, notification and POST have taken three of the five; a few more came back meanwhile.
    assert!((30..40).contains(&refused), "{refused}");
}

// G5
#[tokio::test]
async fn hundred_clients_of_one_principal_subscribe_without_taking_places_of_requests() {
    let served = World::one().gateway();
    let doors = OpenDoors::open(&served, options()).await;
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    let mut streams = Vec::new();
    for _ in 0..100 {
        let mut stream = doors.post_new(&[], "subscriptions/listen", wanted.clone()).await;
        let event = stream.event().await.unwrap();
        assert_eq!(event["method"], "notifications/subscriptions/acknowledged", "{event}");
        streams.push(stream);
    }
    let metrics = doors.send("GET /metrics", &[], "").await.text().await;
    assert!(metrics.contains("requests_in_flight 0"), "{metrics}");
}

// G5
#[tokio::test]
async fn subscription_counts_each_resource_once_and_refuses_too_many() {
    let served = World::one().gateway();
    let doors = OpenDoors::open(&served, options()).await;
    let listen = |uris: Vec<String>| json!({ "notifications": { "resourceSubscriptions": uris } });
    let same = listen(vec!["one+test://none".to_owned(); 300]);
    let event = doors.post_new(&[], "subscriptions/listen", same).await.event().await.unwrap();
    assert_eq!(event["method"], "notifications/subscriptions/acknowledged", "{event}");
    let many = listen((0..257).map(|number| format!("one+test://{number}")).collect());
    let refused = doors.post_new(&[], "subscriptions/listen", many).await.json().await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}

/// Opens HTTP+SSE with a handshake; returns the stream and the path for messages.
async fn open_legacy(doors: &OpenDoors, version: &str) -> (HttpReply, String) {
    let mut events = doors.send("GET /sse", &[("Accept", "text/event-stream")], "").await;
    let path = format!("POST {}", events.line("data:").await.unwrap());
    let hello = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": {} });
    assert_eq!(send_legacy(doors, &path, &request(0, "initialize", hello)).await, 202);
    assert_eq!(events.event().await.unwrap()["result"]["protocolVersion"], version);
    (events, path)
}

async fn send_legacy(doors: &OpenDoors, path: &str, message: &Value) -> u16 {
    doors.send(path, &[("Content-Type", "application/json")], &message.to_string()).await.status
}

// F93 X5
#[tokio::test]
async fn legacy_session_ends_after_its_calls_when_the_gateway_stops() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let served = World::with([("one", logged(&[], &log))]).allow("mcp__one").gateway();
    let mut doors = OpenDoors::open(&served, options()).await;
    let (mut events, path) = open_legacy(&doors, "2024-11-05").await;
    assert_eq!(send_legacy(&doors, &path, &call(2, "one__slow", json!({ "ms": 1500 }))).await, 202);
    wait_for_log(&log, "tools/call").await;
    drop(doors.stop.take());
    while doors.send("GET /readyz", &[], "").await.status == 200 {}
    assert_eq!(send_legacy(&doors, &path, &request(3, "ping", json!({}))).await, 503, "a new request");
    let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
    assert_eq!(send_legacy(&doors, &path, &answer).await, 202, "an answer passes");
    let done = events.event().await.unwrap();
    assert_eq!((&done["id"], &done["result"]["content"][0]["text"]), (&json!(2), &json!("done")), "{done}");
    assert_eq!(events.event().await, None, "the stream ends");
    tokio::time::timeout(LONG, &mut doors.serving).await.expect("an end in time").unwrap();
}

// G1
#[tokio::test]
async fn legacy_batch_is_accepted_in_its_only_revision() {
    let served = World::one().gateway();
    let doors = OpenDoors::open(&served, options()).await;
    let batch = json!([request(1, "ping", json!({})), request(2, "ping", json!({}))]);
    for (version, status) in [("2024-11-05", 400), ("2025-03-26", 202), ("2025-06-18", 400)] {
        let (_events, path) = open_legacy(&doors, version).await;
        assert_eq!(send_legacy(&doors, &path, &batch).await, status, "{version}");
    }
}

// F92 B85
#[tokio::test]
async fn body_that_trickles_is_refused_after_its_whole_time() {
    let served = World::one().gateway();
    let doors = OpenDoors::open(&served, options()).await;
    let mut stream = TcpStream::connect(doors.address).await.unwrap();
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let (mut read, mut write) = stream.into_split();
    tokio::time::pause();
    let sending = tokio::spawn(async move {
        // Each byte is in time by itself; all together take longer than a body may.
        while write.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(10)).await;
        }
    });
    let mut status = [0; 12];
    read.read_exact(&mut status).await.unwrap();
    assert_eq!(&status, b"HTTP/1.1 408");
    sending.abort();
}

/// A page on which no browser has a session.
#[derive(Debug)]
struct ClosedPage;

impl PageHandler for ClosedPage {
    fn check_session(
        &self,
        _parts: &hyper::http::request::Parts,
    ) -> Result<(), Box<hyper::Response<PageBody>>> {
        let mut refused = hyper::Response::new(PageBody::Full("no session".into()));
        *refused.status_mut() = hyper::StatusCode::UNAUTHORIZED;
        Err(Box::new(refused))
    }

    fn answer_request(&self, _request: PageRequest) -> BoxedFuture<'_, hyper::Response<PageBody>> {
        Box::pin(std::future::ready(hyper::Response::new(PageBody::Full("answered".into()))))
    }
}

// H02
#[tokio::test]
async fn session_of_the_page_is_checked_before_its_body_is_read() {
    let served = World::one().gateway();
    let doors = OpenDoors::open(&served, DoorOptions { page: Some(Arc::new(ClosedPage)), ..options() }).await;
    let mut stream = TcpStream::connect(doors.address).await.unwrap();
    let head = "POST /ui/api/call HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    assert_eq!(HttpReply::read(stream).await.status, 401, "the body never comes");
}

// G1
#[tokio::test]
async fn missing_folder_of_a_unix_socket_is_created_for_its_user_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/serve.sock");
    let listener = DoorListener::bind_unix(&path).await.unwrap();
    let mode = std::fs::metadata(folder.path().join("new")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(listener.socket_path(), Some(path));
}

// X5
#[tokio::test]
async fn connections_end_with_the_doors() {
    let served = World::one().gateway();
    let mut doors = OpenDoors::open(&served, options()).await;
    let mut idle = TcpStream::connect(doors.address).await.unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut idle = HttpReply::read(idle).await.stream;
    drop(doors.stop.take());
    tokio::time::timeout(LONG, &mut doors.serving).await.expect("an end in time").unwrap();
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(LONG, idle.read_to_end(&mut rest)).await;
    assert!(ended.is_ok(), "the connection is closed");
}

// X6
#[tokio::test]
async fn restored_session_is_asked_for_its_roots_when_its_stream_comes() {
    let server = ScriptedStdio::new(&["server-request:roots/list"]).with_option("--versions", "2025-11-25");
    let served = World::with([("one", server)]).allow("mcp__one").gateway();
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("s/seal");
    let open = || DoorOptions { seal: Seal::from_file(&key).unwrap(), ..options() };
    let first = OpenDoors::open(&served, open()).await;
    let id = first.initialize("2025-11-25", json!({ "roots": {} }), &[]).await;
    drop(first);
    let second = OpenDoors::open(&served, open()).await;
    let session = ("Mcp-Session-Id", id.as_str());
    let mut channel = second.send("GET /mcp", &[session, ("Accept", "text/event-stream")], "").await;
    let question = channel.event().await.unwrap();
    assert_eq!(question["method"], "roots/list", "{question}");
    let roots = json!({ "roots": [{ "uri": "file:///srv/again" }] });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": roots });
    assert_eq!(second.post(&[session], &answer).await.status, 202);
    let done = second.post(&[session], &call(2, "one__echo", json!({ "message": "x" }))).await.json().await;
    let text = done["result"]["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("file:///srv/again"), "{done}");
}

// G4 F97
#[tokio::test]
async fn streams_and_deletions_count_to_the_rate() {
    let served = World::one().gateway();
    let doors = OpenDoors::open(&served, DoorOptions { rate: Some(5), ..options() }).await;
    for start in ["DELETE /mcp", "GET /mcp"] {
        let mut statuses = Vec::new();
        for _ in 0..20 {
            statuses.push(doors.send(start, &[("Mcp-Session-Id", "mp1.guess")], "").await.status);
        }
        assert!(statuses.contains(&429), "{start}: {statuses:?}");
    }
}

// B88 X4
#[tokio::test]
async fn credential_of_a_service_may_be_readable_for_its_group_and_for_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens");
    std::fs::write(&path, "a:secret-a\n").unwrap();
    let set_mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    set_mode(0o440);
    assert!(TokenFile::open(&path).is_err(), "elsewhere it must be private");
    let tokens = TokenPolicy::File(TokenFile::open_credential(&path).unwrap());
    let served = World::one().gateway();
    let doors = OpenDoors::open(&served, DoorOptions { tokens, ..options() }).await;
    assert_eq!(doors.post(&[("Authorization", "Bearer secret-a")], &hello()).await.status, 200);
    for mode in [0o444, 0o460] {
        set_mode(mode);
        assert!(TokenFile::open_credential(&path).is_err(), "{mode:o}");
    }
}
