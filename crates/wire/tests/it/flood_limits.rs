//! Floods of messages: the limit of their memory.

use std::time::Duration;

use mcparley_model::config::Era;
use mcparley_testkit::run_in_own_process;
use mcparley_wire::peer::{PeerCallOptions, progress_channel};
use mcparley_wire::{Failure, RequestParams};
use serde_json::json;

use crate::http_limits::{MIB, peak};
use crate::world::{LONG, Server, call, text};

// F12 F17 B02 B13 F62
#[test]
fn a_flood_costs_a_bounded_amount_of_memory() {
    run_in_own_process("flood_limits::floods_alone_in_their_process").unwrap();
}

#[tokio::test]
#[ignore = "started by the test above, in a process of its own"]
async fn floods_alone_in_their_process() {
    // The first use of each part costs extra memory.
    let connected = Server::scripted(&[]).connect().await.unwrap();
    call(&connected, "echo", json!({"message": "x"})).await.unwrap();
    // Less than the fault catalog names: growth with the flood shows all the same.
    for (script, most, is_answered) in [
        ("noise:32", 2, true),
        ("stderr-flood:256", 1, true),
        ("flood:100000", 2, true),
        ("progress-storm:100000", 2, true),
        ("huge:512", 32, false),
        ("huge-id-last:64", 32, false),
    ] {
        let before = peak();
        let connected = Server::scripted(&[script]).connect_as(Era::Old, 3 * LONG).await.unwrap();
        let params = RequestParams::new()
            .with_member("name", &"echo")
            .with_member("arguments", &json!({"message": "x"}));
        let (sender, mut progress) = progress_channel();
        let options =
            PeerCallOptions { limit: Some(3 * LONG), progress: Some(sender), ..PeerCallOptions::default() };
        let outcome = connected.session.call("tools/call", params, options).await;
        match outcome {
            Ok(reply) => assert!(is_answered && text(&reply) == "x", "{script}"),
            Err(Failure::TooLarge { .. }) => assert!(!is_answered, "{script}"),
            Err(failure) => unreachable!("{script}: {failure:?}"),
        }
        assert_eq!(progress.try_next().is_some(), script.starts_with("progress"), "{script}");
        // After an oversized message the server is still usable.
        let tools =
            connected.session.call("tools/list", RequestParams::new(), PeerCallOptions::default()).await;
        assert!(tools.is_ok(), "{script}: {tools:?}");
        let grown = peak() - before;
        assert!(grown <= most * MIB, "{script}: {} KiB more", grown / 1024);
    }
}

// F11
#[test]
fn calls_to_a_server_that_stops_reading_cost_no_more_than_the_queue() {
    run_in_own_process("flood_limits::calls_nobody_reads_alone_in_their_process").unwrap();
}

#[tokio::test]
#[ignore = "started by the test above, in a process of its own"]
async fn calls_nobody_reads_alone_in_their_process() {
    let connected = Server::scripted(&["no-read"]).connect_as(Era::Old, LONG).await.unwrap();
    let before = peak();
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..1000 {
        let session = connected.session.clone();
        calls.spawn(async move {
            // Created here, so that memory outside the queue is the caller's own.
            let payload = "x".repeat(64 * 1024);
            let params = RequestParams::new()
                .with_member("name", &"echo")
                .with_member("arguments", &json!({"message": payload}));
            drop(payload);
            let options =
                PeerCallOptions { limit: Some(Duration::from_secs(1)), ..PeerCallOptions::default() };
            session.call("tools/call", params, options).await
        });
    }
    for outcome in calls.join_all().await {
        assert!(matches!(outcome, Err(Failure::TimedOut { .. })), "{outcome:?}");
    }
    let grown = peak() - before;
    // The callers' own copies: their arguments, and the request made from them.
    let theirs = 1000 * 3 * 64 * 1024;
    assert!(grown <= theirs + (32 + 16) * MIB, "{} MiB more", grown / MIB);
}
