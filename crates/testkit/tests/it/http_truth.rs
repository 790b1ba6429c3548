//! Tests that the HTTP server is correct without scripts, in both eras.

use crate::http_client::{Live, echo, exchange, greet, listen, post, post_modern, request, send};
use crate::stdio_client::{self, initialize, modern};
use mcparley_testkit::{HttpServer, log_lines};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::time::{Duration, Instant};

fn new_era(options: &[&str]) -> HttpServer {
    HttpServer::start_with(&[], &[&["--versions", "2026-07-28"], options].concat())
}

fn wait_for_stats(server: &HttpServer, what: &str, expected: &Value) {
    let deadline = Instant::now() + stdio_client::PATIENCE;
    while server.stats()[what] != *expected {
        assert!(Instant::now() < deadline, "{what} is {}", server.stats()[what]);
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_session_lives_from_initialize_to_delete() {
    for answer in ["json", "sse"] {
        let server = HttpServer::start_with(&[], &["--answer", answer]);
        let session = greet(&server);
        let called = echo(&server, &session);
        assert_eq!(called.header("content-type").unwrap().contains("json"), answer == "json");
        assert_eq!(called.message()["result"]["content"][0]["text"], "hi");
        let ended = |status| {
            let answer = exchange(&server, "DELETE /mcp", &[("Mcp-Session-Id", &session)], "");
            assert_eq!(answer.status, status);
        };
        ended(200);
        ended(404);
        let gone = echo(&server, &session);
        assert_eq!((gone.status, &gone.message()["error"]["code"]), (404, &json!(-32001)));
    }
}

#[test]
fn old_era_server_rejects_invalid_requests() {
    let server = HttpServer::start(&[]);
    let session = greet(&server);
    let call = request(2, "tools/call", &stdio_client::echo());
    assert_eq!(post(&server, &[], &call).status, 400, "no session");
    assert_eq!(post(&server, &[("Mcp-Session-Id", "x")], &call).status, 404, "a foreign session");
    for version in ["2026-07-28", "nonsense", "2025-03-26"] {
        let headers = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", version)];
        assert_eq!(post(&server, &headers, &call).status, 400, "{version}");
    }
    let json = ("Content-Type", "application/json");
    let accept = ("Accept", "application/json");
    assert_eq!(exchange(&server, "POST /mcp", &[json, accept], &call.to_string()).status, 406);
    assert_eq!(exchange(&server, "POST /mcp", &[("Accept", "*/*")], &call.to_string()).status, 415);
    assert_eq!(exchange(&server, "POST /mcp", &[json, ("Accept", "*/*")], "[1").status, 400);
    assert_eq!(post(&server, &[("Origin", "https://evil.example")], &call).status, 403);
    assert_eq!(exchange(&server, "PUT /mcp", &[], "").status, 405);
    assert_eq!(exchange(&server, "GET /nothing", &[], "").status, 404);
    let probe = post_modern(&server, "server/discover", json!({}));
    assert_eq!((probe.status, &probe.message()["error"]["code"]), (400, &json!(-32000)));
}

#[test]
fn session_has_one_get_stream_that_ends_with_session() {
    let server = HttpServer::start(&["list-changed-storm:1"]);
    let session = greet(&server);
    let headers = [("Accept", "text/event-stream"), ("Mcp-Session-Id", session.as_str())];
    assert_eq!(exchange(&server, "GET /mcp", &headers[..1], "").status, 400);
    assert_eq!(exchange(&server, "GET /mcp", &headers[1..], "").status, 406);
    let mut stream = listen(&server, &session);
    assert_eq!(exchange(&server, "GET /mcp", &headers, "").status, 409);
    echo(&server, &session);
    assert_eq!(stream.message()["method"], "notifications/tools/list_changed");
    exchange(&server, "DELETE /mcp", &headers[1..], "");
    assert_eq!(stream.piece(), None);
}

#[test]
fn server_counts_its_requests() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let server = HttpServer::start_with(&[], &["--log", &log.display().to_string()]);
    let session = greet(&server);
    echo(&server, &session);
    echo(&server, &session);
    let stream = listen(&server, &session);
    wait_for_stats(&server, "openConnections", &json!(1));
    drop(stream);
    wait_for_stats(&server, "openConnections", &json!(0));
    let stats = server.stats();
    let posts = json!({ "initialize": 1, "notifications/initialized": 1, "tools/call": 2 });
    assert_eq!(stats["post"], posts);
    assert_eq!((&stats["initialize"], &stats["get"], &stats["delete"]), (&json!(1), &json!(1), &json!(0)));
    assert_eq!((&stats["executions"], &stats["sessions"]), (&json!({ "2": 2 }), &json!(1)));
    let first: Value = serde_json::from_str(&log_lines(&log)[0].text).unwrap();
    assert_eq!((&first["method"], &first["headers"]["host"]), (&json!("POST"), &json!("x")));
}

#[test]
fn an_old_call_is_cancelled_by_a_notification_only() {
    let server = HttpServer::start_with(&[], &["--answer", "sse"]);
    let session = greet(&server);
    let header = [("Mcp-Session-Id", session.as_str())];
    let usual = [("Accept", "*/*"), ("Content-Type", "application/json"), header[0]];
    let meta = json!({ "progressToken": 1 });
    let slow = |id, ms| {
        let params = json!({ "name": "slow", "arguments": { "ms": ms }, "_meta": meta });
        send(&server, "POST /mcp", &usual, &request(id, "tools/call", &params).to_string())
    };
    let mut stream = Live::open(slow(5, 2_000));
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 5 } });
    post(&server, &header, &cancel);
    while stream.piece().is_some() {}
    assert_eq!(server.stats()["cancelled"], json!(["5"]));
    drop(Live::open(slow(6, 1_000)));
    // If closing the stream canceled the call, that would show by the end of this call.
    let mut stream = Live::open(slow(7, 300));
    while stream.piece().is_some() {}
    assert_eq!(server.stats()["cancelled"], json!(["5"]));
}

