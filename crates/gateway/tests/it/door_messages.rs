//! Bad messages at the doors: headers that differ from the body, damaged bodies, limits of size and time.

use std::time::Duration;

use mcparley_testkit::{ScriptedStdio, log_lines};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::client::LONG;
use crate::door::{HttpReply, OpenDoors, options, request};
use crate::door_input::send_raw;
use crate::world::{World, logged};

const NEW: &str = "2026-07-28";
const JSON: (&str, &str) = ("Content-Type", "application/json");

/// The name of a case, its headers and parameters, and the status and code of the answer.
type HeaderCase<'c> = (&'c str, &'c [(&'c str, &'c str)], Value, u16, i64);

// B97 H22: the checks of a request of the new era, in their order.
#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one table")]
async fn malformed_request_of_the_new_era_is_refused_by_the_first_check_that_fails() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let served = World::with([("one", logged(&["param-headers"], &log))]).allow("mcp__one").gateway();
    let doors = OpenDoors::open(&served, options()).await;
    let _tools = doors.post_new(&[], "tools/list", json!({})).await.text().await;
    let meta = |version: Value, capabilities: Value| {
        json!({ "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": capabilities })
    };
    let params = |meta: Value| json!({ "name": "one__echo", "arguments": { "message": "x" }, "_meta": meta });
    let good = || params(meta(json!(NEW), json!({})));
    let (version, method, name) =
        (("MCP-Protocol-Version", NEW), ("Mcp-Method", "tools/call"), ("Mcp-Name", "one__echo"));
    let other = ("MCP-Protocol-Version", "2099-01-01");
    let table: [HeaderCase<'_>; 20] = [
        ("good", &[version, method, name], good(), 200, 0),
        ("spaces around a value", &[version, method, ("Mcp-Name", "  one__echo  ")], good(), 200, 0),
        ("no version header", &[method, name], good(), 400, -32020),
        ("two version headers", &[version, version, method, name], good(), 400, -32020),
        (
            "no version header, incomplete meta",
            &[method, name],
            params(meta(json!(NEW), Value::Null)),
            400,
            -32020,
        ),
        ("no capabilities", &[version, method, name], params(meta(json!(NEW), Value::Null)), 400, -32602),
        (
            "capabilities are no object",
            &[version, method, name],
            params(meta(json!(NEW), json!([]))),
            400,
            -32602,
        ),
        ("no meta", &[version, method, name], json!({ "name": "one__echo" }), 400, -32602),
        ("header differs", &[other, method, name], good(), 400, -32020),
        (
            "unknown revision",
            &[other, method, name],
            params(meta(json!("2099-01-01"), json!({}))),
            400,
            -32022,
        ),
        ("no method header", &[version, name], good(), 400, -32020),
        ("two method headers", &[version, method, method, name], good(), 400, -32020),
        ("other method", &[version, ("Mcp-Method", "Tools/call"), name], good(), 400, -32020),
        ("no name", &[version, method], good(), 400, -32020),
        ("two names", &[version, method, name, name], good(), 400, -32020),
        ("other name", &[version, method, ("Mcp-Name", "one__add")], good(), 400, -32020),
        ("name in another case", &[version, method, ("Mcp-Name", "one__Echo")], good(), 400, -32020),
        ("bad base64", &[version, method, ("Mcp-Name", "=?base64?b25l*?=")], good(), 400, -32020),
        ("base64 that is no text", &[version, method, ("Mcp-Name", "=?base64?//8=?=")], good(), 400, -32020),
        (
            "name without a body",
            &[version, method, name],
            json!({ "_meta": meta(json!(NEW), json!({})) }),
            400,
            -32020,
        ),
    ];
    for (case, headers, params, status, code) in table {
        let reply = doors.post(headers, &request(1, "tools/call", params)).await;
        assert_eq!(reply.status, status, "{case}");
        let answer = reply.json().await;
        assert_eq!(answer["id"], 1, "{case}: {answer}");
        if code != 0 {
            assert_eq!(answer["error"]["code"], code, "{case}: {answer}");
        }
        if code == -32022 {
            assert_eq!(answer["error"]["data"]["requested"], "2099-01-01", "{answer}");
            assert!(answer["error"]["data"]["supported"].as_array().unwrap().contains(&json!(NEW)));
        }
    }
    let calls = log_lines(&log).iter().filter(|line| line.text.contains(r#""method":"tools/call""#)).count();
    assert_eq!(calls, 2, "only the good ones went up");
    for method in ["ping", "initialize", "logging/setLevel", "resources/subscribe", "no/such", ""] {
        let refused = doors.post_new(&[], method, json!({})).await;
        assert_eq!(
            (refused.status, &refused.json().await["error"]["code"]),
            (404, &json!(-32601)),
            "{method}"
        );
    }
}

// B97 B107 H26: arguments that a tool repeats in headers.
#[tokio::test]
async fn arguments_in_headers_are_compared_with_the_body() {
    let server = ScriptedStdio::new(&["param-headers"]);
    let served = World::with([("one", server)]).allow("mcp__one").gateway();
    let doors = OpenDoors::open(&served, options()).await;
    let list = doors.post_new(&[], "tools/list", json!({})).await.json().await;
    let tools = list["result"]["tools"].as_array().unwrap();
    let locate = tools.iter().find(|tool| tool["name"] == "one__locate").expect("the tool with marks");
    let marked = locate["inputSchema"]["properties"]["region"]["x-mcp-header"].as_str().expect("a mark");
    let header = format!("Mcp-Param-{marked}");
    let params = || json!({ "name": "one__locate", "arguments": { "region": "us-west1" } });
    let right = doors.post_new(&[(&header, "us-west1")], "tools/call", params()).await;
    assert_eq!(right.status, 200);
    for value in ["us-west2", "US-WEST1", "=?base64?!?=", "-"] {
        let refused = doors.post_new(&[(&header, value)], "tools/call", params()).await;
        assert_eq!(refused.status, 400, "{value}");
        assert_eq!(refused.json().await["error"]["code"], -32020, "{value}");
    }
}

// B05 B06 B17 H22
#[tokio::test]
async fn damaged_bodies_are_refused_with_the_code_of_their_damage() {
    let served = World::one().allow("mcp__one").gateway();
    let doors = OpenDoors::open(&served, options()).await;
    let id = doors.initialize("2025-11-25", json!({}), &[]).await;
    let batching = doors.initialize("2025-03-26", json!({}), &[]).await;
    let session = ("Mcp-Session-Id", id.as_str());
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}{}}}"#,
        "[".repeat(500),
        "]".repeat(500)
    );
    let table: [(&str, i64); 14] = [
        ("", -32700),
        ("{", -32700),
        ("nonsense", -32700),
        ("\u{feff}{}", -32700),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"} {}"#, -32700),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","id":2}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"Method":"ping"}"#, -32600),
        ("[]", -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
    ];
    for (body, code) in table {
        let refused = doors.send("POST /mcp", &[JSON, session], body).await;
        assert_eq!(refused.status, 400, "{body}");
        assert_eq!(refused.json().await["error"]["code"], code, "{body}");
    }
    let nested = doors.send("POST /mcp", &[JSON, session], &deep).await;
    assert_eq!(nested.json().await["error"]["code"], -32602);
    let bytes = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}";
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMcp-Session-Id: {id}\r\n\
         Content-Length: {}\r\n\r\n",
        bytes.len()
    );
    let refused = send_raw(&doors, [head.as_bytes(), bytes].concat()).await;
    assert_eq!((refused.status, &refused.json().await["error"]["code"]), (400, &json!(-32700)));
    // A batch is a feature of one revision.
    let session = ("Mcp-Session-Id", batching.as_str());
    let batch = json!([request(1, "ping", json!({})), request(2, "tools/list", json!({}))]);
    let mut answers = doors.post(&[session], &batch).await;
    let mut ids = Vec::new();
    while let Some(answer) = answers.event().await {
        ids.push(answer["id"].as_u64().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, [1, 2]);
    let notes = json!([{ "jsonrpc": "2.0", "method": "notifications/initialized" }]);
    assert_eq!(doors.post(&[session], &notes).await.status, 202);
    assert_eq!(doors.send("POST /mcp", &[JSON, session], "[]").await.status, 400);
    // The door still works.
    assert_eq!(doors.post(&[session], &request(3, "ping", json!({}))).await.status, 200);
}

