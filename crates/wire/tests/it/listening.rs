//! Subscriptions of the new era, on both transports.

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::config::Era;
use mcparley_testkit::{HttpServer, ScriptedStdio, log_lines};
use mcparley_wire::handshake::EstablishedConnection;
use mcparley_wire::peer::{BoxedFuture, Handler, PeerCallOptions, PingHandler};
use mcparley_wire::transport::memory::link_handlers;
use mcparley_wire::{Failure, FailurePhase, Incoming, Notice, RawJson, RpcError, SubscriptionFilter};
use serde_json::json;
use tokio::sync::{Semaphore, mpsc};

use crate::http_world::{NEW, Site, new, until};
use crate::world::{LONG, Server, call, log_file, text};

/// Passes on the methods of its notifications.
struct Hearing(mpsc::UnboundedSender<String>);

impl Handler for Hearing {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        PingHandler.handle_request(incoming)
    }

    fn handle_notice(&self, notice: Notice) {
        // A test that has ended drops its receiver.
        drop(self.0.send(notice.method.into()));
    }
}

fn stdio(scripts: &[&str]) -> ScriptedStdio {
    ScriptedStdio::new(scripts).with_option("--versions", "2026-07-28")
}

fn everything() -> SubscriptionFilter {
    SubscriptionFilter {
        tools: true,
        prompts: true,
        resources: true,
        resource_uris: vec!["test://note".to_owned()],
    }
}

fn tools() -> SubscriptionFilter {
    SubscriptionFilter { tools: true, ..SubscriptionFilter::default() }
}

async fn hears_changes<L>(connected: &EstablishedConnection<L>, heard: &mut mpsc::UnboundedReceiver<String>) {
    let listening = connected.session.open_subscription(&everything()).await.unwrap();
    assert_eq!(*listening.acknowledged_filter(), tools(), "the server has no other changes to tell");
    // The call makes the server send a change notification, and is answered beside the subscription.
    assert_eq!(text(&call(connected, "echo", json!({"message": "beside"})).await.unwrap()), "beside");
    for _ in 0..3 {
        let method = tokio::time::timeout(LONG, heard.recv()).await.unwrap().unwrap();
        assert_eq!(method, "notifications/tools/list_changed");
    }
    drop(listening);
}

// T9
#[tokio::test]
async fn subscription_is_acknowledged_and_its_notifications_reach_the_handler() {
    let (sender, mut heard) = mpsc::unbounded_channel();
    let folder = tempfile::tempdir().unwrap();
    let log = log_file(&folder);
    let scripted = stdio(&["list-changed-storm:3"]).with_log(&log);
    let mut server = Server::new(scripted).with_handler(Hearing(sender));
    let connected = server.connect().await.unwrap();
    hears_changes(&connected, &mut heard).await;
    // When this is answered, all earlier messages have arrived.
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

async fn end_of<L>(connected: &EstablishedConnection<L>) -> Result<(), Failure> {
    let listening = connected.session.open_subscription(&tools()).await.unwrap();
    call(connected, "echo", json!({"message": "x"})).await.unwrap();
    tokio::time::timeout(LONG, listening.wait_until_ended()).await.unwrap()
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
    let listening = connected.session.open_subscription(&tools()).await.unwrap();
    drop(call(&connected, "crash", json!({})).await);
    let end = tokio::time::timeout(LONG, listening.wait_until_ended()).await.unwrap();
    assert!(matches!(end, Err(Failure::Closed { .. })), "{end:?}");
}

// T9 T8
#[tokio::test]
async fn subscription_outlives_every_request_timeout() {
    let (sender, mut heard) = mpsc::unbounded_channel();
    let server = HttpServer::start_with(&["list-changed-storm:1"], &NEW);
    let mut site = Site::at(server.url()).with_handler(Hearing(sender));
    let connected = site.connect_as(Era::New).await.unwrap();
    let listening = connected.session.open_subscription(&tools()).await.unwrap();
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(24 * 3600)).await;
    tokio::time::resume();
    call(&connected, "echo", json!({"message": "x"})).await.unwrap();
    assert!(tokio::time::timeout(LONG, heard.recv()).await.unwrap().is_some());
    drop(listening);
}

// T9
#[tokio::test]
async fn unacknowledged_subscription_times_out_and_a_refused_one_fails() {
    let hang = ["--versions", "2026-07-28", "--on", "subscriptions/listen"];
    let server = HttpServer::start_with(&["call-hang"], &hang);
    let connected = new(&server).await;
    tokio::time::pause();
    let error = connected.session.open_subscription(&tools()).await.unwrap_err();
    assert!(matches!(error, Failure::TimedOut { phase: FailurePhase::Answering, .. }), "{error:?}");
    tokio::time::resume();
    assert_eq!(text(&call(&connected, "echo", json!({"message": "on"})).await.unwrap()), "on");

    let connected = Server::new(stdio(&["list-error:subscriptions/listen"])).connect().await.unwrap();
    let error = connected.session.open_subscription(&tools()).await.unwrap_err();
    assert!(matches!(&error, Failure::ErrorResponse(error) if error.code == -32603), "{error:?}");
    let old = Server::scripted(&[]).connect().await.unwrap();
    let error = old.session.open_subscription(&tools()).await.unwrap_err();
    assert!(matches!(error, Failure::Protocol(_)), "{error:?}");
}

// B08 K7
#[tokio::test]
async fn an_error_that_names_no_call_fails_the_only_call_and_not_the_subscription_beside_it() {
    let connected = Arc::new(Server::new(stdio(&["null-id:error"])).connect().await.unwrap());
    let listening = connected.session.open_subscription(&tools()).await.unwrap();
    let failure = call(&connected, "echo", json!({"message": "x"})).await.unwrap_err();
    assert!(matches!(failure, Failure::ErrorResponse(_)), "{failure:?}");
    let end = tokio::time::timeout(Duration::ZERO, listening.wait_until_ended()).await;
    assert!(end.is_err(), "it stands: {end:?}");
}

/// Answers a limited number of requests.
pub(crate) struct Patient(pub(crate) Arc<Semaphore>);

impl Handler for Patient {
    fn handle_request(&self, _incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        let go = Arc::clone(&self.0);
        Box::pin(async move {
            go.acquire().await.unwrap().forget();
            Ok(RawJson::parse("{}").unwrap())
        })
    }

    fn handle_notice(&self, _notice: Notice) {}
}

// B13
#[tokio::test]
async fn a_server_cannot_end_a_call_by_cancelling_it() {
    let go = Arc::new(Semaphore::new(0));
    let link = link_handlers(Arc::new(PingHandler), Arc::new(Patient(Arc::clone(&go))));
    let cancel = async {
        let note = RawJson::parse(r#"{"requestId":1}"#).unwrap();
        link.server.notify("notifications/cancelled", Some(&note)).await.unwrap();
        go.add_permits(1);
    };
    let (answer, ()) = tokio::join!(link.client.call("slow", None, PeerCallOptions::default()), cancel);
    assert_eq!(answer.unwrap().as_bytes(), b"{}");
}
