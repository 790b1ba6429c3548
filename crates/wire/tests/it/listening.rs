//! Subscriptions of the new era, on both transports.

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::config::Era;
use mcparley_testkit::{HttpServer, Scripted, log_lines};
use mcparley_wire::handshake::Connected;
use mcparley_wire::peer::{Boxed, CallOptions, Deaf, Handler};
use mcparley_wire::transport::memory::link;
use mcparley_wire::{Failure, Listen, Phase, RawJson, RpcError};
use serde_json::json;
use tokio::sync::{Semaphore, mpsc};

use crate::http_world::{NEW, Site, new, until};
use crate::world::{LONG, Server, call, log_file, text};

/// Hands on the names of what it hears.
struct Hearing(mpsc::UnboundedSender<String>);

impl Handler for Hearing {
    fn request(&self, method: &str, params: Option<RawJson>) -> Boxed<'static, Result<RawJson, RpcError>> {
        Deaf.request(method, params)
    }

    fn notification(&self, method: &str, _params: Option<RawJson>) {
        // A test that has seen enough is gone.
        drop(self.0.send(method.to_owned()));
    }
}

fn stdio(scripts: &[&str]) -> Scripted {
    Scripted::stdio(scripts).with("--versions", "2026-07-28")
}

fn everything() -> Listen {
    Listen { tools: true, prompts: true, resources: true, resource_uris: vec!["test://note".to_owned()] }
}

fn tools() -> Listen {
    Listen { tools: true, ..Listen::default() }
}

async fn hears_changes<L>(connected: &Connected<L>, heard: &mut mpsc::UnboundedReceiver<String>) {
    let listening = connected.session.listen(&everything()).await.unwrap();
    assert_eq!(*listening.acknowledged(), tools(), "the server has no other changes to tell");
    // The call makes the server tell a change, and is answered beside the subscription.
    assert_eq!(text(&call(connected, "echo", json!({"message": "beside"})).await.unwrap()), "beside");
    for _ in 0..3 {
        let method = tokio::time::timeout(LONG, heard.recv()).await.unwrap().unwrap();
        assert_eq!(method, "notifications/tools/list_changed");
    }
    drop(listening);
}

// T9
#[tokio::test]
async fn a_subscription_is_taken_and_its_changes_reach_the_handler() {
    let (sender, mut heard) = mpsc::unbounded_channel();
    let folder = tempfile::tempdir().unwrap();
    let log = log_file(&folder);
    let scripted = stdio(&["list-changed-storm:3"]).logged(&log);
    let mut server = Server::new(scripted).with_handler(Hearing(sender));
    let connected = server.connect().await.unwrap();
    hears_changes(&connected, &mut heard).await;
    // Behind this everything before it has arrived.
    call(&connected, "echo", json!({"message": "x"})).await.unwrap();
    connected.link.stop().await;
    let cancelled =
        log_lines(&log).iter().filter(|line| line.text.contains("notifications/cancelled")).count();
    assert_eq!(cancelled, 1, "giving it up is told");

    let (sender, mut heard) = mpsc::unbounded_channel();
    let server = HttpServer::start_with(&["list-changed-storm:3"], &NEW);
    let mut site = Site::at(server.url()).with_handler(Hearing(sender));
    let connected = site.connect_as(Era::New).await.unwrap();
    hears_changes(&connected, &mut heard).await;
    let stats = until(&server, |stats| stats["openConnections"].as_u64().unwrap() <= 1).await;
    assert_eq!(stats["post"].get("notifications/cancelled"), None, "the closed stream tells it");
}

async fn end_of<L>(connected: &Connected<L>) -> Result<(), Failure> {
    let listening = connected.session.listen(&tools()).await.unwrap();
    call(connected, "echo", json!({"message": "x"})).await.unwrap();
    tokio::time::timeout(LONG, listening.ended()).await.unwrap()
}

