//! Authorizers: called for every request, and again when one is refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcparley_model::config::Era;
use mcparley_model::secret::Secret;
use mcparley_testkit::HttpServer;
use mcparley_wire::Failure;
use mcparley_wire::authorizer::{
    Authorizer, Challenge, ChallengeKind, Credentials, RequestTarget, RetryDecision,
};
use mcparley_wire::handshake::connect;
use mcparley_wire::peer::BoxedFuture;
use serde_json::{Value, json};

use crate::http_world::{Site, received};
use crate::sse::Legacy;
use crate::world::{LONG, call, introduction, log_file, text};

/// An authorizer with tokens `0`, `1`, `2` …; a refusal of the current one advances to the next.
#[derive(Debug, Default)]
struct Counting {
    current: AtomicUsize,
    asked: AtomicUsize,
    refused: AtomicUsize,
    gives_up: bool,
    /// Whether the next token is unverified.
    guesses: bool,
}

impl Authorizer for Counting {
    fn authorize_request<'a>(
        &'a self,
        request: RequestTarget<'a>,
    ) -> BoxedFuture<'a, Result<Credentials, Failure>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let token = Secret::new(self.current.load(Ordering::Relaxed).to_string());
        let mut credentials = Credentials::from_bearer_token(token);
        let seen = format!("{} {}", request.method, request.url.path());
        credentials.headers.push(("x-seen".to_owned(), Secret::new(seen)));
        Box::pin(std::future::ready(Ok(credentials)))
    }

    fn handle_refusal<'a>(
        &'a self,
        sent: &'a Credentials,
        challenge: &'a Challenge,
    ) -> BoxedFuture<'a, RetryDecision> {
        self.refused.fetch_add(1, Ordering::Relaxed);
        assert!(
            challenge.kind == ChallengeKind::SignIn && challenge.www_authenticate.is_some(),
            "{challenge:?}"
        );
        let sent: usize = sent.token.as_ref().unwrap().expose().parse().unwrap();
        // A later caller with the same token finds it refreshed.
        let _lost = self.current.compare_exchange(sent, sent + 1, Ordering::Relaxed, Ordering::Relaxed);
        let next = match (self.gives_up, self.guesses) {
            (true, _) => RetryDecision::GiveUp,
            (false, true) => RetryDecision::RetryUnverified,
            (false, false) => RetryDecision::Retry,
        };
        Box::pin(std::future::ready(next))
    }
}

/// A server that accepts these tokens, and the folder with the tokens and the received requests.
#[expect(clippy::disallowed_methods, reason = "the server reads what a test writes")]
fn guarded(tokens: &str, scripts: &[&str]) -> (HttpServer, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    std::fs::write(&file, tokens).unwrap();
    let guard = format!("token-file:{}", file.display());
    let log = log_file(&folder);
    let server =
        HttpServer::start_with(&[&[guard.as_str()], scripts].concat(), &["--log", &log.to_string_lossy()]);
    (server, folder)
}

fn counting(authorizer: &Arc<Counting>) -> [usize; 2] {
    [&authorizer.asked, &authorizer.refused].map(|count| count.load(Ordering::Relaxed))
}

// T7 K4
#[tokio::test]
async fn every_request_carries_the_credentials_of_the_authorizer() {
    let (server, folder) = guarded("0", &[]);
    let authorizer = Arc::new(Counting::default());
    let mut site = Site::at(server.url()).with_header("Authorization", "Bearer configured");
    site = site.with_authorizer(&authorizer);
    let connected = site.connect_as(Era::Old).await.unwrap();
    assert_eq!(text(&call(&connected, "echo", json!({"message": "x"})).await.unwrap()), "x");
    crate::http_world::until(&server, |stats| stats["get"] == 1).await;
    connected.link.stop().await;
    let requests = received(&log_file(&folder));
    let methods = |method: &str| requests.iter().filter(|request| request["method"] == method).count();
    assert!(methods("POST") > 2 && methods("GET") == 1 && methods("DELETE") == 1, "{requests:?}");
    for request in &requests {
        assert_eq!(request["headers"]["authorization"], "Bearer 0");
        assert_eq!(request["headers"]["x-seen"], format!("{} /mcp", request["method"].as_str().unwrap()));
    }
    assert_eq!(counting(&authorizer)[1], 0);
}

