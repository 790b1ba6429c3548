//! Tests of the scripts of the HTTP server.

use crate::http_client::{Answer, Live, echo, exchange, greet, listen, post, post_modern, request, send};
use crate::stdio_client::{HI, initialize};
use mcparley_testkit::{HttpServer, testkit_path};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

type Check = fn(&Answer);

/// Scripts, each with a condition on the answer to `echo` with id 2 in a session.
const CALLS: &[(&str, Check)] = &[
    ("html", |answer| {
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/html")));
    }),
    ("cut", |answer| {
        let length: usize = answer.header("content-length").unwrap().parse().unwrap();
        assert_eq!(answer.body.len(), length / 2);
    }),
    ("sse-cut", |answer| {
        assert_eq!(answer.message()["method"], "notifications/message");
    }),
    ("sse-inf:1", |answer| {
        assert_eq!(answer.body.len(), 1024 * 1024);
        assert!(answer.body.starts_with(b"data: xxx") && !answer.body.contains(&b'\n'));
    }),
    ("sse-grammar", |answer| {
        assert_eq!(answer.message()["result"], hi());
        for part in [b"\r\r".as_slice(), b"\r\n", b"\0", b"retry: 99999999999\n", b"data:\"", b"data: "] {
            assert!(answer.body.windows(part.len()).any(|found| found == part), "{part:?}");
        }
    }),
    ("json-big:1", |answer| {
        assert_eq!((answer.body.len(), &answer.message()["id"]), (1024 * 1024, &json!(2)));
    }),
    ("err-big:1", |answer| assert_eq!((answer.status, answer.body.len()), (500, 1024 * 1024))),
    ("status:502", |answer| assert_eq!(answer.status, 502)),
    ("retry-after:Wed, 21 Oct 2026 07:28:00 GMT", |answer| {
        assert_eq!(answer.status, 429);
        assert_eq!(answer.header("retry-after"), Some("Wed, 21 Oct 2026 07:28:00 GMT"));
    }),
    ("unknown-id", |answer| assert_eq!(answer.message()["id"], 987_654_321)),
    ("other-id-on-stream", |answer| {
        let ids: Vec<Value> = answer.messages().iter().map(|message| message["id"].clone()).collect();
        assert_eq!(ids, [3, 2]);
    }),
];

const SLOW: [&str; 3] = ["slow-headers", "slow-body", "json-after"];

const ALONE: [&str; 11] = [
    "expire1",
    "expire-all",
    "expire-400",
    "404",
    "redirect",
    "reply-on-get",
    "www-authenticate",
    "legacy-sse-only",
    "token-file",
    "connectors",
    "ide",
];

pub(crate) fn words() -> Vec<&'static str> {
    CALLS.iter().map(|(script, _)| *script).chain(SLOW).chain(ALONE).collect()
}

fn hi() -> Value {
    serde_json::from_str(HI).unwrap()
}

#[test]
fn call_answer_follows_its_script() {
    for (script, check) in CALLS {
        let server = HttpServer::start(&[script]);
        let session = greet(&server);
        check(&echo(&server, &session));
    }
}

#[test]
fn a_session_expires_once_always_or_with_400() {
    for (script, status, second) in
        [("expire1", 404, 200), ("expire-all", 404, 404), ("expire-400", 400, 200)]
    {
        let server = HttpServer::start(&[script]);
        let session = greet(&server);
        for _ in 0..2 {
            let answer = echo(&server, &session);
            assert_eq!(answer.status, status, "{script}");
            let text = answer.message()["error"]["message"].as_str().unwrap().to_owned();
            assert_eq!(text.contains(&session), script == "expire-400");
        }
        let session = greet(&server);
        assert_eq!(echo(&server, &session).status, second, "{script}");
        let executions = if second == 200 { json!({ "2": 1 }) } else { json!({}) };
        assert_eq!((&server.stats()["initialize"], &server.stats()["executions"]), (&json!(2), &executions));
    }
}

