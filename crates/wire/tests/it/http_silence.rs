//! A network that goes silent in the middle of a call.

use std::time::{Duration, Instant};

use mcparley_model::config::Era;
use mcparley_testkit::{Fault, FaultProxy, HttpServer};
use mcparley_wire::peer::PeerCallOptions;
use mcparley_wire::transport::http::KeepAlive;
use mcparley_wire::{Failure, FailurePhase, RequestParams};
use serde_json::json;

use crate::http_world::{NEW, Site, until};
use crate::namespace::{alone, ip};
use crate::world::{LONG, call, text};

/// The timeout of a call that waits for the user.
const FOR_EVER: Duration = Duration::from_secs(100_000);

/// Noticed after two seconds instead of sixty.
const SOON: KeepAlive = KeepAlive {
    after: Duration::from_secs(1),
    every: Duration::from_secs(1),
    tries: 1,
    unacknowledged: Duration::from_secs(2),
};

// F35 T8
#[test]
fn a_network_that_is_gone_ends_a_call_by_the_limit_of_the_connection() {
    alone("http_silence::in_a_network_that_goes_away", "");
}

#[tokio::test]
#[ignore = "started by the test above, in a network of its own"]
async fn in_a_network_that_goes_away() {
    for options in [&NEW[..], &[]] {
        let server = HttpServer::start_with(&["call-hang"], &[options, &["--times", "1"]].concat());
        let mut site = Site::at(server.url()).with_keep_alive(SOON);
        let connected = site.connect_as(Era::Auto).await.unwrap();
        let session = connected.session.clone();
        let options = PeerCallOptions { limit: Some(FOR_EVER), ..PeerCallOptions::default() };
        let params = RequestParams::new()
            .with_member("name", &"echo")
            .with_member("arguments", &json!({"message": "x"}));
        let running = tokio::spawn(async move { session.call("tools/call", params, options).await });
        until(&server, |stats| stats["post"]["tools/call"] == 1).await;
        ip("link set lo down");
        let start = Instant::now();
        let failure = tokio::time::timeout(LONG, running).await.unwrap().unwrap().unwrap_err();
        assert!(matches!(failure, Failure::Closed { sent: true, .. }), "{failure:?}");
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        // A call now finds no server, and so the connection ends soon.
        for _ in 0..2 {
            let next = call(&connected, "echo", json!({"message": "x"})).await.unwrap_err();
            let is_gone = matches!(
                next,
                Failure::TimedOut { phase: FailurePhase::Connecting, .. } | Failure::Closed { .. }
            );
            assert!(is_gone, "{next:?}");
        }
        assert!(connected.link.peer().is_ended());
        let closing = Instant::now();
        connected.link.stop().await;
        assert!(closing.elapsed() < Duration::from_secs(2), "{:?}", closing.elapsed());
        ip("link set lo up");
        let connected = site.connect_as(Era::Auto).await.unwrap();
        assert_eq!(text(&call(&connected, "echo", json!({"message": "x"})).await.unwrap()), "x");
    }
}

// T8: a server may be slow as long as its kernel answers.
#[tokio::test]
async fn slow_server_is_waited_for_beyond_the_keep_alive_timeout() {
    let server = HttpServer::start(&["json-after:4000"]);
    let connected = Site::at(server.url()).with_keep_alive(SOON).connect_as(Era::Old).await.unwrap();
    assert_eq!(text(&call(&connected, "echo", json!({"message": "x"})).await.unwrap()), "x");
}

// F35: the kernel answers for the server, so only the timeout of the call can end this.
#[tokio::test]
async fn silent_connection_times_the_call_out_and_does_not_delay_the_shutdown() {
    for options in [&NEW[..], &[]] {
        let server = HttpServer::start_with(&[], options);
        let proxy = FaultProxy::for_server(server.address());
        let url = format!("http://{}/mcp", proxy.address());
        let connected = Site::at(&url).connect_as(Era::Auto).await.unwrap();
        proxy.set_fault(Fault::Stop);
        let limit = Duration::from_millis(300);
        let options = PeerCallOptions { limit: Some(limit), ..PeerCallOptions::default() };
        let params = RequestParams::new()
            .with_member("name", &"echo")
            .with_member("arguments", &json!({"message": "x"}));
        let failure = connected.session.call("tools/call", params, options).await.unwrap_err();
        assert!(matches!(failure, Failure::TimedOut { phase: FailurePhase::Answering, .. }), "{failure:?}");
        assert!(!connected.link.peer().is_ended(), "it may be there");
        let closing = Instant::now();
        connected.link.stop().await;
        assert!(closing.elapsed() < Duration::from_secs(2), "{:?}", closing.elapsed());
    }
}
