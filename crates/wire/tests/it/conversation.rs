//! Two peers that talk to each other, on a clock that stands still.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcparley_wire::peer::{Boxed, CallOptions, Deaf, Handler, Progress};
use mcparley_wire::transport::memory::{Link, link};
use mcparley_wire::{Damage, Failure, METHOD_NOT_FOUND, Phase, RawJson, RpcError};
use tokio::sync::{Notify, Semaphore, watch};

use crate::listening::Patient;

/// A server with a few methods, which notes what it is told.
#[derive(Default)]
struct Server {
    heard: Arc<Mutex<Vec<String>>>,
    news: Arc<Notify>,
}

impl Handler for Server {
    fn request(&self, method: &str, params: Option<RawJson>) -> Boxed<'static, Result<RawJson, RpcError>> {
        let method = method.to_owned();
        Box::pin(async move {
            match method.as_str() {
                "echo" => Ok(params.unwrap_or_else(|| RawJson::parse("null").unwrap())),
                "hang" => std::future::pending().await,
                "fail" => Err(RpcError::new(-32000, "no\u{1b}[2J")),
                _ => Err(RpcError::new(METHOD_NOT_FOUND, "method not found")),
            }
        })
    }

    fn notification(&self, method: &str, params: Option<RawJson>) {
        let params = params.map(|params| String::from_utf8_lossy(params.as_bytes()).into_owned());
        self.heard.lock().unwrap().push(format!("{method} {}", params.unwrap_or_default()));
        self.news.notify_one();
    }
}

fn connect() -> (Link, Arc<Mutex<Vec<String>>>, Arc<Notify>) {
    let server = Server::default();
    let (heard, news) = (Arc::clone(&server.heard), Arc::clone(&server.news));
    (link(Arc::new(Deaf), Arc::new(server)), heard, news)
}