#[test]
fn session_expiry_under_concurrent_calls_executes_no_call_twice() {
    let server = HttpServer::start(&["expire1"]);
    let session = greet(&server);
    let call = |id: u64, session: &str| {
        let message = request(id, "tools/call", &crate::stdio_client::echo());
        post(&server, &[("Mcp-Session-Id", session)], &message).status
    };
    let refused: Vec<u64> = thread::scope(|scope| {
        let (call, session) = (&call, session.as_str());
        let calls: Vec<_> = (0..40).map(|id| scope.spawn(move || (id, call(id, session)))).collect();
        let statuses = calls.into_iter().map(|call| call.join().unwrap());
        statuses.filter(|(_, status)| *status == 404).map(|(id, _)| id).collect()
    });
    assert!(!refused.is_empty());
    let session = greet(&server);
    assert!(refused.into_iter().all(|id| call(id, &session) == 200));
    let executions: Value = (0..40).map(|id: u64| (id.to_string(), json!(1))).collect();
    assert_eq!(server.stats()["executions"], executions);
}

#[test]
fn call_returns_404_without_a_session() {
    let server = HttpServer::start(&["404"]);
    let greeting = post(&server, &[], &request(1, "initialize", &initialize("2025-11-25")));
    assert_eq!((greeting.status, greeting.header("mcp-session-id")), (200, None));
    assert_eq!(post(&server, &[], &request(2, "tools/list", &json!({}))).status, 200);
    assert_eq!(post(&server, &[], &request(3, "tools/call", &json!({}))).status, 404);
}

#[test]
fn scripted_status_applies_once_or_to_any_method() {
    let server = HttpServer::start(&["status:503:once", "retry-after:2"]);
    let session = greet(&server);
    let refused = echo(&server, &session);
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("2")));
    assert_eq!(echo(&server, &session).status, 200);
    assert_eq!(server.stats()["executions"], json!({ "2": 1 }));
    let server = HttpServer::start_with(&["status:500"], &["--on", "initialize"]);
    assert_eq!(post(&server, &[], &request(1, "initialize", &json!({}))).status, 500);
}

#[test]
fn slow_responses_pause_at_scripted_point() {
    for (script, before) in
        [("slow-headers", "HTTP/1.1 200 OK\r\n"), ("slow-body", "\r\n\r\n"), ("json-after", "")]
    {
        let server = HttpServer::start_with(&[&format!("{script}:300")], &["--answer", "sse"]);
        let session = greet(&server);
        let headers = [("Accept", "*/*"), ("Content-Type", "application/json"), ("Mcp-Session-Id", &session)];
        let begun = Instant::now();
        let message = request(2, "tools/call", &crate::stdio_client::echo()).to_string();
        let mut stream = send(&server, "POST /mcp", &headers, &message);
        let mut text = String::new();
        let mut buffer = [0; 1024];
        while text.is_empty() || !text.ends_with(before) {
            let count = stream.read(&mut buffer).unwrap();
            assert!(count > 0, "{script}: {text}");
            text.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
        }
        stream.read_to_string(&mut text).unwrap();
        assert!(begun.elapsed() >= Duration::from_millis(300), "{script}");
        assert!(
            text.contains("application/json") && text.ends_with(&format!("\"result\":{HI}}}")),
            "{script}"
        );
    }
}

#[test]
fn redirects_point_to_scripted_location() {
    let greeting = request(1, "initialize", &json!({}));
    for to in ["same", "other", "downgrade", "loop"] {
        let server = HttpServer::start(&[&format!("redirect:{to}")]);
        let answer = post(&server, &[], &greeting);
        let location = answer.header("location").unwrap();
        let origin = format!("http://{}", server.address());
        let expected = match to {
            "same" => location == "/moved",
            "downgrade" => location == format!("{origin}/moved"),
            "loop" => location == server.url(),
            _ => location.starts_with("http://127.0.0.1:") && !location.starts_with(&origin),
        };
        assert!(answer.status == 307 && expected, "{to}: {location}");
        let headers = [("Accept", "*/*"), ("Content-Type", "application/json")];
        let moved = exchange(&server, "POST /moved", &headers, &greeting.to_string());
        assert_eq!((moved.status, &server.stats()["redirected"]), (200, &json!(1)));
        assert_eq!(server.stats()["otherOrigin"], 0);
    }
}

#[test]
fn reply_can_arrive_on_get_stream() {
    let server = HttpServer::start(&["reply-on-get"]);
    let session = greet(&server);
    let mut stream = listen(&server, &session);
    assert_eq!(echo(&server, &session).status, 202);
    assert_eq!(stream.message(), json!({ "jsonrpc": "2.0", "id": 2, "result": hi() }));
}

