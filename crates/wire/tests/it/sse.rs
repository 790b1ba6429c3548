//! Servers of 2024-11-05: an endless event stream, and POSTs beside it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mcparley_model::config::Era;
use mcparley_testkit::HttpServer;
use mcparley_wire::handshake::{EstablishedConnection, ServerConnector, TransportConnection, connect};
use mcparley_wire::peer::{BoxedFuture, Peer, PeerCallOptions};
use mcparley_wire::transport::http::HttpTransport;
use mcparley_wire::transport::sse::SseTransport;
use mcparley_wire::{AgreedProtocol, Failure, FailurePhase, RequestParams};
use serde_json::json;

use crate::http_world::{AT_ONCE, Site, received, until};
use crate::world::{LONG, Rooted, call, introduction, log_file, text};

/// A server that is known to use this transport.
pub(crate) struct Legacy(pub(crate) Site);

impl ServerConnector for Legacy {
    type Link = SseTransport;

    fn open(&mut self) -> BoxedFuture<'_, Result<SseTransport, Failure>> {
        Box::pin(self.0.open_sse())
    }
}

/// Connects to a server that is known to use this transport.
pub(crate) async fn legacy(server: &HttpServer) -> EstablishedConnection<SseTransport> {
    connect_to(Site::at(server.url())).await.unwrap()
}

async fn connect_to(site: Site) -> Result<EstablishedConnection<SseTransport>, Failure> {
    connect(&mut Legacy(site), Era::Old, &introduction(), LONG).await
}

// T2
#[tokio::test]
async fn handshake_and_calls_work_over_legacy_sse() {
    for script in ["legacy-sse-only", "legacy-sse-only:absolute", "legacy-sse-only:late"] {
        let folder = tempfile::tempdir().unwrap();
        let log = log_file(&folder);
        let server = HttpServer::start_with(&[script], &["--log", &log.to_string_lossy()]);
        let connected = connect_to(Site::at(server.url()).with_header("X-Key", "k")).await.unwrap();
        let echo = |message: &'static str| call(&connected, "echo", json!({"message": message}));
        let (a, b, c) = tokio::join!(echo("a"), echo("b"), echo("c"));
        assert_eq!([a, b, c].map(|reply| text(&reply.unwrap())), ["a", "b", "c"], "{script}");
        connected.link.stop().await;
        let requests = received(&log);
        assert!(requests.len() >= 6, "a stream, a greeting in two parts and three calls: {requests:?}");
        assert!(requests.iter().all(|request| request["headers"]["x-key"] == "k"));
        assert_eq!(requests[0]["headers"]["accept"], "text/event-stream");
        assert!(requests[1..].iter().all(|request| request["path"] == "/messages"), "{requests:?}");
        until(&server, |stats| stats["sessions"] == 0).await;
    }
}

// T2 F65 F16
#[tokio::test]
async fn notifications_and_requests_on_the_sse_stream_are_handled() {
    let heard = Arc::new(AtomicUsize::new(0));
    let server = HttpServer::start(&["legacy-sse-only", "server-request:roots/list", "flood:1000"]);
    let site = Site::at(server.url()).with_handler(Rooted(Arc::clone(&heard)));
    let connected = connect_to(site).await.unwrap();
    let reply = call(&connected, "echo", json!({"message": "x"})).await.unwrap();
    assert!(text(&reply).contains("roots"), "{}", text(&reply));
    assert_eq!(heard.load(Ordering::Relaxed), 1000);
}

// T2
#[tokio::test]
async fn stream_has_no_timeout_and_a_request_has_one() {
    let server = HttpServer::start(&["legacy-sse-only"]);
    let connected = legacy(&server).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(24 * 3600)).await;
    tokio::time::resume();
    assert_eq!(text(&call(&connected, "echo", json!({"message": "x"})).await.unwrap()), "x");
    let params =
        RequestParams::new().with_member("name", &"slow").with_member("arguments", &json!({"ms": 60_000}));
    let options = PeerCallOptions { limit: Some(Duration::from_millis(200)), ..PeerCallOptions::default() };
    let error = connected.session.call("tools/call", params, options).await.unwrap_err();
    assert!(matches!(error, Failure::TimedOut { phase: FailurePhase::Answering, .. }), "{error:?}");
    let stats = until(&server, |stats| stats["cancelled"].as_array().unwrap().len() == 1).await;
    assert_eq!(stats["post"]["notifications/cancelled"], 1);
}