fn raw(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

// T5
#[tokio::test]
async fn an_answer_comes_back_byte_for_byte() {
    let (link, ..) = connect();
    let odd = raw(r#"{"b" : 1.50, "a":"\u00e9", "unknown":[ ]}"#);
    let answer = link.client.call("echo", Some(&odd), CallOptions::default()).await.unwrap();
    assert_eq!(answer, odd);
}

// T5: both sides may ask.
#[tokio::test]
async fn either_side_may_ask_the_other() {
    let (link, ..) = connect();
    let answer = link.server.call("ping", None, CallOptions::default()).await.unwrap();
    assert_eq!(answer.as_bytes(), b"{}");
    let refused = link.server.call("roots/list", None, CallOptions::default()).await.unwrap_err();
    assert!(matches!(refused, Failure::Answered(error) if error.code == METHOD_NOT_FOUND));
}

// K7 N7
#[tokio::test]
async fn an_error_answer_is_typed_and_its_text_is_clean() {
    let (link, ..) = connect();
    let error = link.client.call("fail", None, CallOptions::default()).await.unwrap_err();
    assert_eq!(error.to_string(), "the server answered with error -32000: no[2J");
}

// F08
#[tokio::test(start_paused = true)]
async fn a_limit_fires_on_time_and_the_server_hears_of_it_once() {
    let (link, heard, news) = connect();
    let start = tokio::time::Instant::now();
    let options = CallOptions { limit: Some(Duration::from_secs(1)), ..CallOptions::default() };
    let error = link.client.call("hang", None, options).await.unwrap_err();
    assert!(matches!(error, Failure::TimedOut { phase: Phase::Answering, .. }));
    assert_eq!(start.elapsed(), Duration::from_secs(1));
    news.notified().await;
    assert_eq!(
        *heard.lock().unwrap(),
        [r#"notifications/cancelled {"requestId":1,"reason":"the caller gave up"}"#]
    );
    assert!(link.client.call("echo", None, CallOptions::default()).await.is_ok(), "the connection lives on");
}

// F07
#[tokio::test(start_paused = true)]
async fn giving_a_call_up_tells_the_server_once() {
    let (link, heard, news) = connect();
    let call = link.client.call("hang", None, CallOptions::default());
    assert!(tokio::time::timeout(Duration::from_millis(10), call).await.is_err());
    news.notified().await;
    assert_eq!(heard.lock().unwrap().len(), 1);
}

// F07
#[tokio::test]
async fn an_answer_that_comes_too_late_is_ignored() {
    let go = Arc::new(Semaphore::new(0));
    let link = link(Arc::new(Deaf), Arc::new(Patient(Arc::clone(&go))));
    let options = CallOptions { limit: Some(Duration::ZERO), ..CallOptions::default() };
    let late = link.client.call("slow", None, options).await;
    assert!(matches!(late, Err(Failure::TimedOut { .. })), "{late:?}");
    go.add_permits(2);
    let next = link.client.call("slow", None, CallOptions::default()).await;
    assert_eq!(next.unwrap().as_bytes(), b"{}");
}

/// Works until it is told to end, and tells that it has ended.
struct Endless(Arc<Notify>);

impl Handler for Endless {
    fn request(&self, method: &str, _: Option<RawJson>) -> Boxed<'static, Result<RawJson, RpcError>> {
        struct Ends(Arc<Notify>);
        impl Drop for Ends {
            fn drop(&mut self) {
                self.0.notify_one();
            }
        }
        let (ends, is_endless) = (Ends(Arc::clone(&self.0)), method == "endless");
        Box::pin(async move {
            if is_endless {
                std::future::pending::<()>().await;
            }
            drop(ends);
            Ok(raw("{}"))
        })
    }

    fn notification(&self, _method: &str, _params: Option<RawJson>) {}
}

// F07 X5
#[tokio::test]
async fn work_on_a_question_that_is_taken_back_ends() {
    let ended = Arc::new(Notify::new());
    let link = link(Arc::new(Deaf), Arc::new(Endless(Arc::clone(&ended))));
    let options = CallOptions { limit: Some(Duration::ZERO), ..CallOptions::default() };
    let given_up = link.client.call("endless", None, options).await;
    assert!(matches!(given_up, Err(Failure::TimedOut { .. })), "{given_up:?}");
    ended.notified().await;
    assert!(link.client.call("short", None, CallOptions::default()).await.is_ok());
}

// T9: a probe that is given up is nothing an old server must hear of.
#[tokio::test(start_paused = true)]
async fn a_silent_call_ends_silently() {
    let (link, heard, news) = connect();
    let options = CallOptions { limit: Some(Duration::from_secs(1)), silent: true, ..CallOptions::default() };
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
        async move { client.call("hang", None, CallOptions::default()).await }
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
    let later = client.call("echo", None, CallOptions::default()).await;
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
async fn progress_reaches_its_call_and_the_newest_wins() {
    let (link, ..) = connect();
    let request = link.client.prepare();
    let token = request.token();
    let (sender, mut progress) = watch::channel(None);
    let options = CallOptions { progress: Some(sender), ..CallOptions::default() };
    let call = request.call("hang", None, options);
    let told = async {
        for step in 1..=1000 {
            let note = raw(&format!(r#"{{"progressToken":{token},"progress":{step},"total":1000}}"#));
            link.server.notify("notifications/progress", Some(&note)).await.unwrap();
        }
        let last = |progress: &Option<Progress>| progress.as_ref().is_some_and(|p| p.progress >= 1000.0);
        progress.wait_for(last).await.unwrap().clone()
    };
    tokio::select! {
        outcome = call => panic!("{outcome:?}"),
        last = told => assert_eq!(last.unwrap().total, Some(1000.0)),
    }
}

// F65
#[tokio::test]
async fn a_server_may_flood_with_requests_and_no_call_waits_for_them() {
    let (link, ..) = connect();
    let server = link.server.clone();
    let flood = futures_join((0..200).map(move |_| {
        let server = server.clone();
        async move { server.call("ping", None, CallOptions::default()).await.is_ok() }
    }));
    let (answers, echo) = tokio::join!(flood, link.client.call("echo", None, CallOptions::default()));
    assert!(echo.is_ok());
    assert_eq!(answers.len(), 200, "each is answered or refused");
}

// K7
#[tokio::test]
async fn a_result_of_another_form_is_damage() {
    let (link, ..) = connect();
    let answer = link.client.call("echo", Some(&raw("[1]")), CallOptions::default()).await.unwrap();
    let decoded = answer.decode::<std::collections::HashMap<String, u8>>();
    assert!(matches!(decoded, Err(Failure::Damaged(Damage::Shape))));
}

/// Answers nothing, and panics at the first notification.
struct Fragile;

impl Handler for Fragile {
    fn request(&self, _method: &str, _params: Option<RawJson>) -> Boxed<'static, Result<RawJson, RpcError>> {
        Box::pin(std::future::pending())
    }

    fn notification(&self, _method: &str, _params: Option<RawJson>) {
        std::panic::resume_unwind(Box::new("a mistake in a handler"));
    }
}

/// Panics while it answers.
struct Hasty;

impl Handler for Hasty {
    fn request(&self, _method: &str, _params: Option<RawJson>) -> Boxed<'static, Result<RawJson, RpcError>> {
        Box::pin(async { std::panic::resume_unwind(Box::new("a mistake in a handler")) })
    }

    fn notification(&self, _method: &str, _params: Option<RawJson>) {}
}

// T5 K7
#[tokio::test]
async fn a_handler_that_panics_while_it_answers_owes_an_error() {
    let link = link(Arc::new(Deaf), Arc::new(Hasty));
    let answer = link.client.call("ask", None, CallOptions::default()).await;
    assert!(matches!(&answer, Err(Failure::Answered(error)) if error.code == -32603), "{answer:?}");
    assert!(!link.client.is_over());
}

// T5
#[tokio::test]
async fn a_handler_that_panics_ends_the_conversation_for_both_sides() {
    let link = link(Arc::new(Deaf), Arc::new(Fragile));
    let call = link.client.call("ask", None, CallOptions::default());
    let (answer, told) = tokio::join!(call, link.client.notify("hello", None));
    told.unwrap();
    assert!(matches!(answer, Err(Failure::Closed { sent: true, .. })), "{answer:?}");
    assert!(link.client.is_over() && link.server.is_over());
    assert!(matches!(link.client.failure(), Some(Failure::Closed { .. })));
}
