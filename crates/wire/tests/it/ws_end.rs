//! How WebSockets end: by the server, by us, and in the middle of everything.

use std::time::{Duration, Instant};

use mcparley_testkit::HttpServer;
use mcparley_wire::peer::CallOptions;
use mcparley_wire::{Failure, Params};
use serde_json::json;

use crate::http_world::{AT_ONCE, until};
use crate::world::call;
use crate::ws::socket;

// T4 F57
#[tokio::test]
async fn the_end_of_a_socket_fails_its_calls_at_once_and_later_ones_were_never_sent() {
    for code in [1000, 1001, 1006, 1011, 4000] {
        let server = HttpServer::start(&[&format!("ws-close:{code}")]);
        let connected = socket(&server).await;
        let start = Instant::now();
        let failure = call(&connected, "echo", json!({"message": "x"})).await.unwrap_err();
        assert!(matches!(failure, Failure::Closed { sent: true, .. }), "{code}: {failure:?}");
        let failure = call(&connected, "echo", json!({"message": "x"})).await.unwrap_err();
        assert!(matches!(failure, Failure::Closed { sent: false, .. }), "{code}: {failure:?}");
        assert!(start.elapsed() < AT_ONCE, "{code}: {:?}", start.elapsed());
    }
}

// T4 F57
#[tokio::test]
async fn a_server_that_dies_in_a_call_fails_it_at_once() {
    let server = HttpServer::start(&["call-hang"]);
    let connected = socket(&server).await;
    let calling = async {
        let failure = call(&connected, "echo", json!({"message": "x"})).await.unwrap_err();
        (failure, Instant::now())
    };
    let killing = async {
        until(&server, |stats| stats["post"]["tools/call"] == 1).await;
        let killed = Instant::now();
        drop(server);
        killed
    };
    let ((failure, failed), killed) = tokio::join!(calling, killing);
    assert!(matches!(failure, Failure::Closed { sent: true, .. }), "{failure:?}");
    assert!(failed.saturating_duration_since(killed) < AT_ONCE);
}

// T4
#[tokio::test]
async fn a_goodbye_that_is_not_answered_holds_nobody_up() {
    let server = HttpServer::start(&["ws-deaf:close", "call-hang"]);
    let connected = socket(&server).await;
    let peer = connected.link.peer().clone();
    let calling = tokio::spawn(async move {
        let params = Params::new().with("name", &"echo").with("arguments", &json!({"message": "x"}));
        connected.session.call("tools/call", params, CallOptions::default()).await
    });
    until(&server, |stats| stats["post"]["tools/call"] == 1).await;
    let start = Instant::now();
    connected.link.stop().await;
    assert!(start.elapsed() < Duration::from_secs(1) + AT_ONCE, "{:?}", start.elapsed());
    assert!(peer.is_over());
    let failure = calling.await.unwrap().unwrap_err();
    assert!(matches!(failure, Failure::Closed { sent: true, .. }), "{failure:?}");
    until(&server, |stats| stats["openConnections"] == 0).await;
}

// T4
#[tokio::test]
async fn a_dropped_socket_is_gone() {
    let server = HttpServer::start(&[]);
    let connected = socket(&server).await;
    let peer = connected.link.peer().clone();
    drop(connected.link);
    assert!(peer.is_over());
    until(&server, |stats| stats["openConnections"] == 0).await;
}

// T4 F11
#[tokio::test]
async fn calls_a_server_does_not_read_wait_and_are_told_apart_at_the_end() {
    const CALLS: usize = 80;
    let server = HttpServer::start(&["ws-deaf:everything"]);
    let connected = socket(&server).await;
    let payload = json!({"message": "x".repeat(1024 * 1024)});
    let params = Params::new().with("name", &"echo").with("arguments", &payload);
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..CALLS {
        let (session, params) = (connected.session.clone(), params.clone());
        calls.spawn(async move { session.call("tools/call", params, CallOptions::default()).await });
    }
    // As much as the system takes is on its way, and the rest cannot be.
    let limit = CallOptions { limit: Some(Duration::from_millis(300)), ..CallOptions::default() };
    let late =
        connected.session.call("tools/call", Params::new().with("name", &"echo"), limit).await.unwrap_err();
    assert!(matches!(late, Failure::TimedOut { .. }), "{late:?}");
    assert!(calls.try_join_next().is_none());
    let start = Instant::now();
    connected.link.stop().await;
    let (mut sent, mut unsent) = (0, 0);
    for outcome in calls.join_all().await {
        match outcome {
            Err(Failure::Closed { sent: true, .. }) => sent += 1,
            Err(Failure::Closed { sent: false, .. }) => unsent += 1,
            other => unreachable!("{other:?}"),
        }
    }
    assert!(start.elapsed() < Duration::from_secs(1) + AT_ONCE, "{:?}", start.elapsed());
    // Some megabytes fit into the buffers of the system, which differ; neither kind can be missing.
    assert!(sent > 0 && unsent > CALLS / 2, "{sent} sent, {unsent} not");
}
