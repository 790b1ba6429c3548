//! Servers behind a WebSocket that follow the protocol, and those that never upgrade.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use mcparley_model::config::Era;
use mcparley_testkit::HttpServer;
use mcparley_wire::handshake::{EstablishedConnection, ServerConnector, connect};
use mcparley_wire::peer::BoxedFuture;
use mcparley_wire::transport::ws::WsTransport;
use mcparley_wire::{AgreedProtocol, Failure, FailurePhase};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::http_world::{AT_ONCE, NEW, Site, received, until};
use crate::world::{LONG, Rooted, call, introduction, log_file, text};

/// A server that is known to be behind a WebSocket.
pub(crate) struct Socket(pub(crate) Site);

impl ServerConnector for Socket {
    type Link = WsTransport;

    fn open(&mut self) -> BoxedFuture<'_, Result<WsTransport, Failure>> {
        Box::pin(self.0.open_socket())
    }
}

/// Connects in the old era, which is the usual one here.
pub(crate) async fn connect_to(site: Site) -> Result<EstablishedConnection<WsTransport>, Failure> {
    connect(&mut Socket(site), Era::Old, &introduction(), LONG).await
}

pub(crate) async fn socket(server: &HttpServer) -> EstablishedConnection<WsTransport> {
    connect_to(Site::at(&server.socket_url())).await.unwrap()
}

/// The failure of a connection without a socket.
pub(crate) async fn refused(site: Site) -> Failure {
    site.open_socket().await.err().unwrap()
}

/// The frames a server received, after the upgrade request.
pub(crate) fn frames(log: &std::path::Path) -> Vec<Value> {
    received(log).into_iter().filter(|line| !line["frame"].is_null()).collect()
}

// T4
#[tokio::test]
async fn handshake_calls_and_close_frame_work_over_websocket() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_file(&folder);
    let server = HttpServer::start_with(&[], &["--log", &log.to_string_lossy()]);
    let site = Site::at(&server.socket_url()).with_header("X-Key", "k");
    let connected = connect_to(site).await.unwrap();
    let echo = |message: &'static str| call(&connected, "echo", json!({"message": message}));
    let (a, b, c) = tokio::join!(echo("a"), echo("b"), echo("c"));
    assert_eq!([a, b, c].map(|reply| text(&reply.unwrap())), ["a", "b", "c"]);
    let start = Instant::now();
    connected.link.stop().await;
    assert!(start.elapsed() < AT_ONCE, "{:?}", start.elapsed());
    until(&server, |stats| stats["openConnections"] == 0).await;
    let request = received(&log).remove(0);
    assert_eq!((&request["method"], &request["path"]), (&json!("GET"), &json!("/mcp")));
    assert_eq!(request["headers"]["sec-websocket-protocol"], "mcp");
    assert_eq!(request["headers"]["x-key"], "k");
    let frames = frames(&log);
    // No probe is sent, and every message is a text frame of its own.
    assert!(frames[0]["body"].as_str().unwrap().contains(r#""method":"initialize""#), "{}", frames[0]);
    assert!(frames.len() >= 6, "a greeting in two parts, three calls and a goodbye: {frames:?}");
    assert!(frames.iter().rev().skip(1).all(|frame| frame["frame"] == 1), "{frames:?}");
    assert_eq!(frames.last().map(|frame| (&frame["frame"], &frame["code"])), Some((&json!(8), &json!(1000))));
}

// T4 F65 F16
#[tokio::test]
async fn notifications_and_requests_of_the_server_are_handled() {
    let heard = Arc::new(AtomicUsize::new(0));
    let server = HttpServer::start(&["server-request:roots/list", "flood:1000", "ws-ping"]);
    let site = Site::at(&server.socket_url()).with_handler(Rooted(Arc::clone(&heard)));
    let connected = connect_to(site).await.unwrap();
    let reply = call(&connected, "echo", json!({"message": "x"})).await.unwrap();
    assert!(text(&reply).contains("roots"), "{}", text(&reply));
    assert_eq!(heard.load(Ordering::Relaxed), 1000);
}

// T4
#[tokio::test]
async fn new_era_is_used_over_websocket_when_configured() {
    let server = HttpServer::start_with(&[], &NEW);
    let mut site = Socket(Site::at(&server.socket_url()));
    let connected = connect(&mut site, Era::New, &introduction(), LONG).await.unwrap();
    assert_eq!(connected.session.protocol(), AgreedProtocol::New);
    assert_eq!(text(&call(&connected, "echo", json!({"message": "x"})).await.unwrap()), "x");
}

// T4 H26
#[tokio::test]
async fn headers_of_the_handshake_cannot_be_configured() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_file(&folder);
    let server = HttpServer::start_with(&[], &["--log", &log.to_string_lossy()]);
    let site = Site::at(&server.socket_url())
        .with_header("Sec-WebSocket-Protocol", "mine")
        .with_header("Sec-WebSocket-Extensions", "mine")
        .with_header("sec-websocket-key", "mine");
    connect_to(site).await.unwrap();
    let headers = received(&log).remove(0)["headers"].take();
    assert_eq!(headers["sec-websocket-protocol"], "mcp");
    assert!(!headers.to_string().contains("mine"), "{headers}");
    for name in ["Upgrade", "Connection", "Host"] {
        let failure = refused(Site::at(&server.socket_url()).with_header(name, "mine")).await;
        assert!(matches!(failure, Failure::Refused { .. }), "{name}: {failure:?}");
    }
    assert_eq!(server.stats()["sockets"], 1);
}

