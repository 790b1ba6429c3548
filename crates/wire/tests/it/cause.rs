//! The cause of a server's message, and the replies to an inbound request.

use std::sync::Arc;

use mcparley_model::config::Era;
use mcparley_wire::peer::{BoxedFuture, Handler, PeerCallOptions, PingHandler};
use mcparley_wire::transport::memory::link_handlers;
use mcparley_wire::{AskError, Cause, Delivery, Incoming, Notice, RawJson, RequestParams, RpcError};
use serde_json::json;
use tokio::sync::mpsc;

use crate::http_streams::{Asked, Hearing, events, greet, serve};
use crate::http_world::Site;
use crate::world::LONG;

/// Records the method and the cause of every message.
struct Recorder(mpsc::UnboundedSender<(String, Cause)>);

impl Handler for Recorder {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        self.0.send((incoming.method.to_string(), incoming.cause)).unwrap();
        Box::pin(std::future::ready(Ok(RawJson::parse("{}").unwrap())))
    }

    fn handle_notice(&self, notice: Notice) {
        self.0.send((notice.method.into(), notice.cause)).unwrap();
    }
}

/// Events with a request and a notification, distinguished by their method.
fn question(name: &str) -> String {
    let request = json!({ "jsonrpc": "2.0", "id": name, "method": format!("ask/{name}") });
    let notification = json!({ "jsonrpc": "2.0", "method": format!("tell/{name}") });
    format!("data: {request}\n\ndata: {notification}\n\n")
}

/// Sends requests on the stream of the call, on the stream that resumes it, and on the GET stream.
fn answer(asked: &Asked) -> Option<String> {
    if asked.body["method"] == "tools/call" {
        let id = &asked.body["id"];
        return events(&format!("{}id: call-{id}\nretry: 1\ndata:\n\n", question("call")));
    }
    if let Some(id) = asked.head.split("last-event-id: call-").nth(1).and_then(|rest| rest.lines().next()) {
        let id: u64 = id.parse().unwrap();
        let result = json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [] } });
        return events(&format!("{}data: {result}\n\n", question("resumed")));
    }
    match asked.head.starts_with("get") {
        true if asked.head.contains("last-event-id") => None,
        true => events(&format!("id: g\n{}", question("get"))),
        false => greet(asked),
    }
}

// T3 G3 X5
#[tokio::test]
async fn a_message_on_the_stream_of_a_request_has_that_request_as_its_cause() {
    let (sender, mut heard) = mpsc::unbounded_channel();
    let url = serve(|asked, _| answer(asked));
    let connected = Site::at(&url).with_handler(Recorder(sender)).connect_as(Era::Old).await.unwrap();
    let (session, params) = (&connected.session, RequestParams::new());
    let requests = [session.prepare_request(), session.prepare_request()];
    let ids = requests.each_ref().map(|request| request.id());
    assert_ne!(ids[0], ids[1]);
    for request in requests {
        session.call_round(request, ("tools/call", &params), PeerCallOptions::default()).await.unwrap();
    }
    let [first, second] = ids.map(Cause::Ours);
    let mut expected: Vec<(String, Cause)> =
        [("call", first), ("resumed", first), ("call", second), ("resumed", second)]
            .into_iter()
            .chain([("get", Cause::Connection)])
            .flat_map(|(name, cause)| [(format!("ask/{name}"), cause), (format!("tell/{name}"), cause)])
            .collect();
    while !expected.is_empty() {
        let message = tokio::time::timeout(LONG, heard.recv()).await.unwrap().unwrap();
        let known = expected.iter().position(|wanted| *wanted == message);
        expected.remove(known.unwrap_or_else(|| panic!("{message:?} is not among {expected:?}")));
    }
}

// G3
#[tokio::test]
async fn requests_of_two_connections_are_never_taken_for_each_other() {
    let links = [
        link_handlers(Arc::new(PingHandler), Arc::new(PingHandler)),
        link_handlers(Arc::new(PingHandler), Arc::new(PingHandler)),
    ];
    let [one, other] = links.each_ref().map(|link| link.client.prepare_request());
    assert_eq!(one.token(), other.token(), "the same number on the wire");
    assert_ne!(one.id(), other.id());
}

/// Answers a request with its client's response, after sending a notification.
struct Curious;

impl Handler for Curious {
    fn handle_request(
        &self,
        Incoming { id, cause, replies, .. }: Incoming,
    ) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        Box::pin(async move {
            assert_eq!(cause, Cause::Connection);
            assert_eq!(replies.notify("notifications/before", None), Delivery::Sent);
            let pong = replies.ask("ping", RawJson::parse("{}").unwrap()).await.unwrap();
            let refused = replies.ask("no/such", id).await;
            assert!(matches!(refused, Err(AskError::Refused(error)) if error.code == -32601));
            Ok(pong)
        })
    }

    fn handle_notice(&self, _notice: Notice) {}
}

// G3
#[tokio::test]
async fn replies_send_notifications_and_requests_for_an_inbound_request() {
    let (sender, mut heard) = mpsc::channel(10);
    let link = link_handlers(Arc::new(Hearing(sender)), Arc::new(Curious));
    let answer = link.client.call("any", None, PeerCallOptions::default()).await.unwrap();
    assert_eq!(answer.as_bytes(), b"{}");
    heard.recv().await.unwrap();
}

/// Passes its replies to the test, and never answers.
struct Lending(mpsc::UnboundedSender<mcparley_wire::Replies>);

impl Handler for Lending {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        self.0.send(incoming.replies).unwrap();
        Box::pin(std::future::pending())
    }

    fn handle_notice(&self, _notice: Notice) {}
}

// G3
#[tokio::test]
async fn replies_report_that_the_other_side_is_gone() {
    let (sender, mut lent) = mpsc::unbounded_channel();
    let link = link_handlers(Arc::new(PingHandler), Arc::new(Lending(sender)));
    let client = link.client.clone();
    let asking = tokio::spawn(async move { client.call("any", None, PeerCallOptions::default()).await });
    let replies = lent.recv().await.unwrap();
    drop(link);
    replies.wait_until_gone().await;
    assert_eq!(replies.notify("notifications/late", None), Delivery::Gone);
    let refused = replies.ask("ping", RawJson::parse("{}").unwrap()).await;
    assert!(matches!(refused, Err(AskError::Gone)), "{refused:?}");
    assert!(asking.await.unwrap().is_err());
}