// T2
#[tokio::test]
async fn accepted_request_without_a_response_times_out_and_a_tool_call_does_not() {
    for (method, is_limited) in [("tools/list", true), ("tools/call", false)] {
        let server = HttpServer::start_with(&["legacy-sse-only", "call-hang"], &["--on", method]);
        let connected = legacy(&server).await;
        let session = connected.session.clone();
        let asking = tokio::spawn(async move {
            let params = RequestParams::new().with_member("name", &"echo");
            session.call(method, params, PeerCallOptions::default()).await
        });
        // The POST is accepted, and only the stream is left.
        until(&server, |stats| stats["post"][method] == 1 && stats["openConnections"] == 1).await;
        tokio::time::pause();
        let outcome = tokio::time::timeout(Duration::from_secs(24 * 3600), asking).await;
        tokio::time::resume();
        match outcome {
            Ok(Ok(Err(Failure::TimedOut { phase: FailurePhase::Answering, after }))) => {
                assert!(is_limited && after == Duration::from_secs(60), "{method}");
            }
            Err(_) => assert!(!is_limited, "{method}: the caller's limit is the only one"),
            other => unreachable!("{method}: {other:?}"),
        }
    }
}

// F58
#[tokio::test]
async fn a_stream_that_names_no_endpoint_or_a_foreign_one_is_refused() {
    let server = HttpServer::start(&["legacy-sse-only:other-origin"]);
    let error = connect_to(Site::at(server.url())).await.unwrap_err();
    assert!(matches!(&error, Failure::Protocol(text) if text.contains("another origin")), "{error:?}");
    assert_eq!(server.stats()["otherOrigin"], 0);

    let server = HttpServer::start(&["legacy-sse-only:no-events"]);
    let error = connect_to(Site::at(server.url())).await.unwrap_err();
    assert!(matches!(&error, Failure::Protocol(text) if text.contains("nothing to hear")), "{error:?}");

    let server = HttpServer::start(&["legacy-sse-only:no-endpoint"]);
    let limit = Duration::from_millis(500);
    let mut site = Legacy(Site::at(server.url()));
    let start = Instant::now();
    let error = connect(&mut site, Era::Old, &introduction(), limit).await.unwrap_err();
    assert!(matches!(error, Failure::TimedOut { phase: FailurePhase::Connecting, .. }), "{error:?}");
    assert!(start.elapsed() >= limit && start.elapsed() < limit + AT_ONCE);
    tokio::time::pause();
    let error = site.0.open_sse().await.unwrap_err();
    assert!(matches!(error, Failure::TimedOut { phase: FailurePhase::Connecting, .. }), "{error:?}");
}

// F58
#[tokio::test]
async fn each_stream_has_its_own_endpoint() {
    let server = HttpServer::start(&["legacy-sse-only", "sse-cut"]);
    for _ in 0..2 {
        let connected = legacy(&server).await;
        let start = Instant::now();
        let error = call(&connected, "echo", json!({"message": "x"})).await.unwrap_err();
        assert!(matches!(error, Failure::Closed { sent: true, .. }), "{error:?}");
        assert!(start.elapsed() < AT_ONCE);
        let after = call(&connected, "echo", json!({"message": "x"})).await.unwrap_err();
        assert!(matches!(after, Failure::Closed { sent: false, .. }), "{after:?}");
    }
    assert_eq!(server.stats()["get"], 2);
}

type Check = fn(&Failure) -> bool;

