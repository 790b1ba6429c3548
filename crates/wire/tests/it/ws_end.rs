//! The end of WebSockets: by the server, by us, and in the middle of calls.

use std::time::{Duration, Instant};

use mcparley_testkit::HttpServer;
use mcparley_wire::peer::PeerCallOptions;
use mcparley_wire::{Failure, RequestParams};
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
async fn unanswered_close_frame_does_not_delay_the_stop() {
    let server = HttpServer::start(&["ws-deaf:close", "call-hang"]);
    let connected = socket(&server).await;
    let peer = connected.link.peer().clone();
    let calling = tokio::spawn(async move {
        let params = RequestParams::new()
            .with_member("name", &"echo")
            .with_member("arguments", &json!({"message": "x"}));
        connected.session.call("tools/call", params, PeerCallOptions::default()).await
    });
    until(&server, |stats| stats["post"]["tools/call"] == 1).await;
    let start = Instant::now();
    connected.link.stop().await;
    assert!(start.elapsed() < Duration::from_secs(1) + AT_ONCE, "{:?}", start.elapsed());
    assert!(peer.is_ended());
    let failure = calling.await.unwrap().unwrap_err();
    assert!(matches!(failure, Failure::Closed { sent: true, .. }), "{failure:?}");
    until(&server, |stats| stats["openConnections"] == 0).await;
}

// T4
#[tokio::test]
async fn dropped_socket_closes_its_connection() {
    let server = HttpServer::start(&[]);
    let connected = socket(&server).await;
    let peer = connected.link.peer().clone();
    drop(connected.link);
    assert!(peer.is_ended());
    until(&server, |stats| stats["openConnections"] == 0).await;
}

// T4 F11
#[tokio::test]
async fn unsent_calls_are_distinguished_when_the_socket_ends() {
    const CALLS: usize = 80;
    let server = HttpServer::start(&["ws-deaf:everything"]);
    let connected = socket(&server).await;
    let payload = json!({"message": "x".repeat(1024 * 1024)});
    let params = RequestParams::new().with_member("name", &"echo").with_member("arguments", &payload);
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..CALLS {
        let (session, params) = (connected.session.clone(), params.clone());
        calls.spawn(async move { session.call("tools/call", params, PeerCallOptions::default()).await });
    }
    // The buffers of the system are full, and the rest cannot be sent.
    let limit = PeerCallOptions { limit: Some(Duration::from_millis(300)), ..PeerCallOptions::default() };
    let late = connected
        .session
        .call("tools/call", RequestParams::new().with_member("name", &"echo"), limit)
        .await
        .unwrap_err();
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
    // Some megabytes fit into the buffers of the system, which differ; both kinds must occur.
    assert!(sent > 0 && unsent > CALLS / 2, "{sent} sent, {unsent} not");
}
