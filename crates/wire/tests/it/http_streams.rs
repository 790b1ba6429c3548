//! Streams that break off and are resumed, against a minimal server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcparley_model::config::Era;
use mcparley_wire::peer::{BoxedFuture, Handler, PingHandler};
use mcparley_wire::{Failure, Incoming, Notice, RawJson, RpcError};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::http_world::Site;
use crate::world::{LONG, call, text};

/// A received request: its head in lower case, and its body.
pub(crate) struct Asked {
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// Answers with one write; `None` stays silent until the client is gone.
pub(crate) type Answer = fn(&Asked, nth: usize) -> Option<String>;

/// Starts a server and returns its URL. Every request has a connection of its own.
pub(crate) fn serve(answer: Answer) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let heads = Arc::new(Mutex::new(Vec::new()));
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let heads = Arc::clone(&heads);
            std::thread::spawn(move || converse(stream, answer, &heads));
        }
    });
    url
}

fn converse(mut stream: TcpStream, answer: Answer, heads: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap_or(0) > 0 {}
    let head = head.to_lowercase();
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut body).unwrap();
    let method = head.split(' ').next().unwrap_or_default().to_owned();
    let nth = {
        let mut heads = heads.lock().unwrap();
        heads.push(method.clone());
        heads.iter().filter(|earlier| **earlier == method).count()
    };
    let asked = Asked { head, body: serde_json::from_slice(&body).unwrap_or_default() };
    match answer(&asked, nth) {
        Some(answer) => stream.write_all(answer.as_bytes()).unwrap_or_default(),
        None => drop(reader.read_to_end(&mut body)),
    }
}