#[test]
fn server_request_is_sent_on_stream_of_call() {
    let server = HttpServer::start_with(&["server-request", "flood:3", "twice"], &["--answer", "sse"]);
    let session = greet(&server);
    let headers = [("Accept", "*/*"), ("Content-Type", "application/json"), ("Mcp-Session-Id", &session)];
    let call = request(2, "tools/call", &crate::stdio_client::echo()).to_string();
    let mut stream = Live::open(send(&server, "POST /mcp", &headers, &call));
    assert_eq!(stream.message()["method"], "roots/list");
    let answer = json!({ "jsonrpc": "2.0", "id": "ask-1", "result": { "roots": [] } });
    assert_eq!(post(&server, &headers[2..], &answer).status, 202);
    assert_eq!(stream.piece().unwrap().matches("notifications/message").count(), 3);
    for _ in 0..2 {
        assert_eq!(stream.message()["result"]["content"][0]["text"], json!(answer.to_string()));
    }
    assert_eq!((stream.piece(), &server.stats()["post"]["response"]), (None, &json!(1)));
}

#[test]
fn requests_without_token_get_a_challenge() {
    let server = HttpServer::start(&["www-authenticate"]);
    let greeting = request(1, "initialize", &json!({}));
    let refused = post(&server, &[], &greeting);
    let challenge = refused.header("www-authenticate").unwrap();
    assert!(refused.status == 401 && challenge.starts_with("Bearer resource_metadata=\"http://127.0.0.1:"));
    assert_eq!(post(&server, &[("Authorization", "Bearer x")], &greeting).status, 200);
    assert_eq!(server.stats()["unauthorized"], 1);
}

#[test]
fn discover_is_rejected_like_old_servers_do() {
    for (mode, code) in [("-32602", -32602), ("-32600-no-id", -32600)] {
        for (form, status) in [("json", 400), ("sse", 200)] {
            let server = HttpServer::start_with(&[&format!("discover:{mode}")], &["--answer", form]);
            let answer = post_modern(&server, "server/discover", json!({}));
            assert_eq!((answer.status, &answer.message()["error"]["code"]), (status, &json!(code)));
        }
    }
}

#[test]
fn http_sse_transport_answers_on_its_stream() {
    let server = HttpServer::start(&["legacy-sse-only"]);
    let greeting = request(1, "initialize", &initialize("2024-11-05"));
    assert_eq!(post(&server, &[], &greeting).status, 405);
    let mut stream = Live::open(send(&server, "GET /mcp", &[("Accept", "text/event-stream")], ""));
    let event = stream.piece().unwrap();
    let endpoint = event.strip_prefix("event: endpoint\ndata: ").unwrap().trim_end();
    assert_eq!(exchange(&server, &format!("POST {endpoint}"), &[], &greeting.to_string()).status, 202);
    assert_eq!(stream.message()["result"]["protocolVersion"], "2024-11-05");
    let other = HttpServer::start(&["legacy-sse-only:other-origin"]);
    let mut stream = Live::open(send(&other, "GET /mcp", &[], ""));
    let event = stream.piece().unwrap();
    assert!(event.contains("data: http://127.0.0.1:") && !event.contains(other.address()));
    let absolute = HttpServer::start(&["legacy-sse-only:absolute"]);
    let mut stream = Live::open(send(&absolute, "GET /mcp", &[], ""));
    assert!(stream.piece().unwrap().contains(&format!("data: http://{}/messages", absolute.address())));
    let late = HttpServer::start(&["legacy-sse-only:late"]);
    let mut stream = Live::open(send(&late, "GET /mcp", &[], ""));
    assert!(stream.piece().unwrap().contains("event: ping"));
    assert!(stream.piece().unwrap().starts_with("event: endpoint"));
    let none = HttpServer::start(&["legacy-sse-only:no-events"]);
    assert_eq!(exchange(&none, "GET /mcp", &[], "").status, 200);
}

#[test]
fn server_exits_when_dropped() {
    let server = HttpServer::start(&[]);
    let process = std::path::PathBuf::from(format!("/proc/{}", server.id()));
    assert!(process.exists());
    drop(server);
    assert!(!process.exists());
}

#[test]
fn server_exits_at_end_of_input() {
    let mut command = Command::new(testkit_path());
    let mut child = command.arg("http").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("listening http://127.0.0.1:"));
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}
