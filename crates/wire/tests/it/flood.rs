//! Floods of messages: memory stays bounded and responses still arrive.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mcparley_model::config::Era;
use mcparley_model::limits::PROGRESS_UPDATES;
use mcparley_wire::peer::{PeerCallOptions, progress_channel};
use mcparley_wire::{Failure, RequestParams};
use serde_json::json;

use crate::world::{LONG, Rooted, Server, call, text};

// F16 F61
#[tokio::test]
async fn a_flood_of_notifications_is_delivered_in_full_and_the_reply_behind_it_too() {
    for (script, count) in [("flood:10000", 10_000), ("list-changed-storm:100000", 100_000)] {
        let heard = Arc::new(AtomicUsize::new(0));
        let mut server = Server::scripted(&[script]).with_handler(Rooted(Arc::clone(&heard)));
        let connected = server.connect().await.unwrap();
        let answer = call(&connected, "echo", json!({"message": "behind"})).await.unwrap();
        assert_eq!(text(&answer), "behind");
        assert_eq!(heard.load(Ordering::Relaxed), count, "{script}");
    }
}

// F62
#[tokio::test]
async fn progress_flood_is_bounded_and_its_end_is_kept() {
    let connected = Server::scripted(&["progress-storm:100000"]).connect().await.unwrap();
    let (sender, mut progress) = progress_channel();
    let params =
        RequestParams::new().with_member("name", &"echo").with_member("arguments", &json!({"message": "x"}));
    let options = PeerCallOptions { limit: Some(LONG), progress: Some(sender), ..PeerCallOptions::default() };
    let answer = connected.session.call("tools/call", params, options).await.unwrap();
    assert_eq!(text(&answer), "x");
    let mut seen = Vec::new();
    while let Some(update) = progress.next_update().await {
        seen.push(update.progress);
    }
    assert_eq!((seen.len(), seen.last()), (PROGRESS_UPDATES, Some(&100_000.0)));
}

// F65
#[tokio::test]
async fn a_server_that_asks_while_we_wait_is_answered_or_refused() {
    for (script, expected) in [("server-request:roots/list", "roots"), ("server-request:bogus", "-32601")] {
        let mut server = Server::scripted(&[script]).with_handler(Rooted(Arc::default()));
        let connected = server.connect().await.unwrap();
        let answer = call(&connected, "echo", json!({"message": "x"})).await.unwrap();
        assert!(text(&answer).contains(expected), "{script}: {}", text(&answer));
    }
}

// F12
#[tokio::test]
async fn noise_before_the_handshake_does_not_prevent_it() {
    let connected = Server::scripted(&["noise:50"]).connect().await.unwrap();
    assert_eq!(text(&call(&connected, "echo", json!({"message": "x"})).await.unwrap()), "x");
}

// F17
#[tokio::test]
async fn a_flooded_stderr_is_drained_and_its_end_is_kept() {
    let connected = Server::scripted(&["stderr-flood:32"]).connect().await.unwrap();
    assert_eq!(text(&call(&connected, "echo", json!({"message": "x"})).await.unwrap()), "x");
    // An invalid byte becomes a replacement character of three bytes.
    assert!(connected.link.stderr().text().len() <= 3 * 64 * 1024 + 100);
}

// F13
#[tokio::test]
async fn a_reply_in_two_halves_is_one_reply() {
    let connected = Server::scripted(&["split-reply:300"]).connect().await.unwrap();
    let start = Instant::now();
    assert_eq!(text(&call(&connected, "echo", json!({"message": "x"})).await.unwrap()), "x");
    assert!(start.elapsed() >= Duration::from_millis(300));
}

// F11
#[tokio::test]
async fn server_that_stops_reading_times_its_callers_out_with_a_bounded_queue() {
    // The server stops after its first response, so that must be the one to `initialize`.
    let connected = Server::scripted(&["no-read"]).connect_as(Era::Old, LONG).await.unwrap();
    let payload = "x".repeat(64 * 1024);
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..1000 {
        let session = connected.session.clone();
        let params = RequestParams::new()
            .with_member("name", &"echo")
            .with_member("arguments", &json!({"message": payload}));
        let options = PeerCallOptions { limit: Some(Duration::from_secs(1)), ..PeerCallOptions::default() };
        calls.spawn(async move { session.call("tools/call", params, options).await });
    }
    let start = Instant::now();
    for outcome in calls.join_all().await {
        assert!(matches!(outcome, Err(Failure::TimedOut { .. })), "{outcome:?}");
    }
    assert!(start.elapsed() < Duration::from_secs(10));
}