pub(crate) fn events(text: &str) -> Option<String> {
    Some(format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n\r\n{text}"))
}

pub(crate) fn empty(status: &str) -> Option<String> {
    Some(format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"))
}

/// The response to `initialize` and to messages that are no requests.
pub(crate) fn greet(asked: &Asked) -> Option<String> {
    if asked.body["method"] != "initialize" {
        return empty("202 Accepted");
    }
    let result = json!({"protocolVersion": "2025-11-25", "capabilities": {}});
    let body = json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": result}).to_string();
    let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8";
    Some(format!("{head}\r\nMcp-Session-Id: s\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
}

const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#;

// T3: the response comes on the stream that resumes the broken one.
#[tokio::test]
async fn stream_that_breaks_off_after_an_id_is_resumed() {
    let url = serve(|asked, _| {
        if asked.body["method"] == "tools/call" {
            return events("id: p1\nretry: 1\ndata:\n\n");
        }
        if asked.head.contains("last-event-id: p1\r\n") {
            let result = json!({"content": [{"type": "text", "text": "resumed"}]});
            return events(&format!("data: {}\n\n", json!({"jsonrpc": "2.0", "id": 2, "result": result})));
        }
        if asked.head.starts_with("get") { None } else { greet(asked) }
    });
    let connected = Site::at(&url).connect_as(Era::Old).await.unwrap();
    assert_eq!(text(&call(&connected, "echo", json!({})).await.unwrap()), "resumed");
}

// T3 F39: failed resumptions end.
#[tokio::test]
async fn stream_that_cannot_be_resumed_fails_its_call() {
    let url = serve(|asked, _| {
        if asked.body["method"] == "tools/call" {
            return events("id: p1\nretry: 1\ndata:\n\n");
        }
        if asked.head.contains("last-event-id") {
            return events("");
        }
        if asked.head.starts_with("get") { None } else { greet(asked) }
    });
    let connected = Site::at(&url).connect_as(Era::Old).await.unwrap();
    let error = call(&connected, "echo", json!({})).await.unwrap_err();
    assert!(matches!(error, Failure::Closed { sent: true, .. }), "{error:?}");
}

/// Reports that it received a notification.
pub(crate) struct Hearing(pub(crate) mpsc::Sender<()>);

impl Handler for Hearing {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        PingHandler.handle_request(incoming)
    }

    fn handle_notice(&self, _notice: Notice) {
        self.0.try_send(()).unwrap();
    }
}

// T3 B11
#[tokio::test]
async fn get_stream_is_resumed_after_its_last_event() {
    let url = serve(|asked, nth| match (asked.head.starts_with("get"), nth) {
        (false, _) => greet(asked),
        (true, 1) => events(&format!("id: g1\nretry: 1\ndata: {NOTE}\n\n")),
        (true, 2) if asked.head.contains("last-event-id: g1\r\n") => events(&format!("data: {NOTE}\n\n")),
        // The id of the first stream still counts, as the second had none.
        (true, 3) if asked.head.contains("last-event-id: g1\r\n") => events(&format!("data: {NOTE}\n\n")),
        (true, _) => None,
    });
    let (sender, mut heard) = mpsc::channel(10);
    let mut site = Site::at(&url).with_handler(Hearing(sender));
    let _connected = site.connect_as(Era::Old).await.unwrap();
    for _ in 0..3 {
        tokio::time::timeout(LONG, heard.recv()).await.unwrap().unwrap();
    }
}

// T3
#[tokio::test]
async fn empty_response_fails_its_request() {
    let url = serve(|asked, _| match asked.body["method"] == "tools/call" {
        true => empty("204 No Content"),
        false => greet(asked),
    });
    let connected = Site::at(&url).connect_as(Era::Old).await.unwrap();
    let error = call(&connected, "echo", json!({})).await.unwrap_err();
    assert!(matches!(error, Failure::Protocol(_)), "{error:?}");
}

// T3 F41: a small body could otherwise expand to a large one.
#[tokio::test]
async fn unrequested_compressed_response_is_refused() {
    let url = serve(|asked, _| match asked.body["method"] == "tools/call" {
        true => greet(&Asked { head: String::new(), body: json!({"method": "initialize", "id": 2}) })
            .map(|answer| answer.replace("Mcp-Session-Id: s", "Content-Encoding: gzip")),
        false => greet(asked),
    });
    let connected = Site::at(&url).connect_as(Era::Old).await.unwrap();
    let error = call(&connected, "echo", json!({})).await.unwrap_err();
    assert!(matches!(error, Failure::Protocol(_)), "{error:?}");
}

// F41: without a `Content-Length`.
#[tokio::test]
async fn body_without_a_length_is_refused_at_the_limit() {
    let url = serve(|asked, _| match asked.body["method"] == "tools/call" {
        true => events(&" ".repeat(17 * 1024 * 1024))
            .map(|answer| answer.replace("text/event-stream", "application/json")),
        false => greet(asked),
    });
    let connected = Site::at(&url).connect_as(Era::Old).await.unwrap();
    let error = call(&connected, "echo", json!({})).await.unwrap_err();
    assert!(matches!(error, Failure::TooLarge { .. }), "{error:?}");
}

// T3 L8
#[tokio::test]
async fn stop_does_not_wait_for_a_server_that_ignores_delete() {
    let url = serve(|asked, _| match asked.head.starts_with("post") {
        true => greet(asked),
        false => None,
    });
    let connected = Site::at(&url).connect_as(Era::Old).await.unwrap();
    let start = Instant::now();
    connected.link.stop().await;
    let waited = start.elapsed();
    assert!(waited >= Duration::from_secs(1) && waited < Duration::from_secs(3), "{waited:?}");
}

// T3: without a GET stream no response can come.
#[tokio::test]
async fn a_request_that_is_only_accepted_fails_where_there_is_no_get_stream() {
    let url = serve(|asked, _| match asked.head.starts_with("get") {
        true => empty("405 Method Not Allowed"),
        false => greet(asked),
    });
    let connected = Site::at(&url).connect_as(Era::Old).await.unwrap();
    let error = call(&connected, "echo", json!({})).await.unwrap_err();
    assert!(matches!(error, Failure::Protocol(_)), "{error:?}");
}
