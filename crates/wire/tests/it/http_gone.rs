//! When a server behind a URL counts as gone, and when it does not (L5).

use std::time::{Duration, Instant};

use mcparley_model::config::Era;
use mcparley_testkit::{Fault, FaultProxy, HttpServer};
use mcparley_wire::handshake::Connected;
use mcparley_wire::peer::CallOptions;
use mcparley_wire::transport::http::Http;
use mcparley_wire::{Failure, Params};
use serde_json::json;

use crate::http_streams::{Asked, empty, greet, serve};
use crate::http_world::{AT_ONCE, NEW, Site};
use crate::world::{LONG, call, text};

/// A server, the way to it that can be spoiled, and a conversation over it.
struct Reached {
    server: HttpServer,
    proxy: FaultProxy,
    connected: Connected<Http>,
}

async fn reach(scripts: &[&str], options: &[&str], era: Era) -> Reached {
    let server = HttpServer::start_with(scripts, options);
    let proxy = FaultProxy::to(server.address());
    let url = format!("http://{}/mcp", proxy.address());
    let connected = Site::at(&url).connect_as(era).await.unwrap();
    Reached { server, proxy, connected }
}

impl Reached {
    async fn echo(&self) -> Result<String, Failure> {
        call(&self.connected, "echo", json!({"message": "x"})).await.map(|reply| text(&reply))
    }

    fn is_over(&self) -> bool {
        self.connected.link.peer().is_over()
    }
}

// L5
#[tokio::test]
async fn three_connections_in_a_row_that_break_end_the_conversation() {
    for fault in [Fault::Reset, Fault::Cut] {
        let reached = reach(&[], &NEW, Era::New).await;
        reached.proxy.set(fault);
        for strike in 1..=3 {
            assert!(!reached.is_over(), "{fault:?} {strike}");
            let failure = reached.echo().await.unwrap_err();
            assert!(matches!(failure, Failure::Closed { .. }), "{fault:?} {strike}: {failure:?}");
        }
        let why = tokio::time::timeout(LONG, reached.connected.link.peer().ended()).await.unwrap();
        assert!(matches!(why, Failure::Closed { .. }), "{why:?}");
        let after = reached.echo().await.unwrap_err();
        assert!(matches!(after, Failure::Closed { sent: false, .. }), "nothing is sent any more: {after:?}");
    }
}

/// Two calls of three find their connection closed.
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
async fn an_answer_in_between_makes_good_for_what_broke_before() {
    let connected = Site::at(&serve(breaks_two_of_three)).connect_as(Era::Old).await.unwrap();
    let mut outcomes = Vec::new();
    for _ in 0..9 {
        outcomes.push(call(&connected, "echo", json!({})).await.is_ok());
    }
    assert_eq!(outcomes, [false, false, true].repeat(3));
    assert!(!connected.link.peer().is_over());
}

// L5 F53: a server that says no is there.
#[tokio::test]
async fn refusals_never_end_the_conversation() {
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
async fn a_server_that_is_not_there_any_more_ends_the_conversation_at_once() {
    let server = HttpServer::start_with(&["call-hang"], &NEW);
    let connected = crate::http_world::new(&server).await;
    let session = connected.session.clone();
    let options = CallOptions { limit: Some(LONG), ..CallOptions::default() };
    let params = Params::new().with("name", &"echo").with("arguments", &json!({"message": "x"}));
    let running = tokio::spawn(async move { session.call("tools/call", params, options).await });
    crate::http_world::until(&server, |stats| stats["post"]["tools/call"] == 1).await;
    drop(server);
    let start = Instant::now();
    let cut = running.await.unwrap().unwrap_err();
    assert!(matches!(cut, Failure::Closed { sent: true, .. }), "it may have been executed: {cut:?}");
    let failure = call(&connected, "echo", json!({"message": "x"})).await.unwrap_err();
    assert!(matches!(failure, Failure::Refused { .. }), "{failure:?}");
    let why = connected.link.peer().ended().await;
    assert!(matches!(&why, Failure::Refused { reason, .. } if reason.contains("refused")), "{why:?}");
    assert!(start.elapsed() < AT_ONCE);
}

// L5: nobody calls, and the stream finds out.
#[tokio::test]
async fn a_session_whose_server_is_gone_is_over_though_nobody_calls() {
    let server = HttpServer::start(&[]);
    let connected = crate::http_world::old(&server).await;
    crate::http_world::until(&server, |stats| stats["get"] == 1).await;
    drop(server);
    let why = tokio::time::timeout(LONG, connected.link.peer().ended()).await.unwrap();
    assert!(matches!(why, Failure::Refused { .. }), "{why:?}");
}

// L5: those between us and a server cut streams on which nothing comes.
#[tokio::test]
async fn a_stream_that_is_cut_again_and_again_does_not_end_the_conversation() {
    let reached = reach(&[], &[], Era::Old).await;
    crate::http_world::until(&reached.server, |stats| stats["get"] == 1).await;
    reached.proxy.set(Fault::Cut);
    // The stream that was cut, and three in vain.
    let before = reached.proxy.accepted();
    tokio::time::timeout(LONG, async {
        while reached.proxy.accepted() < before + 3 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
    .unwrap();
    assert!(!reached.is_over());
    reached.proxy.set(Fault::None);
    assert_eq!(reached.echo().await.unwrap(), "x");
}
