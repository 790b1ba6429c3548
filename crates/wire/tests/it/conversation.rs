//! Two linked peers, with a paused clock.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcparley_json::UnexpectedShape;
use mcparley_wire::peer::{BoxedFuture, Handler, PeerCallOptions, PingHandler, progress_channel};
use mcparley_wire::transport::memory::{MemoryLink, link_handlers};
use mcparley_wire::{Failure, FailurePhase, Incoming, METHOD_NOT_FOUND, Notice, RawJson, RpcError};
use tokio::sync::{Notify, Semaphore};

use crate::listening::Patient;

/// A server with a few methods, which records its notifications.
#[derive(Default)]
struct Server {
    heard: Arc<Mutex<Vec<String>>>,
    news: Arc<Notify>,
}

impl Handler for Server {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        Box::pin(async move {
            match &*incoming.method {
                "echo" => Ok(incoming.params.unwrap_or_else(|| RawJson::parse("null").unwrap())),
                "hang" => std::future::pending().await,
                "fail" => Err(RpcError::new(-32000, "no\u{1b}[2J")),
                _ => Err(RpcError::new(METHOD_NOT_FOUND, "method not found")),
            }
        })
    }

    fn handle_notice(&self, Notice { method, params, .. }: Notice) {
        let params = params.map(|params| String::from_utf8_lossy(params.as_bytes()).into_owned());
        self.heard.lock().unwrap().push(format!("{method} {}", params.unwrap_or_default()));
        self.news.notify_one();
    }
}

fn connect() -> (MemoryLink, Arc<Mutex<Vec<String>>>, Arc<Notify>) {
    let server = Server::default();
    let (heard, news) = (Arc::clone(&server.heard), Arc::clone(&server.news));
    (link_handlers(Arc::new(PingHandler), Arc::new(server)), heard, news)
}