// F92 B85: headers and bodies that never end.
#[tokio::test]
async fn header_and_body_have_limits_of_size_number_and_time() {
    let served = World::one().gateway();
    let doors = OpenDoors::open(&served, options()).await;
    let many: String = (0..150).map(|number| format!("X-{number}: y\r\n")).collect();
    let bytes = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{many}\r\n");
    assert_eq!(send_raw(&doors, bytes).await.status, 431);
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(40_000));
    let status = send_raw(&doors, long).await.status;
    assert!(matches!(status, 414 | 431), "{status}");
    // A chunked body that is larger than it may be.
    let mut stream = TcpStream::connect(doors.address).await.unwrap();
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let (read, mut write) = stream.into_split();
    let sending = tokio::spawn(async move {
        let chunk = format!("100000\r\n{}\r\n", " ".repeat(0x10_0000));
        for _ in 0..20 {
            if write.write_all(chunk.as_bytes()).await.is_err() {
                break;
            }
        }
        write
    });
    let mut status = [0; 12];
    let mut read = read;
    tokio::time::timeout(LONG, read.read_exact(&mut status)).await.unwrap().unwrap();
    assert_eq!(&status, b"HTTP/1.1 413");
    drop(sending.await.unwrap());
    // Two lengths that differ are refused by the parser.
    let two = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}";
    assert_eq!(send_raw(&doors, two).await.status, 400);
}

// F92: a client that sends its header or body byte by byte is cut off.
#[tokio::test(start_paused = true)]
async fn slow_headers_and_bodies_time_out() {
    let served = World::with([]).gateway();
    let doors = OpenDoors::open(&served, options()).await;
    let begun = tokio::time::Instant::now();
    let mut stream = TcpStream::connect(doors.address).await.unwrap();
    stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: loc").await.unwrap();
    assert_eq!(HttpReply::read_slowly(stream).await.status, 408);
    assert!(begun.elapsed() >= Duration::from_secs(10), "{:?}", begun.elapsed());
    let begun = tokio::time::Instant::now();
    let mut stream = TcpStream::connect(doors.address).await.unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{{",
        doors.address
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    assert_eq!(HttpReply::read_slowly(stream).await.status, 408);
    assert!(begun.elapsed() >= Duration::from_secs(30), "{:?}", begun.elapsed());
}
