//! Wrong responses: each fails its call at once, with the right error.

use std::time::{Duration, Instant};

use mcparley_testkit::HttpServer;
use mcparley_wire::peer::PeerCallOptions;
use mcparley_wire::{Failure, FailurePhase, RequestParams};
use serde_json::json;

use crate::http_world::{AT_ONCE, old};
use crate::world::{call, text};

type Check = fn(&Failure) -> bool;

// F37 F39 F55 B12
#[tokio::test]
async fn a_wrong_answer_fails_its_call_at_once_and_the_next_works() {
    let cases: [(&str, &str, Check); 14] = [
        ("cut", "json", |failure| matches!(failure, Failure::Closed { sent: true, .. })),
        ("sse-cut", "sse", |failure| matches!(failure, Failure::Closed { sent: true, .. })),
        ("unknown-id", "json", |failure| matches!(failure, Failure::Protocol(_))),
        ("unknown-id", "sse", |failure| matches!(failure, Failure::Closed { sent: true, .. })),
        ("null-id:error", "json", |failure| matches!(failure, Failure::ErrorResponse(_))),
        ("null-id:result", "sse", |failure| matches!(failure, Failure::Closed { sent: true, .. })),
        ("not-json", "json", |failure| matches!(failure, Failure::Damaged(_))),
        ("not-json", "sse", |failure| matches!(failure, Failure::Damaged(_))),
        ("bad-utf8", "sse", |failure| matches!(failure, Failure::Damaged(_))),
        ("result-and-error", "json", |failure| matches!(failure, Failure::Damaged(_))),
        ("no-jsonrpc", "sse", |failure| matches!(failure, Failure::Damaged(_))),
        ("html", "json", |failure| matches!(failure, Failure::Protocol(_))),
        ("status:503", "json", |failure| matches!(failure, Failure::Status { code: 503, .. })),
        ("status:403", "json", |failure| matches!(failure, Failure::Forbidden { challenge: None })),
    ];
    for (script, answer, check) in cases {
        let server = HttpServer::start_with(&[script], &["--times", "1", "--answer", answer]);
        let connected = old(&server).await;
        let start = Instant::now();
        let failure = call(&connected, "echo", json!({"message": "x"})).await.unwrap_err();
        assert!(check(&failure), "{script} {answer}: {failure:?}");
        assert!(start.elapsed() < AT_ONCE, "{script}: {:?}", start.elapsed());
        let next = call(&connected, "echo", json!({"message": "next"})).await;
        assert_eq!(next.as_ref().map(text).ok().as_deref(), Some("next"), "{script}: {next:?}");
    }
}

// F55
#[tokio::test]
async fn web_page_is_quoted_shortly_and_sanitized() {
    let server = HttpServer::start(&["html"]);
    let connected = old(&server).await;
    let error = call(&connected, "echo", json!({"message": "x"})).await.unwrap_err().to_string();
    assert!(error.contains("sign in") && !error.contains('\u{1b}'), "{error}");
}

// T8
#[tokio::test]
async fn retry_after_is_part_of_the_failure() {
    let server = HttpServer::start(&["retry-after:2"]);
    let connected = old(&server).await;
    let error = call(&connected, "echo", json!({"message": "x"})).await.unwrap_err();
    let Failure::Status { code: 429, retry_after, text } = error else {
        unreachable!("{error:?}");
    };
    assert_eq!((retry_after, text.raw()), (Some(Duration::from_secs(2)), "as scripted"));
}

// T8
#[tokio::test]
async fn ordinary_request_has_a_timeout_and_a_tool_call_has_none() {
    let server = HttpServer::start_with(&["slow-headers:100000"], &["--on", "tools/list"]);
    let connected = old(&server).await;
    // From here on the clock advances whenever all tasks wait.
    tokio::time::pause();
    let listing = connected.session.call("tools/list", RequestParams::new(), PeerCallOptions::default());
    let error = listing.await.unwrap_err();
    let limit = Duration::from_secs(60);
    assert!(
        matches!(error, Failure::TimedOut { phase: FailurePhase::Answering, after } if after == limit),
        "{error:?}"
    );
    tokio::time::resume();
    let slow = call(&connected, "slow", json!({"ms": 300})).await.unwrap();
    assert!(!text(&slow).is_empty());
}
