//! A network on which nothing comes any more, in the middle of a call.

use std::time::{Duration, Instant};

use mcparley_model::config::Era;
use mcparley_testkit::{Fault, FaultProxy, HttpServer};
use mcparley_wire::peer::CallOptions;
use mcparley_wire::transport::http::KeepAlive;
use mcparley_wire::{Failure, Params, Phase};
use serde_json::json;

use crate::http_world::{NEW, Site, until};
use crate::namespace::{alone, ip};
use crate::world::{LONG, call, text};

/// As long as a call may take that waits for a person.
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
        let options = CallOptions { limit: Some(FOR_EVER), ..CallOptions::default() };
        let params = Params::new().with("name", &"echo").with("arguments", &json!({"message": "x"}));
        let running = tokio::spawn(async move { session.call("tools/call", params, options).await });
        until(&server, |stats| stats["post"]["tools/call"] == 1).await;
        ip("link set lo down");
        let start = Instant::now();
        let failure = tokio::time::timeout(LONG, running).await.unwrap().unwrap().unwrap_err();
        assert!(matches!(failure, Failure::Closed { sent: true, .. }), "{failure:?}");
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        // Whoever calls now finds nobody, and so the conversation is over soon.
        for _ in 0..2 {
            let next = call(&connected, "echo", json!({"message": "x"})).await.unwrap_err();
            let is_gone =
                matches!(next, Failure::TimedOut { phase: Phase::Connecting, .. } | Failure::Closed { .. });
            assert!(is_gone, "{next:?}");
        }
        assert!(connected.link.peer().is_over());
        let closing = Instant::now();
        connected.link.stop().await;
        assert!(closing.elapsed() < Duration::from_secs(2), "{:?}", closing.elapsed());
        ip("link set lo up");
        let connected = site.connect_as(Era::Auto).await.unwrap();
        assert_eq!(text(&call(&connected, "echo", json!({"message": "x"})).await.unwrap()), "x");
    }
}

// T8: whose system answers may think.
#[tokio::test]
async fn a_server_that_says_nothing_for_longer_than_that_is_waited_for() {
    let server = HttpServer::start(&["json-after:4000"]);
    let connected = Site::at(server.url()).with_keep_alive(SOON).connect_as(Era::Old).await.unwrap();
    assert_eq!(text(&call(&connected, "echo", json!({"message": "x"})).await.unwrap()), "x");
}

// F35: its system answers for it, so only the limit of the call can end this.
#[tokio::test]
async fn a_way_on_which_nothing_comes_through_ends_a_call_at_its_limit_and_holds_up_no_end() {
    for options in [&NEW[..], &[]] {
        let server = HttpServer::start_with(&[], options);
        let proxy = FaultProxy::to(server.address());
        let url = format!("http://{}/mcp", proxy.address());
        let connected = Site::at(&url).connect_as(Era::Auto).await.unwrap();
        proxy.set(Fault::Stop);
        let limit = Duration::from_millis(300);
        let options = CallOptions { limit: Some(limit), ..CallOptions::default() };
        let params = Params::new().with("name", &"echo").with("arguments", &json!({"message": "x"}));
        let failure = connected.session.call("tools/call", params, options).await.unwrap_err();
        assert!(matches!(failure, Failure::TimedOut { phase: Phase::Answering, .. }), "{failure:?}");
        assert!(!connected.link.peer().is_over(), "it may be there");
        let closing = Instant::now();
        connected.link.stop().await;
        assert!(closing.elapsed() < Duration::from_secs(2), "{:?}", closing.elapsed());
    }
}