// T2 K7 B05
#[tokio::test]
async fn refused_or_malformed_post_fails_its_call_at_once() {
    let cases: [(&str, Check); 6] = [
        ("status:503", |failure| matches!(failure, Failure::Status { code: 503, .. })),
        ("status:403", |failure| matches!(failure, Failure::Forbidden { .. })),
        ("expire-400", |failure| matches!(failure, Failure::SessionExpired | Failure::Closed { .. })),
        ("not-json", |failure| matches!(failure, Failure::Damaged(_))),
        ("duplicate-id", |failure| matches!(failure, Failure::Damaged(_))),
        ("null-id:error", |failure| matches!(failure, Failure::ErrorResponse(_))),
    ];
    for (script, check) in cases {
        let server = HttpServer::start(&["legacy-sse-only", script]);
        let connected = legacy(&server).await;
        let start = Instant::now();
        let failure = call(&connected, "echo", json!({"message": "x"})).await.unwrap_err();
        assert!(check(&failure), "{script}: {failure:?}");
        assert!(start.elapsed() < AT_ONCE, "{script}: {:?}", start.elapsed());
    }
    let server = HttpServer::start(&["legacy-sse-only", "www-authenticate"]);
    let error = connect_to(Site::at(server.url())).await.unwrap_err();
    assert!(matches!(error, Failure::Unauthorized { challenge: Some(_) }), "{error:?}");
}

/// A server behind a URL, of unknown transport.
#[derive(Debug)]
enum Either {
    Streamable(HttpTransport),
    Oldest(SseTransport),
}

impl TransportConnection for Either {
    fn peer(&self) -> &Peer {
        match self {
            Self::Streamable(http) => http.peer(),
            Self::Oldest(sse) => sse.peer(),
        }
    }

    fn set_protocol(&self, protocol: AgreedProtocol) {
        match self {
            Self::Streamable(http) => http.set_protocol(protocol),
            Self::Oldest(sse) => sse.set_protocol(protocol),
        }
    }
}

struct Unknown(Site);

impl ServerConnector for Unknown {
    type Link = Either;

    fn open(&mut self) -> BoxedFuture<'_, Result<Either, Failure>> {
        Box::pin(std::future::ready(self.0.open_http().map(Either::Streamable)))
    }

    fn open_legacy(&mut self) -> BoxedFuture<'_, Result<Option<Either>, Failure>> {
        Box::pin(async { Ok(self.0.probe_sse().await?.map(Either::Oldest)) })
    }
}

async fn find_out(server: &HttpServer, era: Era) -> Result<EstablishedConnection<Either>, Failure> {
    connect(&mut Unknown(Site::at(server.url())), era, &introduction(), LONG).await
}

// T2 T9
#[tokio::test]
async fn url_that_accepts_no_post_falls_back_to_legacy_sse() {
    for era in [Era::Auto, Era::Old] {
        let server = HttpServer::start(&["legacy-sse-only"]);
        let connected = find_out(&server, era).await.unwrap();
        assert!(matches!(connected.link, Either::Oldest(_)));
        assert_eq!(text(&call(&connected, "echo", json!({"message": "x"})).await.unwrap()), "x");
        let server = HttpServer::start(&[]);
        let connected = find_out(&server, era).await.unwrap();
        assert!(matches!(connected.link, Either::Streamable(_)), "no other server is taken for one");
    }
}

// T2 T9 F58
#[tokio::test]
async fn url_that_is_no_event_stream_either_fails_with_its_first_error() {
    let server = HttpServer::start(&["legacy-sse-only:no-events"]);
    let error = find_out(&server, Era::Auto).await.unwrap_err();
    assert!(matches!(error, Failure::Status { code: 405, .. }), "{error:?}");
    let server = HttpServer::start(&["legacy-sse-only:other-origin"]);
    let error = find_out(&server, Era::Auto).await.unwrap_err();
    assert!(matches!(error, Failure::Protocol(_)), "{error:?}");
    for (script, code) in [("status:429", 429), ("status:503", 503)] {
        let server = HttpServer::start_with(&[script], &["--on", "any"]);
        let error = find_out(&server, Era::Auto).await.unwrap_err();
        assert!(matches!(error, Failure::Status { code: found, .. } if found == code), "{error:?}");
        assert_eq!(server.stats()["get"], 0, "{script} says nothing about the transport");
    }
    let server = HttpServer::start(&["legacy-sse-only:no-endpoint"]);
    let start = Instant::now();
    let error = find_out(&server, Era::Auto).await.unwrap_err();
    assert!(matches!(error, Failure::Status { code: 405, .. }), "{error:?}");
    assert!(start.elapsed() < Duration::from_secs(3) + AT_ONCE, "{:?}", start.elapsed());
}