// T7 K4
#[tokio::test]
async fn refused_request_is_retried_once_with_new_credentials() {
    for legacy in [false, true] {
        let scripts: &[&str] = if legacy { &["legacy-sse-only"] } else { &[] };
        let (server, _folder) = guarded("1", scripts);
        let authorizer = Arc::new(Counting::default());
        let site = Site::at(server.url()).with_authorizer(&authorizer);
        let reply = if legacy {
            let connected = connect(&mut Legacy(site), Era::Old, &introduction(), LONG).await.unwrap();
            call(&connected, "echo", json!({"message": "x"})).await
        } else {
            let mut site = site;
            let connected = site.connect_as(Era::Old).await.unwrap();
            call(&connected, "echo", json!({"message": "x"})).await
        };
        assert_eq!(text(&reply.unwrap()), "x");
        assert_eq!(server.stats()["unauthorized"], 1);
        assert_eq!(counting(&authorizer)[1], 1);
    }
}

// T7 K4
#[tokio::test]
async fn request_that_stays_refused_is_unauthorized_and_not_retried_forever() {
    for (gives_up, asked) in [(false, 2), (true, 1)] {
        let (server, _folder) = guarded("never", &[]);
        let authorizer = Arc::new(Counting { gives_up, ..Counting::default() });
        let mut site = Site::at(server.url()).with_authorizer(&authorizer);
        let error = site.connect_as(Era::Old).await.unwrap_err();
        let Failure::Unauthorized { challenge: Some(challenge) } = &error else { unreachable!("{error:?}") };
        assert_eq!(challenge.raw(), "Bearer error=\"invalid_token\"");
        assert_eq!(counting(&authorizer), [asked, 1]);
        assert_eq!(server.stats()["unauthorized"], asked);
    }
}

// T7 F54
#[tokio::test]
async fn no_other_origin_gets_our_token() {
    let (server, _folder) = guarded("0", &["redirect:other"]);
    let authorizer = Arc::new(Counting::default());
    let mut site = Site::at(server.url()).with_authorizer(&authorizer);
    let error = site.connect_as(Era::Old).await.unwrap_err();
    assert!(matches!(error, Failure::Protocol(_)), "{error:?}");
    assert_eq!(server.stats()["otherOrigin"], 0);
    let (server, folder) = guarded("0", &["redirect:same"]);
    let mut site = Site::at(server.url()).with_authorizer(&authorizer);
    let connected = site.connect_as(Era::Old).await.unwrap();
    assert_eq!(text(&call(&connected, "echo", json!({"message": "x"})).await.unwrap()), "x");
    let requests = received(&log_file(&folder));
    assert!(requests.len() >= 6, "greeted, told and called, each twice: {requests:?}");
    for request in requests {
        let asked = format!("{} {}", request["method"].as_str().unwrap(), request["path"].as_str().unwrap());
        assert_eq!(request["headers"]["x-seen"], asked, "the place a redirect leads to is asked for, too");
    }
}

/// An authorizer that always fails.
#[derive(Debug)]
struct Unknown;

impl Authorizer for Unknown {
    fn authorize_request<'a>(
        &'a self,
        _request: RequestTarget<'a>,
    ) -> BoxedFuture<'a, Result<Credentials, Failure>> {
        Box::pin(std::future::ready(Err(Failure::Unauthorized { challenge: None })))
    }

    fn handle_refusal<'a>(
        &'a self,
        _sent: &'a Credentials,
        _challenge: &'a Challenge,
    ) -> BoxedFuture<'a, RetryDecision> {
        Box::pin(std::future::ready(RetryDecision::Retry))
    }
}

// T7 K4
#[tokio::test]
async fn unverified_credentials_are_retried_once_more_and_no_oftener() {
    for (good, refused) in [("2", None), ("never", Some(3))] {
        let (server, _folder) = guarded(good, &[]);
        let authorizer = Arc::new(Counting { guesses: true, ..Counting::default() });
        let mut site = Site::at(server.url()).with_authorizer(&authorizer);
        let connected = site.connect_as(Era::Old).await;
        assert_eq!(connected.is_err(), refused.is_some(), "{good}");
        assert_eq!(counting(&authorizer)[1], 2, "{good}");
        assert_eq!(server.stats()["unauthorized"], refused.unwrap_or(2), "{good}");
    }
}

// T7
#[tokio::test]
async fn request_without_credentials_is_not_sent() {
    let (server, folder) = guarded("0", &[]);
    let mut site = Site::at(server.url()).with_authorizer(&Arc::new(Unknown));
    let error = site.connect_as(Era::Auto).await.unwrap_err();
    assert!(matches!(error, Failure::Unauthorized { challenge: None }), "{error:?}");
    assert_eq!(received(&log_file(&folder)), Vec::<Value>::new());
    assert_eq!(server.stats()["unauthorized"], 0);
}

// T7
#[test]
fn a_token_is_not_printed() {
    let printed = format!("{:?}", Credentials::from_bearer_token(Secret::new("hidden".to_owned())));
    assert!(!printed.contains("hidden"), "{printed}");
}