fn raw(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

// T5
#[tokio::test]
async fn an_answer_comes_back_byte_for_byte() {
    let (link, ..) = connect();
    let odd = raw(r#"{"b" : 1.50, "a":"\u00e9", "unknown":[ ]}"#);
    let answer = link.client.call("echo", Some(&odd), PeerCallOptions::default()).await.unwrap();
    assert_eq!(answer, odd);
}

// T5: both sides may send requests.
#[tokio::test]
async fn either_side_may_ask_the_other() {
    let (link, ..) = connect();
    let answer = link.server.call("ping", None, PeerCallOptions::default()).await.unwrap();
    assert_eq!(answer.as_bytes(), b"{}");
    let refused = link.server.call("roots/list", None, PeerCallOptions::default()).await.unwrap_err();
    assert!(matches!(refused, Failure::ErrorResponse(error) if error.code == METHOD_NOT_FOUND));
}

// K7 N7
#[tokio::test]
async fn error_response_is_typed_and_its_text_is_sanitized() {
    let (link, ..) = connect();
    let error = link.client.call("fail", None, PeerCallOptions::default()).await.unwrap_err();
    assert_eq!(error.to_string(), "the server answered with error -32000: no[2J");
}

// F08
#[tokio::test(start_paused = true)]
async fn timeout_fires_on_time_and_sends_one_cancellation() {
    let (link, heard, news) = connect();
    let start = tokio::time::Instant::now();
    let options = PeerCallOptions { limit: Some(Duration::from_secs(1)), ..PeerCallOptions::default() };
    let error = link.client.call("hang", None, options).await.unwrap_err();
    assert!(matches!(error, Failure::TimedOut { phase: FailurePhase::Answering, .. }));
    assert_eq!(start.elapsed(), Duration::from_secs(1));
    news.notified().await;
    assert_eq!(
        *heard.lock().unwrap(),
        [r#"notifications/cancelled {"requestId":1,"reason":"the caller gave up"}"#]
    );
    assert!(
        link.client.call("echo", None, PeerCallOptions::default()).await.is_ok(),
        "the connection lives on"
    );
}

// F07
#[tokio::test(start_paused = true)]
async fn dropped_call_sends_one_cancellation() {
    let (link, heard, news) = connect();
    let call = link.client.call("hang", None, PeerCallOptions::default());
    assert!(tokio::time::timeout(Duration::from_millis(10), call).await.is_err());
    news.notified().await;
    assert_eq!(heard.lock().unwrap().len(), 1);
}

// F07
#[tokio::test]
async fn an_answer_that_comes_too_late_is_ignored() {
    let go = Arc::new(Semaphore::new(0));
    let link = link_handlers(Arc::new(PingHandler), Arc::new(Patient(Arc::clone(&go))));
    let options = PeerCallOptions { limit: Some(Duration::ZERO), ..PeerCallOptions::default() };
    let late = link.client.call("slow", None, options).await;
    assert!(matches!(late, Err(Failure::TimedOut { .. })), "{late:?}");
    go.add_permits(2);
    let next = link.client.call("slow", None, PeerCallOptions::default()).await;
    assert_eq!(next.unwrap().as_bytes(), b"{}");
}

/// Works until it is canceled, and reports that it has ended.
struct Endless(Arc<Notify>);

impl Handler for Endless {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        struct Ends(Arc<Notify>);
        impl Drop for Ends {
            fn drop(&mut self) {
                self.0.notify_one();
            }
        }
        let (ends, is_endless) = (Ends(Arc::clone(&self.0)), &*incoming.method == "endless");
        Box::pin(async move {
            if is_endless {
                std::future::pending::<()>().await;
            }
            drop(ends);
            Ok(raw("{}"))
        })
    }

    fn handle_notice(&self, _notice: Notice) {}
}

// F07 X5
#[tokio::test]
async fn canceled_request_stops_its_handler() {
    let ended = Arc::new(Notify::new());
    let link = link_handlers(Arc::new(PingHandler), Arc::new(Endless(Arc::clone(&ended))));
    let options = PeerCallOptions { limit: Some(Duration::ZERO), ..PeerCallOptions::default() };
    let given_up = link.client.call("endless", None, options).await;
    assert!(matches!(given_up, Err(Failure::TimedOut { .. })), "{given_up:?}");
    ended.notified().await;
    assert!(link.client.call("short", None, PeerCallOptions::default()).await.is_ok());
}

// T9: an old server must not receive a cancellation of the probe.
#[tokio::test(start_paused = true)]
async fn silent_call_sends_no_cancellation() {
    let (link, heard, news) = connect();
    let options =
        PeerCallOptions { limit: Some(Duration::from_secs(1)), silent: true, ..PeerCallOptions::default() };
    link.client.call("hang", None, options).await.unwrap_err();
    link.client.notify("after", None).await.unwrap();
    news.notified().await;
    assert_eq!(*heard.lock().unwrap(), ["after "]);
}

// F04
#[tokio::test]
async fn every_waiting_call_fails_when_the_other_side_goes() {
    let (link, ..) = connect();
    let client = link.client.clone();
    let calls = (0..5).map(|_| {
        let client = client.clone();
        async move { client.call("hang", None, PeerCallOptions::default()).await }
    });
    let all = futures_join(calls);
    let ended = async {
        tokio::task::yield_now().await;
        drop(link);
    };
    let (outcomes, ()) = tokio::join!(all, ended);
    assert_eq!(outcomes.len(), 5);
    for outcome in outcomes {
        assert!(matches!(outcome, Err(Failure::Closed { sent: true, .. })), "{outcome:?}");
    }
    let later = client.call("echo", None, PeerCallOptions::default()).await;
    assert!(matches!(later, Err(Failure::Closed { sent: false, .. })), "{later:?}");
}

async fn futures_join<T: Send + 'static>(
    calls: impl Iterator<Item = impl Future<Output = T> + Send + 'static>,
) -> Vec<T> {
    let mut set = tokio::task::JoinSet::new();
    for call in calls {
        set.spawn(call);
    }
    set.join_all().await
}

// F62 K2
#[tokio::test]
async fn progress_reaches_its_call_and_the_newest_is_never_lost() {
    let (link, ..) = connect();
    let request = link.client.prepare_request();
    let token = request.token();
    let (sender, mut progress) = progress_channel();
    let options = PeerCallOptions { progress: Some(sender), ..PeerCallOptions::default() };
    let call = request.call("hang", None, options);
    let told = async {
        for step in 1..=1000 {
            let note = raw(&format!(r#"{{"progressToken":{token},"progress":{step},"total":1000}}"#));
            link.server.notify("notifications/progress", Some(&note)).await.unwrap();
        }
        loop {
            let update = progress.next_update().await.unwrap();
            if update.progress >= 1000.0 {
                break update;
            }
        }
    };
    tokio::select! {
        outcome = call => panic!("{outcome:?}"),
        last = told => assert_eq!(last.total, Some(1000.0)),
    }
}

// F65
#[tokio::test]
async fn a_server_may_flood_with_requests_and_no_call_waits_for_them() {
    let (link, ..) = connect();
    let server = link.server.clone();
    let flood = futures_join((0..200).map(move |_| {
        let server = server.clone();
        async move { server.call("ping", None, PeerCallOptions::default()).await.is_ok() }
    }));
    let (answers, echo) = tokio::join!(flood, link.client.call("echo", None, PeerCallOptions::default()));
    assert!(echo.is_ok());
    assert_eq!(answers.len(), 200, "each is answered or refused");
}

// K7
#[tokio::test]
async fn result_that_does_not_match_is_malformed() {
    let (link, ..) = connect();
    let answer = link.client.call("echo", Some(&raw("[1]")), PeerCallOptions::default()).await.unwrap();
    let decoded = answer.decode::<std::collections::HashMap<String, u8>>();
    assert_eq!(decoded, Err(UnexpectedShape));
}

/// Never answers, and panics at the first notification.
struct Fragile;

impl Handler for Fragile {
    fn handle_request(&self, _incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        Box::pin(std::future::pending())
    }

    fn handle_notice(&self, _notice: Notice) {
        std::panic::resume_unwind(Box::new("a mistake in a handler"));
    }
}

/// Panics while it answers.
struct Hasty;

impl Handler for Hasty {
    fn handle_request(&self, _incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        Box::pin(async { std::panic::resume_unwind(Box::new("a mistake in a handler")) })
    }

    fn handle_notice(&self, _notice: Notice) {}
}

// T5 K7
#[tokio::test]
async fn panicking_request_handler_returns_an_error() {
    let link = link_handlers(Arc::new(PingHandler), Arc::new(Hasty));
    let answer = link.client.call("ask", None, PeerCallOptions::default()).await;
    assert!(matches!(&answer, Err(Failure::ErrorResponse(error)) if error.code == -32603), "{answer:?}");
    assert!(!link.client.is_ended());
}

// T5
#[tokio::test]
async fn panicking_notification_handler_closes_both_sides() {
    let link = link_handlers(Arc::new(PingHandler), Arc::new(Fragile));
    let call = link.client.call("ask", None, PeerCallOptions::default());
    let (answer, told) = tokio::join!(call, link.client.notify("hello", None));
    told.unwrap();
    assert!(matches!(answer, Err(Failure::Closed { sent: true, .. })), "{answer:?}");
    assert!(link.client.is_ended() && link.server.is_ended());
    assert!(matches!(link.client.failure(), Some(Failure::Closed { .. })));
}
