//! Retries after temporary error statuses.

use std::time::{Duration, Instant};

use mcparley_model::config::Era;
use mcparley_testkit::HttpServer;
use mcparley_wire::peer::PeerCallOptions;
use mcparley_wire::{Failure, RequestParams};
use serde_json::json;

use crate::http_world::{AT_ONCE, NEW, Site, old};
use crate::sse::legacy;
use crate::world::call;

// F53
#[tokio::test]
async fn handshake_is_retried_up_to_three_times() {
    for (script, on, era, options) in
        [("status:503", "initialize", Era::Old, &[][..]), ("status:502", "server/discover", Era::New, &NEW)]
    {
        let options = [options, &["--on", on, "--times", "2"]].concat();
        let server = HttpServer::start_with(&[script], &options);
        Site::at(server.url()).connect_as(era).await.unwrap();
        assert_eq!(server.stats()["post"][on], 3, "{on}");
    }
    let server = HttpServer::start_with(&["status:500"], &["--on", "initialize"]);
    let error = Site::at(server.url()).connect_as(Era::Old).await.unwrap_err();
    assert!(matches!(error, Failure::Status { code: 500, .. }), "{error:?}");
    assert_eq!(server.stats()["post"]["initialize"], 3);
}

// F52 F53 T8
#[tokio::test]
async fn list_is_retried_after_retry_after_and_a_tool_call_is_not() {
    let server =
        HttpServer::start_with(&["status:429", "retry-after:1"], &["--on", "tools/list", "--times", "1"]);
    let connected = old(&server).await;
    let start = Instant::now();
    connected.session.call("tools/list", RequestParams::new(), PeerCallOptions::default()).await.unwrap();
    assert!(start.elapsed() >= Duration::from_secs(1));
    let server = HttpServer::start(&["status:503", "retry-after:1"]);
    let connected = old(&server).await;
    let start = Instant::now();
    let error = call(&connected, "echo", json!({"message": "x"})).await.unwrap_err();
    assert!(matches!(error, Failure::Status { code: 503, .. }), "{error:?}");
    assert!(start.elapsed() < AT_ONCE);
    assert_eq!(server.stats()["post"]["tools/call"], 1);
}

// F52
#[tokio::test]
async fn retry_after_over_a_minute_is_not_waited_for_and_an_invalid_one_is_ignored() {
    for (script, posts) in [("retry-after:9999999", 1), ("retry-after:soon", 3)] {
        let server = HttpServer::start_with(&[script], &["--on", "tools/list"]);
        let connected = old(&server).await;
        let start = Instant::now();
        let listing = connected.session.call("tools/list", RequestParams::new(), PeerCallOptions::default());
        let error = listing.await.unwrap_err();
        assert!(matches!(error, Failure::Status { code: 429, .. }), "{script}: {error:?}");
        assert!(start.elapsed() < Duration::from_secs(5), "{script}");
        assert_eq!(server.stats()["post"]["tools/list"], posts, "{script}");
    }
}

// F52: the server's pause is limited by the caller's timeout.
#[tokio::test]
async fn retry_pause_ends_with_the_timeout_of_the_request() {
    let server = HttpServer::start_with(&["retry-after:50"], &["--on", "tools/list"]);
    let connected = old(&server).await;
    let start = Instant::now();
    let options = PeerCallOptions { limit: Some(Duration::from_millis(300)), ..PeerCallOptions::default() };
    let error = connected.session.call("tools/list", RequestParams::new(), options).await.unwrap_err();
    assert!(matches!(error, Failure::TimedOut { .. }), "{error:?}");
    assert!(start.elapsed() < AT_ONCE);
}

// F53 T2
#[tokio::test]
async fn legacy_sse_transport_retries_too() {
    let server =
        HttpServer::start_with(&["legacy-sse-only", "status:503"], &["--on", "initialize", "--times", "1"]);
    legacy(&server).await;
    assert_eq!(server.stats()["post"]["initialize"], 2);
}
