//! Streams that break off and are taken up again, against a server of a few lines.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcparley_model::config::Era;
use mcparley_wire::peer::{Boxed, Deaf, Handler};
use mcparley_wire::{Failure, RawJson, RpcError};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::http_world::Site;
use crate::world::{LONG, call, text};

/// What a request was: its head in lower case, and its body.
pub(crate) struct Asked {
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// Answers with one write; `None` keeps silent until the client is gone.
pub(crate) type Answer = fn(&Asked, nth: usize) -> Option<String>;

/// Starts a server and gives its URL. Every request has a connection of its own.
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

fn events(text: &str) -> Option<String> {
    Some(format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n\r\n{text}"))
}

pub(crate) fn empty(status: &str) -> Option<String> {
    Some(format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"))
}

/// The greeting, and what is no request.
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

// T3: the reply comes on the stream that takes the broken one up.
#[tokio::test]
async fn a_calls_stream_that_breaks_off_behind_an_id_is_taken_up_again() {
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

// T3 F39: what is taken up in vain ends.
#[tokio::test]
async fn a_calls_stream_that_cannot_be_taken_up_fails_its_call() {
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

/// Hands on that it heard something.
struct Hearing(mpsc::Sender<()>);

impl Handler for Hearing {
    fn request(&self, method: &str, params: Option<RawJson>) -> Boxed<'static, Result<RawJson, RpcError>> {
        Deaf.request(method, params)
    }

    fn notification(&self, _method: &str, _params: Option<RawJson>) {
        self.0.try_send(()).unwrap();
    }
}

// T3 B11
#[tokio::test]
async fn the_get_stream_is_opened_again_behind_what_it_brought() {
    let url = serve(|asked, nth| match (asked.head.starts_with("get"), nth) {
        (false, _) => greet(asked),
        (true, 1) => events(&format!("id: g1\nretry: 1\ndata: {NOTE}\n\n")),
        (true, 2) if asked.head.contains("last-event-id: g1\r\n") => events(&format!("data: {NOTE}\n\n")),
        // The id of the first still counts, as the second had none.
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
async fn a_request_that_is_answered_with_nothing_fails() {
    let url = serve(|asked, _| match asked.body["method"] == "tools/call" {
        true => empty("204 No Content"),
        false => greet(asked),
    });
    let connected = Site::at(&url).connect_as(Era::Old).await.unwrap();
    let error = call(&connected, "echo", json!({})).await.unwrap_err();
    assert!(matches!(error, Failure::Protocol(_)), "{error:?}");
}

// T3 F41: a small body could otherwise become a large one.
#[tokio::test]
async fn an_answer_that_is_compressed_without_our_asking_is_refused() {
    let url = serve(|asked, _| match asked.body["method"] == "tools/call" {
        true => greet(&Asked { head: String::new(), body: json!({"method": "initialize", "id": 2}) })
            .map(|answer| answer.replace("Mcp-Session-Id: s", "Content-Encoding: gzip")),
        false => greet(asked),
    });
    let connected = Site::at(&url).connect_as(Era::Old).await.unwrap();
    let error = call(&connected, "echo", json!({})).await.unwrap_err();
    assert!(matches!(error, Failure::Protocol(_)), "{error:?}");
}

// F41: without a length beforehand.
#[tokio::test]
async fn a_body_that_says_no_length_is_refused_at_the_limit() {
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
async fn a_server_that_does_not_take_the_goodbye_is_left_without() {
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

// T3: nothing can come where nothing is heard.
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
