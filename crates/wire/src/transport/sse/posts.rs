//! Posts our messages to the endpoint. Their responses come on the stream, so only an error status counts
//! here.

use std::sync::Arc;

use bytes::Bytes;
use mcparley_model::limits::REQUEST_LIMIT;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use tokio::time::Instant;
use url::Url;

use crate::failure::{Failure, FailurePhase};
use crate::peer::{Inbox, RequestTicket};
use crate::transport::http::body;
use crate::transport::http::http_sender::HttpSender;
use crate::transport::http::message_head::MessageHead;
use crate::transport::http::post::DeliverPost;
use crate::transport::http::reachability::ReachabilityMonitor;
use crate::transport::http::refusal;
use crate::transport::http::retry;

/// The shared parts of all POSTs.
#[derive(Clone)]
pub(super) struct SsePosts(Arc<Shared>);

struct Shared {
    http_sender: HttpSender,
    endpoint: Url,
    inbox: Inbox,
    reach: ReachabilityMonitor,
}

impl SsePosts {
    pub(super) fn new(http_sender: HttpSender, endpoint: Url, inbox: Inbox) -> Self {
        let reach = ReachabilityMonitor::new(inbox.clone());
        Self(Arc::new(Shared { http_sender, endpoint, inbox, reach }))
    }
}

impl DeliverPost for SsePosts {
    /// Posts a request. The timeout includes the response on the stream; for a tool the caller sets it.
    async fn deliver_request(&self, message: Bytes, ticket: RequestTicket) {
        let RequestTicket { id, done: mut over, headers: _ } = ticket;
        let head = MessageHead::from_message(&message);
        let is_tool = head.is_method("tools/call");
        let deadline = Instant::now() + REQUEST_LIMIT;
        let outcome = tokio::select! {
            outcome = self.post_with_retry(&head, message) => outcome,
            // The response may come before the POST is acknowledged.
            _ = &mut over => return,
        };
        if let Err(failure) = &outcome {
            // First, because the end of the connection would fail the call too, with another failure.
            self.0.inbox.fail_call(id, failure.clone());
        }
        self.0.reach.record_outcome(&outcome);
        if outcome.is_ok() && !is_tool && tokio::time::timeout_at(deadline, over).await.is_err() {
            let late = Failure::TimedOut { phase: FailurePhase::Answering, after: REQUEST_LIMIT };
            self.0.inbox.fail_call(id, late);
        }
    }

    async fn deliver_one_way(&self, message: Bytes) -> Result<(), Failure> {
        let outcome = self.post_message(message).await;
        self.0.reach.record_outcome(&outcome);
        outcome
    }
}

impl SsePosts {
    /// Posts a request, with retries where they are safe.
    async fn post_with_retry(&self, head: &MessageHead, message: Bytes) -> Result<(), Failure> {
        let mut tries = 1;
        loop {
            let Err(failure) = self.post_message(message.clone()).await else { return Ok(()) };
            let Some(pause) = retry::retry_pause(head, &failure, tries) else { return Err(failure) };
            tokio::time::sleep(pause).await;
            tries += 1;
        }
    }

    async fn post_message(&self, message: Bytes) -> Result<(), Failure> {
        let Shared { http_sender, endpoint, .. } = &*self.0;
        let mut headers = http_sender.base_headers();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let response =
            http_sender.send_request(Method::POST, endpoint, headers, message, Some(REQUEST_LIMIT)).await?;
        match response.status() {
            status if status.is_success() => {
                // Reading the short body lets the connection be reused.
                body::read_beginning(response).await;
                Ok(())
            }
            // The endpoint was created for this session, so any error may mean its expiry.
            _ => Err(refusal::read_refusal(response, Some("session")).await),
        }
    }
}
