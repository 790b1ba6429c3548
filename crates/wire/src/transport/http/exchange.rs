//! One exchange: a POST and its response.
//!
//! Every error fails exactly the call it belongs to, at once.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::{Response, StatusCode};

use super::body::{self, EventStream, Kind};
use super::endpoint::{HttpEndpoint, SESSION};
use super::event::LONGEST_PAUSE;
use super::message_head::MessageHead;
use super::post::DeliverPost;
use super::reachability::ReachabilityMonitor;
use super::refusal::HttpRefusal;
use super::retry;
use crate::failure::Failure;
use crate::peer::{Inbox, RequestTicket};
use crate::session::AgreedProtocol;

/// Timeout for a stream to end after its response. A stream that ends leaves a connection that can be reused.
const LINGER: Duration = Duration::from_secs(1);

/// Limit of consecutive resumptions of a stream without a new message.
const RESUMES: u32 = 3;

/// The pause before a resumption, unless the server requests one.
const RESUME_PAUSE: Duration = Duration::from_secs(1);

/// The shared parts of all exchanges.
#[derive(Clone, Debug)]
pub(super) struct HttpExchange {
    pub(super) endpoint: Arc<HttpEndpoint>,
    pub(super) inbox: Inbox,
    pub(super) reach: Arc<ReachabilityMonitor>,
}

impl DeliverPost for HttpExchange {
    /// Sends a request. When its call is gone the stream is closed, which cancels the request in the new era.
    async fn deliver_request(&self, message: Bytes, ticket: RequestTicket) {
        let RequestTicket { id, done: over, headers } = ticket;
        let answer = tokio::select! {
            // First, because a response that has arrived also ends the wait.
            biased;
            answer = self.fetch_answer(id, message, headers) => answer,
            _ = over => return,
        };
        match answer {
            Ok(None) => self.reach.record_success(),
            Ok(Some(stream)) => {
                self.reach.record_success();
                // The rest of the stream has no caller, so a timeout is no error.
                let _late = tokio::time::timeout(LINGER, self.drain_stream(id, stream)).await;
            }
            Err(failure) => {
                // First, because the end of the connection would fail the call too, with another failure.
                self.inbox.fail_call(id, failure.clone());
                self.reach.record_failure(&failure);
            }
        }
    }

    async fn deliver_one_way(&self, message: Bytes) -> Result<(), Failure> {
        let head = MessageHead::from_message(&message);
        // In the new era closing the stream has canceled the request already.
        if head.is_method("notifications/cancelled") && self.endpoint.protocol() == Some(AgreedProtocol::New)
        {
            return Ok(());
        }
        let outcome = self.send_without_answer(&head, message).await;
        self.reach.record_outcome(&outcome);
        outcome
    }
}

impl HttpExchange {
    pub(super) fn new(endpoint: Arc<HttpEndpoint>, inbox: Inbox) -> Self {
        let reach = Arc::new(ReachabilityMonitor::new(inbox.clone()));
        Self { endpoint, inbox, reach }
    }

    /// Sends a message that has no response.
    async fn send_without_answer(&self, head: &MessageHead, message: Bytes) -> Result<(), Failure> {
        let response = self.endpoint.post_message(head, message).await?;
        if !response.status().is_success() {
            return Err(self.classify_refusal(None, response).await);
        }
        if head.is_method("notifications/initialized") {
            self.endpoint.set_listening(true);
        }
        if Kind::from_response(&response) != Kind::Events {
            // Reading the short body lets the connection be reused.
            body::read_beginning(response).await;
        }
        Ok(())
    }

    /// Sends a request and delivers its response, with retries where they are safe. Returns the stream it
    /// came on, which may have more messages.
    async fn fetch_answer(
        &self,
        call: u64,
        message: Bytes,
        params: Vec<(String, String)>,
    ) -> Result<Option<EventStream>, Failure> {
        let head = MessageHead::from_message(&message).with_params(params);
        let mut tries = 1;
        loop {
            let failure = match self.send_once(call, &head, message.clone()).await {
                Ok(stream) => return Ok(stream),
                Err(failure) => failure,
            };
            let Some(pause) = retry::retry_pause(&head, &failure, tries) else { return Err(failure) };
            tokio::time::sleep(pause).await;
            tries += 1;
        }
    }

