//! Requests that are made again because a server says no for now.

use std::time::{Duration, Instant};

use mcparley_model::config::Era;
use mcparley_testkit::HttpServer;
use mcparley_wire::peer::CallOptions;
use mcparley_wire::{Failure, Params};
use serde_json::json;

use crate::http_world::{AT_ONCE, NEW, Site, old};
use crate::sse::legacy;
use crate::world::call;

// F53
#[tokio::test]
async fn a_greeting_is_made_up_to_three_times() {
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
async fn a_list_is_asked_for_again_when_the_server_wants_it_and_a_tool_never_here() {
    let server =
        HttpServer::start_with(&["status:429", "retry-after:1"], &["--on", "tools/list", "--times", "1"]);
    let connected = old(&server).await;
    let start = Instant::now();
    connected.session.call("tools/list", Params::new(), CallOptions::default()).await.unwrap();
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
async fn nobody_waits_longer_than_a_minute_and_what_is_no_time_is_none() {
    for (script, posts) in [("retry-after:9999999", 1), ("retry-after:soon", 3)] {
        let server = HttpServer::start_with(&[script], &["--on", "tools/list"]);
        let connected = old(&server).await;
        let start = Instant::now();
        let listing = connected.session.call("tools/list", Params::new(), CallOptions::default());
        let error = listing.await.unwrap_err();
        assert!(matches!(error, Failure::Status { code: 429, .. }), "{script}: {error:?}");
        assert!(start.elapsed() < Duration::from_secs(5), "{script}");
        assert_eq!(server.stats()["post"]["tools/list"], posts, "{script}");
    }
}

// F52: what the server wants is within what the caller grants.
#[tokio::test]
async fn waiting_ends_with_the_limit_of_the_request() {
    let server = HttpServer::start_with(&["retry-after:50"], &["--on", "tools/list"]);
    let connected = old(&server).await;
    let start = Instant::now();
    let options = CallOptions { limit: Some(Duration::from_millis(300)), ..CallOptions::default() };
    let error = connected.session.call("tools/list", Params::new(), options).await.unwrap_err();
    assert!(matches!(error, Failure::TimedOut { .. }), "{error:?}");
    assert!(start.elapsed() < AT_ONCE);
}

// F53 T2
#[tokio::test]
async fn the_oldest_transport_asks_again_too() {
    let server =
        HttpServer::start_with(&["legacy-sse-only", "status:503"], &["--on", "initialize", "--times", "1"]);
    legacy(&server).await;
    assert_eq!(server.stats()["post"]["initialize"], 2);
}
