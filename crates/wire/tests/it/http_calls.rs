//! Calls over HTTP: the streams of their responses, and their cancellation.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mcparley_model::config::Era;
use mcparley_testkit::HttpServer;
use mcparley_wire::peer::PeerCallOptions;
use mcparley_wire::{Failure, RequestParams};
use serde_json::json;

use crate::http_world::{NEW, Site, new, old, until};
use crate::world::{LONG, Rooted, call, text};

// T3
#[tokio::test]
async fn a_reply_on_the_get_stream_finds_its_call() {
    let server = HttpServer::start(&["reply-on-get"]);
    let connected = old(&server).await;
    let replies = ["a", "b", "c"].map(|message| call(&connected, "echo", json!({"message": message})));
    let [a, b, c] = replies;
    let (a, b, c) = tokio::join!(a, b, c);
    assert_eq!([a, b, c].map(|reply| text(&reply.unwrap())), ["a", "b", "c"]);
}

// B11
#[tokio::test]
async fn stream_with_the_whole_sse_grammar_is_read() {
    let server = HttpServer::start(&["sse-grammar"]);
    let connected = old(&server).await;
    assert_eq!(text(&call(&connected, "echo", json!({"message": "hi"})).await.unwrap()), "hi");
}

// B12
#[tokio::test]
async fn a_reply_to_another_call_on_a_calls_stream_is_dropped_and_counted() {
    let server = HttpServer::start_with(&["other-id-on-stream"], &["--times", "1"]);
    let connected = old(&server).await;
    // The first response has the id of the second call, which runs meanwhile.
    let liar = call(&connected, "echo", json!({"message": "mine"}));
    let victim = call(&connected, "slow", json!({"ms": 300}));
    let (liar, victim) = tokio::join!(liar, victim);
    assert_eq!(text(&liar.unwrap()), "mine");
    assert!(!text(&victim.unwrap()).is_empty());
    assert_eq!(connected.link.stray_counts().unclaimed, 1);
}

// F65 T3
#[tokio::test]
async fn a_server_that_asks_while_we_wait_is_answered_on_whichever_stream_it_asks() {
    for answer in ["sse", "json"] {
        for (script, expected) in [("server-request:roots/list", "roots"), ("server-request:bogus", "-32601")]
        {
            let server = HttpServer::start_with(&[script], &["--answer", answer]);
            let mut site = Site::at(server.url()).with_handler(Rooted(Arc::default()));
            let connected = site.connect_as(Era::Old).await.unwrap();
            // With plain JSON responses it can send requests only on the other stream.
            until(&server, |stats| stats["get"] == 1).await;
            let reply = call(&connected, "echo", json!({"message": "x"})).await.unwrap();
            assert!(text(&reply).contains(expected), "{script} {answer}: {}", text(&reply));
        }
    }
}

// F16
#[tokio::test]
async fn a_flood_ahead_of_a_reply_is_delivered_in_full() {
    let server = HttpServer::start_with(&["flood:10000"], &["--answer", "sse"]);
    let heard = Arc::new(AtomicUsize::new(0));
    let mut site = Site::at(server.url()).with_handler(Rooted(Arc::clone(&heard)));
    let connected = site.connect_as(Era::Old).await.unwrap();
    assert_eq!(text(&call(&connected, "echo", json!({"message": "behind"})).await.unwrap()), "behind");
    assert_eq!(heard.load(Ordering::Relaxed), 10_000);
}

// T3
#[tokio::test]
async fn a_connection_serves_call_after_call() {
    for answer in ["json", "sse"] {
        let server = HttpServer::start_with(&[], &["--answer", answer]);
        let connected = old(&server).await;
        for _ in 0..50 {
            call(&connected, "echo", json!({"message": "x"})).await.unwrap();
        }
        // A call that follows at once may find the last connection still in use.
        let open = server.stats()["openConnections"].as_u64().unwrap();
        assert!(open < 10, "{answer}: {open}");
    }
}

// T8
#[tokio::test]
async fn slow_response_is_delivered() {
    for script in ["json-after:700", "slow-headers:700", "slow-body:700"] {
        let server = HttpServer::start(&[script]);
        let connected = old(&server).await;
        let start = Instant::now();
        assert_eq!(text(&call(&connected, "echo", json!({"message": "x"})).await.unwrap()), "x", "{script}");
        assert!(start.elapsed() >= Duration::from_millis(700));
    }
}

async fn give_up(
    connected: &mcparley_wire::handshake::EstablishedConnection<
        mcparley_wire::transport::http::HttpTransport,
    >,
) {
    let params =
        RequestParams::new().with_member("name", &"slow").with_member("arguments", &json!({"ms": 60_000}));
    let options = PeerCallOptions { limit: Some(Duration::from_millis(300)), ..PeerCallOptions::default() };
    let error = connected.session.call("tools/call", params, options).await.unwrap_err();
    assert!(matches!(error, Failure::TimedOut { .. }), "{error:?}");
}

// F07
#[tokio::test]
async fn dropped_call_closes_the_stream_in_the_new_era_and_sends_a_cancellation_in_the_old() {
    for answer in ["json", "sse"] {
        let server = HttpServer::start_with(&[], &["--answer", answer]);
        let connected = old(&server).await;
        give_up(&connected).await;
        let stats = until(&server, |stats| stats["cancelled"].as_array().unwrap().len() == 1).await;
        assert_eq!(stats["post"]["notifications/cancelled"], 1, "{answer}");

        let server = HttpServer::start_with(&[], &[NEW.as_slice(), &["--answer", answer]].concat());
        let connected = new(&server).await;
        give_up(&connected).await;
        let stats = until(&server, |stats| stats["cancelled"].as_array().unwrap().len() == 1).await;
        assert_eq!(stats["post"].get("notifications/cancelled"), None, "{answer}");
        assert_eq!(text(&call(&connected, "echo", json!({"message": "on"})).await.unwrap()), "on");
    }
}

// T3
#[tokio::test]
async fn calls_run_beside_each_other_and_end_with_the_connection() {
    let (old_era, new_era) = (HttpServer::start(&[]), HttpServer::start_with(&[], &NEW));
    for (server, connected) in [(&old_era, old(&old_era).await), (&new_era, new(&new_era).await)] {
        let session = connected.session.clone();
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..50 {
            let session = session.clone();
            let params = RequestParams::new()
                .with_member("name", &"slow")
                .with_member("arguments", &json!({"ms": 60_000}));
            calls.spawn(async move { session.call("tools/call", params, PeerCallOptions::default()).await });
        }
        until(server, |stats| stats["post"]["tools/call"] == 50).await;
        connected.link.stop().await;
        let ended = tokio::time::timeout(LONG, calls.join_all()).await.unwrap();
        assert!(ended.iter().all(|outcome| matches!(outcome, Err(Failure::Closed { sent: true, .. }))));
        let after = session.call("tools/call", RequestParams::new(), PeerCallOptions::default()).await;
        assert!(matches!(after, Err(Failure::Closed { sent: false, .. })), "{after:?}");
    }
    // In the old era a server goes on working for a client that is gone, and notices only then.
    until(&new_era, |stats| stats["openConnections"] == 0).await;
}