// T4
#[tokio::test]
async fn upgrade_to_another_protocol_is_refused() {
    for (lie, says) in [
        ("accept", "the key"),
        ("upgrade", "does not upgrade"),
        ("extension", "extension"),
        ("other-protocol", "`graphql-ws`"),
        ("page", "nothing to see"),
    ] {
        let server = HttpServer::start(&[&format!("ws-handshake:{lie}")]);
        let failure = refused(Site::at(&server.socket_url())).await;
        assert!(matches!(&failure, Failure::Protocol(text) if text.contains(says)), "{lie}: {failure:?}");
    }
    let server = HttpServer::start(&["ws-handshake:no-protocol"]);
    let connected = socket(&server).await;
    assert_eq!(text(&call(&connected, "echo", json!({"message": "x"})).await.unwrap()), "x");
}

type Check = fn(&Failure) -> bool;

// T4 F54 B05
#[tokio::test]
async fn http_status_instead_of_an_upgrade_is_classified_as_elsewhere() {
    let cases: [(&str, Check); 7] = [
        ("www-authenticate", |failure| matches!(failure, Failure::Unauthorized { challenge: Some(_) })),
        ("ws-status:403", |failure| matches!(failure, Failure::Forbidden { .. })),
        ("ws-status:404", |failure| matches!(failure, Failure::Status { code: 404, .. })),
        ("ws-status:503", |failure| failure.to_string().ends_with("status 503: as scripted")),
        (
            "redirect:other",
            |failure| matches!(failure, Failure::Protocol(text) if text.contains("redirects")),
        ),
        ("redirect:loop", |failure| matches!(failure, Failure::Protocol(text) if text.contains("once"))),
        ("ws-status:302", |failure| matches!(failure, Failure::Protocol(text) if text.contains("nowhere"))),
    ];
    for (script, check) in cases {
        let server = HttpServer::start(&[script]);
        let failure = refused(Site::at(&server.socket_url()).with_header("X-Key", "k")).await;
        assert!(check(&failure), "{script}: {failure:?}");
        let stats = server.stats();
        assert_eq!((&stats["otherOrigin"], &stats["sockets"]), (&json!(0), &json!(0)), "{script}");
    }
    let server = HttpServer::start(&["redirect:same"]);
    let connected = socket(&server).await;
    assert_eq!(text(&call(&connected, "echo", json!({"message": "x"})).await.unwrap()), "x");
}

// T4
#[tokio::test]
async fn unreachable_and_silent_servers_are_distinguished() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/mcp", listener.local_addr().unwrap());
    tokio::time::pause();
    let failure = refused(Site::at(&url)).await;
    assert!(matches!(failure, Failure::TimedOut { phase: FailurePhase::Connecting, .. }), "{failure:?}");
    tokio::time::resume();
    drop(listener);
    let failure = refused(Site::at(&url)).await;
    assert!(failure.to_string().contains("Connection refused"), "{failure:?}");
    let name = format!("ws://{}/mcp", "a".repeat(64));
    let failure = refused(Site::at(&name)).await;
    assert!(failure.to_string().contains("cannot be resolved"), "{failure:?}");
}
