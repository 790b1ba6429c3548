//! When a server behind a URL counts as unreachable, and when it does not (L5).

use std::time::{Duration, Instant};

use mcparley_model::config::Era;
use mcparley_testkit::{Fault, FaultProxy, HttpServer};
use mcparley_wire::handshake::EstablishedConnection;
use mcparley_wire::peer::PeerCallOptions;
use mcparley_wire::transport::http::HttpTransport;
use mcparley_wire::{Failure, RequestParams};
use serde_json::json;

use crate::http_streams::{Asked, empty, greet, serve};
use crate::http_world::{AT_ONCE, NEW, Site};
use crate::world::{LONG, call, text};

/// A server, a proxy to it that can be broken, and a connection through it.
struct Reached {
    server: HttpServer,
    proxy: FaultProxy,
    connected: EstablishedConnection<HttpTransport>,
}

async fn reach(scripts: &[&str], options: &[&str], era: Era) -> Reached {
    let server = HttpServer::start_with(scripts, options);
    let proxy = FaultProxy::for_server(server.address());
    let url = format!("http://{}/mcp", proxy.address());
    let connected = Site::at(&url).connect_as(era).await.unwrap();
    Reached { server, proxy, connected }
}

impl Reached {
    async fn echo(&self) -> Result<String, Failure> {
        call(&self.connected, "echo", json!({"message": "x"})).await.map(|reply| text(&reply))
    }

    fn is_over(&self) -> bool {
        self.connected.link.peer().is_ended()
    }
}

// L5
#[tokio::test]
async fn three_consecutive_broken_exchanges_end_the_connection() {
    for fault in [Fault::Reset, Fault::Cut] {
        let reached = reach(&[], &NEW, Era::New).await;
        reached.proxy.set_fault(fault);
        for strike in 1..=3 {
            assert!(!reached.is_over(), "{fault:?} {strike}");
            let failure = reached.echo().await.unwrap_err();
            assert!(matches!(failure, Failure::Closed { .. }), "{fault:?} {strike}: {failure:?}");
        }
        let why = tokio::time::timeout(LONG, reached.connected.link.peer().wait_until_ended()).await.unwrap();
        assert!(matches!(why, Failure::Closed { .. }), "{why:?}");
        let after = reached.echo().await.unwrap_err();
        assert!(matches!(after, Failure::Closed { sent: false, .. }), "nothing is sent any more: {after:?}");
    }
}

/// Two of three calls find their connection closed.
fn breaks_two_of_three(asked: &Asked, nth: usize) -> Option<String> {
    match (asked.head.starts_with("post"), nth) {
        (true, 1 | 2) => greet(asked),
        (true, nth) if nth % 3 != 2 => Some(String::new()),
        (true, _) => {
            let result = json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": {}}).to_string();
            let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json";
            Some(format!("{head}\r\nContent-Length: {}\r\n\r\n{result}", result.len()))
        }
        (false, _) => empty("405 Method Not Allowed"),
    }
}

// L5
#[tokio::test]
async fn response_resets_the_count_of_broken_exchanges() {
    let connected = Site::at(&serve(breaks_two_of_three)).connect_as(Era::Old).await.unwrap();
    let mut outcomes = Vec::new();
    for _ in 0..9 {
        outcomes.push(call(&connected, "echo", json!({})).await.is_ok());
    }
    assert_eq!(outcomes, [false, false, true].repeat(3));
    assert!(!connected.link.peer().is_ended());
}

// L5 F53: a server that returns errors is reachable.
#[tokio::test]
async fn error_statuses_never_end_the_connection() {
    for script in ["status:502", "html", "not-json", "null-id:error"] {
        let reached = reach(&[script], &[], Era::Old).await;
        for _ in 0..5 {
            reached.echo().await.unwrap_err();
        }
        assert!(!reached.is_over(), "{script}");
    }
}

// L5 F30
#[tokio::test]
async fn refused_connection_ends_the_connection_at_once() {
    let server = HttpServer::start_with(&["call-hang"], &NEW);
    let connected = crate::http_world::new(&server).await;
    let session = connected.session.clone();
    let options = PeerCallOptions { limit: Some(LONG), ..PeerCallOptions::default() };
    let params =
        RequestParams::new().with_member("name", &"echo").with_member("arguments", &json!({"message": "x"}));
    let running = tokio::spawn(async move { session.call("tools/call", params, options).await });
    crate::http_world::until(&server, |stats| stats["post"]["tools/call"] == 1).await;
    drop(server);
    let start = Instant::now();
    let cut = running.await.unwrap().unwrap_err();
    assert!(matches!(cut, Failure::Closed { sent: true, .. }), "it may have been executed: {cut:?}");
    let failure = call(&connected, "echo", json!({"message": "x"})).await.unwrap_err();
    assert!(matches!(failure, Failure::Refused { .. }), "{failure:?}");
    let why = connected.link.peer().wait_until_ended().await;
    assert!(matches!(&why, Failure::Refused { reason, .. } if reason.contains("refused")), "{why:?}");
    assert!(start.elapsed() < AT_ONCE);
}

// L5: without a call, the GET stream notices it.
#[tokio::test]
async fn session_of_a_gone_server_ends_without_a_call() {
    let server = HttpServer::start(&[]);
    let connected = crate::http_world::old(&server).await;
    crate::http_world::until(&server, |stats| stats["get"] == 1).await;
    drop(server);
    let why = tokio::time::timeout(LONG, connected.link.peer().wait_until_ended()).await.unwrap();
    assert!(matches!(why, Failure::Refused { .. }), "{why:?}");
}

// L5: intermediaries cut idle streams.
#[tokio::test]
async fn stream_that_is_cut_repeatedly_does_not_end_the_connection() {
    let reached = reach(&[], &[], Era::Old).await;
    crate::http_world::until(&reached.server, |stats| stats["get"] == 1).await;
    reached.proxy.set_fault(Fault::Cut);
    // The stream that was cut, and three failed attempts.
    let before = reached.proxy.accepted_connections();
    tokio::time::timeout(LONG, async {
        while reached.proxy.accepted_connections() < before + 3 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
    .unwrap();
    assert!(!reached.is_over());
    reached.proxy.set_fault(Fault::None);
    assert_eq!(reached.echo().await.unwrap(), "x");
}
