//! Tests of the WebSocket server, frame by frame.

use crate::http_client::request;
use crate::stdio_client::{PATIENCE, echo, initialize};
use mcparley_testkit::HttpServer;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// The scripts that are tested here.
pub(crate) const WORDS: &[&str] = &[
    "ws-handshake",
    "ws-status",
    "ws-reply",
    "ws-fragments",
    "ws-endless",
    "ws-close",
    "ws-ping",
    "ws-deaf",
];

/// The key of RFC 6455, 1.3, and the accept value derived from it.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

/// A client on a raw socket.
struct Client {
    reader: BufReader<TcpStream>,
    head: String,
}

/// A received frame: its first byte and its payload.
type Frame = (u8, Vec<u8>);

impl Client {
    fn connect(server: &HttpServer) -> Self {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let head = format!(
            "GET /mcp HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Protocol: mcp\r\nSec-WebSocket-Key: {KEY}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap() > 0 {}
        Self { reader, head }
    }

    /// Connects and does the handshake.
    fn greeted(scripts: &[&str]) -> (HttpServer, Self) {
        let server = HttpServer::start(scripts);
        let mut client = Self::connect(&server);
        client.send(0x81, request(1, "initialize", &initialize("2025-11-25")).to_string().as_bytes());
        assert_eq!(client.message()["result"]["protocolVersion"], "2025-11-25");
        (server, client)
    }

    /// Calls `echo` with id 2.
    fn call(&mut self) {
        self.send(0x81, request(2, "tools/call", &echo()).to_string().as_bytes());
    }

    /// Sends a frame, masked as a client must.
    fn send(&mut self, first: u8, payload: &[u8]) {
        let mask = [1, 2, 3, 4];
        let length = u16::try_from(payload.len()).unwrap().to_be_bytes();
        let mut frame = [&[first, 0x80 | 126], &length[..], &mask[..]].concat();
        frame.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        self.reader.get_mut().write_all(&frame).unwrap();
    }

    fn frame(&mut self) -> Frame {
        let [first, length] = self.bytes();
        let length = match length {
            126 => u64::from(u16::from_be_bytes(self.bytes())),
            127 => u64::from_be_bytes(self.bytes()),
            short => u64::from(short),
        };
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        self.reader.read_exact(&mut payload).unwrap();
        (first, payload)
    }

    fn message(&mut self) -> Value {
        let (first, payload) = self.frame();
        assert_eq!(first, 0x81);
        serde_json::from_slice(&payload).unwrap()
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes).unwrap();
        bytes
    }
}

#[test]
fn websocket_does_handshake_call_and_close() {
    let (server, mut client) = Client::greeted(&[]);
    assert!(client.head.starts_with("HTTP/1.1 101 "), "{}", client.head);
    assert!(client.head.contains(&format!("Sec-WebSocket-Accept: {ACCEPT}\r\n")), "{}", client.head);
    assert!(client.head.contains("Sec-WebSocket-Protocol: mcp\r\n"), "{}", client.head);
    client.call();
    assert_eq!(client.message()["id"], 2);
    client.send(0x89, b"you?");
    assert_eq!(client.frame(), (0x8a, b"you?".to_vec()));
    client.send(0x88, &1000_u16.to_be_bytes());
    assert_eq!(client.frame(), (0x88, 1000_u16.to_be_bytes().to_vec()));
    assert_eq!(client.reader.read(&mut [0]).unwrap(), 0);
    let stats = server.stats();
    assert_eq!((&stats["sockets"], &stats["post"]["tools/call"]), (&json!(1), &json!(1)));
}

#[test]
fn websocket_handshake_follows_its_script() {
    for (script, there, not_there) in [
        ("ws-handshake:accept", "Sec-WebSocket-Accept: ", ACCEPT),
        ("ws-handshake:upgrade", "Upgrade: something", "websocket"),
        ("ws-handshake:extension", "Sec-WebSocket-Extensions: ", "nothing"),
        ("ws-handshake:other-protocol", "Sec-WebSocket-Protocol: graphql-ws", ": mcp"),
        ("ws-handshake:no-protocol", ACCEPT, "Sec-WebSocket-Protocol"),
        ("ws-handshake:page", "HTTP/1.1 200 ", "Upgrade"),
        ("ws-status:404", "HTTP/1.1 404 ", "Upgrade"),
    ] {
        let head = Client::connect(&HttpServer::start(&[script])).head;
        assert!(head.contains(there) && !head.contains(not_there), "{script}: {head}");
    }
}

#[test]
fn websocket_reply_frames_follow_their_script() {
    for (script, first) in [("binary", 0x82), ("reserved", 0xc1), ("continued", 0x80)] {
        let (_server, mut client) = Client::greeted(&[&format!("ws-reply:{script}")]);
        client.call();
        let (found, payload) = client.frame();
        assert_eq!(found, first, "{script}");
        assert_eq!(serde_json::from_slice::<Value>(&payload).unwrap()["id"], 2, "{script}");
    }
    let (_server, mut client) = Client::greeted(&["ws-reply:masked"]);
    client.call();
    let [first, length] = client.bytes();
    assert_eq!((first, length & 0x80), (0x81, 0x80));
    let (_server, mut client) = Client::greeted(&["ws-reply:cut"]);
    client.call();
    let mut rest = Vec::new();
    client.reader.read_to_end(&mut rest).unwrap();
    assert!(rest.len() > 10 && rest[0] == 0x81, "{}", rest.len());
}

#[test]
fn a_reply_in_fragments_is_the_reply_once_they_are_joined() {
    for count in [1, 2, 10, 5000] {
        let (_server, mut client) = Client::greeted(&[&format!("ws-fragments:{count}")]);
        client.call();
        let mut frames: Vec<Frame> = (0..count).map(|_| client.frame()).collect();
        let whole: Vec<u8> = frames.iter().flat_map(|(_, payload)| payload.clone()).collect();
        assert_eq!(serde_json::from_slice::<Value>(&whole).unwrap()["id"], 2, "{count}");
        let (last, _) = frames.pop().unwrap();
        assert_eq!(last, if count == 1 { 0x81 } else { 0x80 });
        assert!(frames.iter().skip(1).all(|(first, _)| *first == 0), "{count}");
        assert!(frames.first().is_none_or(|(first, _)| *first == 1), "{count}");
    }
    let (_server, mut client) = Client::greeted(&["ws-endless"]);
    client.call();
    assert_eq!(client.frame(), (0x01, b"{".to_vec()));
    assert!((0..100_000).all(|_| client.frame() == (0, Vec::new())));
}

#[test]
fn websocket_close_follows_its_script() {
    for (code, frame) in [(1011, Some(0x88)), (1006, None)] {
        let (_server, mut client) = Client::greeted(&[&format!("ws-close:{code}")]);
        client.call();
        let mut rest = Vec::new();
        client.reader.read_to_end(&mut rest).unwrap();
        assert_eq!(rest.first().copied(), frame, "{code}");
    }
}

#[test]
fn ping_is_sent_before_reply_and_deaf_server_sends_no_pong() {
    let (_server, mut client) = Client::greeted(&["ws-ping"]);
    client.call();
    let (first, payload) = client.frame();
    assert_eq!(first, 0x89);
    client.send(0x8a, &payload);
    assert_eq!(client.message()["id"], 2);
    let (_server, mut client) = Client::greeted(&["ws-deaf:pings"]);
    client.send(0x89, b"you?");
    client.call();
    assert_eq!(client.message()["id"], 2, "and nothing before it");
}