#[test]
fn new_era_server_answers_new_era_requests() {
    let server = new_era(&[]);
    let found = post_modern(&server, "server/discover", json!({})).message();
    assert_eq!(found["result"]["supportedVersions"], json!(["2026-07-28"]));
    let called = post_modern(&server, "tools/call", stdio_client::echo());
    assert_eq!((called.status, called.header("mcp-session-id")), (200, None));
    assert_eq!(called.message()["result"]["resultType"], "complete");
    let unknown = post_modern(&server, "no/such", json!({}));
    assert_eq!((unknown.status, &unknown.message()["error"]["code"]), (404, &json!(-32601)));
    assert_eq!(exchange(&server, "GET /mcp", &[], "").status, 405);
    let greeted = post(&server, &[], &request(1, "initialize", &initialize("2025-11-25")));
    assert_eq!((greeted.status, &greeted.message()["error"]["code"]), (400, &json!(-32022)));
}

#[test]
fn headers_of_the_new_era_must_match_the_body() {
    let server = new_era(&[]);
    let right = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "echo")];
    let call = request(2, "tools/call", &modern(stdio_client::echo()));
    for wrong in 0..right.len() {
        for value in [None, Some("other")] {
            let mut headers = right.to_vec();
            let (name, _) = headers.remove(wrong);
            headers.extend(value.map(|value| (name, value)));
            let answer = post(&server, &headers, &call);
            assert_eq!(
                (answer.status, &answer.message()["error"]["code"]),
                (400, &json!(-32020)),
                "{headers:?}"
            );
        }
    }
    let encoded = [right[0], right[1], ("Mcp-Name", "=?base64?ZWNobw==?=")];
    assert_eq!(post(&server, &encoded, &call).status, 200);
    let mut old = modern(json!({}));
    old["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("1900-01-01");
    let headers = [("MCP-Protocol-Version", "1900-01-01"), ("Mcp-Method", "tools/list")];
    let answer = post(&server, &headers, &request(2, "tools/list", &old));
    assert_eq!((answer.status, &answer.message()["error"]["code"]), (400, &json!(-32022)));
}

#[test]
fn headers_of_arguments_must_match_the_body() {
    let server = HttpServer::start_with(&["param-headers"], &["--versions", "2026-07-28"]);
    let head = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "locate")];
    let arguments = json!({ "region": "é", "deep": { "level": 7 } });
    let call = request(2, "tools/call", &modern(json!({ "name": "locate", "arguments": arguments })));
    let (region, level) = (("Mcp-Param-Region", "=?base64?w6k=?="), ("Mcp-Param-Level", "7"));
    for (more, status) in [(vec![region, level], 200), (vec![region], 400), (vec![level], 400), (vec![], 400)]
    {
        assert_eq!(post(&server, &[head.as_slice(), &more].concat(), &call).status, status, "{more:?}");
    }
}

#[test]
fn closing_the_stream_cancels_a_new_era_request() {
    let server = new_era(&["--answer", "sse"]);
    let open = |id, method: &str, name: &str, params: Value| {
        let headers = [
            ("Accept", "application/json, text/event-stream"),
            ("Content-Type", "application/json"),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", method),
            ("Mcp-Name", name),
        ];
        send(&server, "POST /mcp", &headers, &request(id, method, &modern(params)).to_string())
    };
    drop(open(5, "tools/call", "slow", json!({ "name": "slow", "arguments": { "ms": 60_000 } })));
    wait_for_stats(&server, "cancelled", &json!(["5"]));
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    let mut stream = Live::open(open(6, "subscriptions/listen", "", wanted));
    let note = stream.message();
    assert_eq!(note["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(note["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 6);
    wait_for_stats(&server, "openConnections", &json!(1));
    drop(stream);
    wait_for_stats(&server, "openConnections", &json!(0));
}

#[test]
fn one_endpoint_supports_both_eras() {
    let server = HttpServer::start_with(&[], &["--versions", "2025-11-25,2026-07-28"]);
    let session = greet(&server);
    assert_eq!(echo(&server, &session).message()["result"].get("resultType"), None);
    let called = post_modern(&server, "tools/call", stdio_client::echo());
    assert_eq!(called.message()["result"]["resultType"], "complete");
}

#[test]
fn a_connection_serves_several_requests() {
    let server = HttpServer::start(&[]);
    let mut stream = std::net::TcpStream::connect(server.address()).unwrap();
    let body = request(1, "initialize", &initialize("2025-11-25")).to_string();
    let usual = "Host: x\r\nAccept: */*\r\nContent-Type: application/json\r\n";
    let plain = format!("POST /mcp HTTP/1.1\r\n{usual}Content-Length: {}\r\n\r\n{body}", body.len());
    let chunked = format!(
        "POST /mcp HTTP/1.1\r\n{usual}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{plain}{chunked}").as_bytes()).unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 2);
}