// T9
#[tokio::test]
async fn a_server_may_end_a_subscription_in_every_way_and_it_can_be_opened_again() {
    for manner in ["result", "cancelled"] {
        let script = format!("listen-end:{manner}");
        let connected = Server::new(stdio(&[&script])).connect().await.unwrap();
        let server = HttpServer::start_with(&[&script], &NEW);
        let remote = new(&server).await;
        for _ in 0..2 {
            assert!(matches!(end_of(&connected).await, Ok(())), "{manner}");
            assert!(matches!(end_of(&remote).await, Ok(())), "{manner}");
        }
    }
    let server = HttpServer::start_with(&["listen-end:cut"], &NEW);
    let connected = new(&server).await;
    for _ in 0..2 {
        let end = end_of(&connected).await;
        assert!(matches!(end, Err(Failure::Closed { sent: true, .. })), "{end:?}");
    }
    let connected = Server::new(stdio(&[])).connect().await.unwrap();
    let listening = connected.session.listen(&tools()).await.unwrap();
    drop(call(&connected, "crash", json!({})).await);
    let end = tokio::time::timeout(LONG, listening.ended()).await.unwrap();
    assert!(matches!(end, Err(Failure::Closed { .. })), "{end:?}");
}

// T9 T8
#[tokio::test]
async fn a_subscription_outlives_every_limit_of_a_request() {
    let (sender, mut heard) = mpsc::unbounded_channel();
    let server = HttpServer::start_with(&["list-changed-storm:1"], &NEW);
    let mut site = Site::at(server.url()).with_handler(Hearing(sender));
    let connected = site.connect_as(Era::New).await.unwrap();
    let listening = connected.session.listen(&tools()).await.unwrap();
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(24 * 3600)).await;
    tokio::time::resume();
    call(&connected, "echo", json!({"message": "x"})).await.unwrap();
    assert!(tokio::time::timeout(LONG, heard.recv()).await.unwrap().is_some());
    drop(listening);
}

// T9
#[tokio::test]
async fn a_server_that_does_not_take_a_subscription_is_given_up_and_one_that_refuses_is_heard() {
    let hang = ["--versions", "2026-07-28", "--on", "subscriptions/listen"];
    let server = HttpServer::start_with(&["call-hang"], &hang);
    let connected = new(&server).await;
    tokio::time::pause();
    let error = connected.session.listen(&tools()).await.unwrap_err();
    assert!(matches!(error, Failure::TimedOut { phase: Phase::Answering, .. }), "{error:?}");
    tokio::time::resume();
    assert_eq!(text(&call(&connected, "echo", json!({"message": "on"})).await.unwrap()), "on");

    let connected = Server::new(stdio(&["list-error:subscriptions/listen"])).connect().await.unwrap();
    let error = connected.session.listen(&tools()).await.unwrap_err();
    assert!(matches!(&error, Failure::Answered(error) if error.code == -32603), "{error:?}");
    let old = Server::scripted(&[]).connect().await.unwrap();
    let error = old.session.listen(&tools()).await.unwrap_err();
    assert!(matches!(error, Failure::Protocol(_)), "{error:?}");
}

// B08 K7
#[tokio::test]
async fn an_error_that_names_no_call_fails_the_only_call_and_not_the_subscription_beside_it() {
    let connected = Arc::new(Server::new(stdio(&["null-id:error"])).connect().await.unwrap());
    let listening = connected.session.listen(&tools()).await.unwrap();
    let failure = call(&connected, "echo", json!({"message": "x"})).await.unwrap_err();
    assert!(matches!(failure, Failure::Answered(_)), "{failure:?}");
    let end = tokio::time::timeout(Duration::ZERO, listening.ended()).await;
    assert!(end.is_err(), "it stands: {end:?}");
}

/// Answers as often as it is told to.
pub(crate) struct Patient(pub(crate) Arc<Semaphore>);

impl Handler for Patient {
    fn request(&self, _method: &str, _params: Option<RawJson>) -> Boxed<'static, Result<RawJson, RpcError>> {
        let go = Arc::clone(&self.0);
        Box::pin(async move {
            go.acquire().await.unwrap().forget();
            Ok(RawJson::parse("{}").unwrap())
        })
    }

    fn notification(&self, _method: &str, _params: Option<RawJson>) {}
}

// B13
#[tokio::test]
async fn a_server_cannot_end_a_call_by_cancelling_it() {
    let go = Arc::new(Semaphore::new(0));
    let link = link(Arc::new(Deaf), Arc::new(Patient(Arc::clone(&go))));
    let cancel = async {
        let note = RawJson::parse(r#"{"requestId":1}"#).unwrap();
        link.server.notify("notifications/cancelled", Some(&note)).await.unwrap();
        go.add_permits(1);
    };
    let (answer, ()) = tokio::join!(link.client.call("slow", None, CallOptions::default()), cancel);
    assert_eq!(answer.unwrap().as_bytes(), b"{}");
}
