//! Our messages to the endpoint. Their answers come elsewhere, so here only a refusal counts.

use std::sync::Arc;

use bytes::Bytes;
use mcparley_model::limits::REQUEST_LIMIT;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use tokio::time::Instant;
use url::Url;

use crate::failure::{Failure, Phase};
use crate::peer::{Inbox, Ticket};
use crate::transport::http::body;
use crate::transport::http::head::Head;
use crate::transport::http::http_sender::HttpSender;
use crate::transport::http::post::Deliver;
use crate::transport::http::reach::Reach;
use crate::transport::http::refusal;
use crate::transport::http::retry;

/// What every message needs.
#[derive(Clone)]
pub(super) struct Letters(Arc<Shared>);

struct Shared {
    http_sender: HttpSender,
    endpoint: Url,
    inbox: Inbox,
    reach: Reach,
}

impl Letters {
    pub(super) fn new(http_sender: HttpSender, endpoint: Url, inbox: Inbox) -> Self {
        let reach = Reach::new(inbox.clone());
        Self(Arc::new(Shared { http_sender, endpoint, inbox, reach }))
    }
}

impl Deliver for Letters {
    /// The limit is for the answer too, wherever it comes; how long a tool may run is for its caller to say.
    async fn ask(&self, message: Bytes, ticket: Ticket) {
        let Ticket { id, mut over, headers: _ } = ticket;
        let head = Head::read(&message);
        let is_tool = head.is("tools/call");
        let deadline = Instant::now() + REQUEST_LIMIT;
        let outcome = tokio::select! {
            outcome = self.post_again(&head, message) => outcome,
            // The answer may come before the receipt does.
            _ = &mut over => return,
        };
        if let Err(failure) = &outcome {
            // First, because the end of the conversation would fail it too, in other words.
            self.0.inbox.fail_call(id, failure.clone());
        }
        self.0.reach.note(&outcome);
        if outcome.is_ok() && !is_tool && tokio::time::timeout_at(deadline, over).await.is_err() {
            let late = Failure::TimedOut { phase: Phase::Answering, after: REQUEST_LIMIT };
            self.0.inbox.fail_call(id, late);
        }
    }

    async fn tell(&self, message: Bytes) -> Result<(), Failure> {
        let outcome = self.post(message).await;
        self.0.reach.note(&outcome);
        outcome
    }
}

impl Letters {
    /// Posts a request, and again where that is in order.
    async fn post_again(&self, head: &Head, message: Bytes) -> Result<(), Failure> {
        let mut tries = 1;
        loop {
            let Err(failure) = self.post(message.clone()).await else { return Ok(()) };
            let Some(pause) = retry::pause(head, &failure, tries) else { return Err(failure) };
            tokio::time::sleep(pause).await;
            tries += 1;
        }
    }

    async fn post(&self, message: Bytes) -> Result<(), Failure> {
        let Shared { http_sender, endpoint, .. } = &*self.0;
        let mut headers = http_sender.headers();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let response =
            http_sender.send(Method::POST, endpoint, headers, message, Some(REQUEST_LIMIT)).await?;
        match response.status() {
            status if status.is_success() => {
                // Reading the little there may be lets the connection be used again.
                body::beginning(response).await;
                Ok(())
            }
            // The endpoint was made for this session, whatever its name is.
            _ => Err(refusal::of(response, Some("session")).await),
        }
    }
}