    async fn send_once(
        &self,
        call: u64,
        head: &MessageHead,
        message: Bytes,
    ) -> Result<Option<EventStream>, Failure> {
        let response = self.endpoint.post_message(head, message).await?;
        let status = response.status();
        if !status.is_success() {
            return Err(self.classify_refusal(Some(call), response).await);
        }
        if head.is_method("initialize") {
            // Before the response is delivered, because the following requests need the session.
            self.endpoint.set_session_id(response.headers().get(SESSION).cloned());
        }
        if head.is_method("subscriptions/listen") {
            // Proxies may cut such a stream again and again, although the server is reachable.
            self.reach.record_success();
        }
        match Kind::from_response(&response) {
            Kind::Events => {
                self.read_stream(call, EventStream::new(response, self.inbox.message_limit())).await.map(Some)
            }
            Kind::Json | Kind::Other if status == StatusCode::ACCEPTED => {
                Err(self.wait_for_listen_stream().await)
            }
            Kind::Json => self.deliver_json(call, response).await.map(|()| None),
            Kind::Other => {
                let text = body::body_excerpt(&body::read_beginning(response).await);
                Err(Failure::Protocol(
                    format!("its response is neither JSON nor an event stream: {text}").into(),
                ))
            }
        }
    }

    /// Waits for the response on the GET stream, which ends the call; fails when there is no such stream (any
    /// more).
    async fn wait_for_listen_stream(&self) -> Failure {
        self.endpoint.wait_for_listening(false).await;
        Failure::Protocol("it accepted the request but has no stream for the response".into())
    }

    async fn deliver_json(&self, call: u64, response: Response) -> Result<(), Failure> {
        let body = body::read_bounded(response, self.inbox.message_limit()).await?;
        if !self.inbox.deliver_to_call(call, &body) {
            return Err(Failure::Protocol("its response is not for our request".into()));
        }
        Ok(())
    }

    /// Reads the stream until the response has come.
    async fn read_stream(&self, call: u64, mut stream: EventStream) -> Result<EventStream, Failure> {
        let mut resumes = 0;
        loop {
            match stream.next().await {
                Ok(Some(message)) => {
                    resumes = 0;
                    if self.inbox.deliver_to_call(call, &message) {
                        return Ok(stream);
                    }
                }
                Ok(None) | Err(Failure::Closed { .. }) if resumes < RESUMES => {
                    resumes += 1;
                    stream = self.resume_stream(&stream).await?;
                }
                Ok(None) => return Err(stream_failure()),
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Resumes a broken stream. Only sessions support that, and only events with ids.
    async fn resume_stream(&self, stream: &EventStream) -> Result<EventStream, Failure> {
        let Some(last_id) = stream.last_id().filter(|_| self.endpoint.is_listening()) else {
            return Err(stream_failure());
        };
        tokio::time::sleep(stream.retry_pause().unwrap_or(RESUME_PAUSE).min(LONGEST_PAUSE)).await;
        match self.endpoint.open_event_stream(Some(last_id)).await {
            Ok(response)
                if response.status().is_success() && Kind::from_response(&response) == Kind::Events =>
            {
                Ok(stream.resume_with(response))
            }
            Ok(_) => Err(stream_failure()),
            Err(failure) => {
                self.reach.record_failure(&failure);
                Err(stream_failure())
            }
        }
    }

    async fn drain_stream(&self, call: u64, mut stream: EventStream) {
        while let Ok(Some(message)) = stream.next().await {
            self.inbox.deliver_to_call(call, &message);
        }
    }

    /// Classifies a response with an error status.
    async fn classify_refusal(&self, call: Option<u64>, response: Response) -> Failure {
        let session = self.endpoint.session_id();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = body::read_beginning(response).await;
        let session = session.as_ref().map(|session| session.to_str().unwrap_or_default());
        let meaning = HttpRefusal { status, headers: &headers, body, call, session }.to_failure();
        if matches!(meaning, Failure::SessionExpired) {
            self.endpoint.mark_expired();
        }
        meaning
    }
}

fn stream_failure() -> Failure {
    Failure::Closed { exit: None, sent: true }
}
