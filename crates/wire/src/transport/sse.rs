//! HTTP+SSE transport of 2024-11-05: a server behind a URL.
//!
//! Its URL is an endless event stream. The first event names the endpoint for our messages; their responses
//! come on the stream. The stream is the session: its end closes the connection.
//!
//! Bodies, events, the queue of POSTs and the network are those of [`super::http`].

mod endpoint;
mod posts;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mcparley_model::limits::REQUEST_LIMIT;
use reqwest::header::{ACCEPT, HeaderValue};
use reqwest::{Method, Response};
use url::Url;

use super::http::body::{self, EventStream, Kind};
use super::http::http_sender::HttpSender;
use super::http::post::{self, PostQueue};
use super::http::refusal;
use super::http::{HttpTarget, Network};
use crate::failure::{Failure, FailurePhase};
use crate::handshake::TransportConnection;
use crate::peer::{Handler, Inbox, Peer, StrayCounts};
use crate::task::OwnedTasks;
use posts::SsePosts;

/// Timeout for sending the queued messages at the end.
const SHUTDOWN_FLUSH_TIME: Duration = Duration::from_millis(200);

/// Timeout for a server that may use this transport to name its endpoint. One that does not may use another
/// transport, with an idle stream.
const PROBE: Duration = Duration::from_secs(3);

/// A connection over the transport of 2024-11-05. Dropping it ends its stream.
#[derive(Debug)]
pub struct SseTransport {
    peer: Peer,
    inbox: Inbox,
    tasks: OwnedTasks,
}

impl SseTransport {
    /// Opens the stream and waits for the endpoint. The handshake that follows is `initialize`, never the
    /// probe.
    ///
    /// # Errors
    /// A [`Failure`]; [`Failure::Protocol`] when the endpoint is of another origin.
    pub async fn open(
        target: &HttpTarget,
        network: &Network,
        handler: Arc<dyn Handler>,
    ) -> Result<Self, Failure> {
        let late = Failure::TimedOut { phase: FailurePhase::Connecting, after: REQUEST_LIMIT };
        let work = async {
            let http_sender = HttpSender::new(target, network, |_| false)?;
            let response = open_event_stream(&http_sender, &target.url).await?;
            if !response.status().is_success() {
                return Err(refusal::read_refusal(response, None).await);
            }
            if Kind::from_response(&response) != Kind::Events {
                let text = body::body_excerpt(&body::read_beginning(response).await);
                return Err(Failure::Protocol(format!("its response is not an event stream: {text}").into()));
            }
            Self::start_session(http_sender, response, handler).await
        };
        tokio::time::timeout(REQUEST_LIMIT, work).await.unwrap_or(Err(late))
    }

    /// Like [`SseTransport::open`], for a server of unknown transport: `None` unless its URL is such a
    /// stream.
    ///
    /// # Errors
    /// A [`Failure`] when it is such a stream and cannot be used.
    pub async fn probe(
        target: &HttpTarget,
        network: &Network,
        handler: Arc<dyn Handler>,
    ) -> Result<Option<Self>, Failure> {
        let work = async {
            let http_sender = HttpSender::new(target, network, |_| false)?;
            match open_event_stream(&http_sender, &target.url).await {
                Ok(response)
                    if response.status().is_success() && Kind::from_response(&response) == Kind::Events =>
                {
                    Self::start_session(http_sender, response, handler).await.map(Some)
                }
                Ok(_) | Err(_) => Ok(None),
            }
        };
        tokio::time::timeout(PROBE, work).await.unwrap_or(Ok(None))
    }

    async fn start_session(
        http_sender: HttpSender,
        response: Response,
        handler: Arc<dyn Handler>,
    ) -> Result<Self, Failure> {
        let base = response.url().clone();
        let mut stream = EventStream::new(response, handler.message_limit());
        let endpoint = endpoint::wait_for_endpoint(&mut stream, &base).await?;
        let (posts, waiting) = PostQueue::new();
        let (peer, inbox) = Peer::new(Box::new(posts), handler);
        let tasks = OwnedTasks::default();
        tasks.spawn(post::run_post_queue(waiting, SsePosts::new(http_sender, endpoint, inbox.clone())));
        tasks.spawn(deliver_events(stream, inbox.clone()));
        Ok(Self { peer, inbox, tasks })
    }

    /// Our end of the connection.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Counts of inbound data that belonged to no request.
    #[must_use]
    pub fn stray_counts(&self) -> StrayCounts {
        self.inbox.stray_counts()
    }

    /// Ends the stream, and with it the session.
    pub async fn stop(self) {
        self.peer.flush(SHUTDOWN_FLUSH_TIME).await;
        self.end_stream();
        self.peer.wait_until_ended().await;
    }

    fn end_stream(&self) {
        self.tasks.abort_all();
        self.inbox.close_connection(&Failure::Closed { exit: None, sent: true });
    }
}

impl TransportConnection for SseTransport {
    fn peer(&self) -> &Peer {
        &self.peer
    }
}

impl Drop for SseTransport {
    fn drop(&mut self) {
        self.end_stream();
    }
}

async fn open_event_stream(http_sender: &HttpSender, url: &Url) -> Result<Response, Failure> {
    let mut headers = http_sender.base_headers();
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    http_sender.send_request(Method::GET, url, headers, Bytes::new(), None).await
}

/// Delivers messages until the stream ends, then closes the connection.
async fn deliver_events(mut stream: EventStream, inbox: Inbox) {
    let end = loop {
        match stream.next().await {
            Ok(Some(message)) => inbox.deliver_message(&message),
            Ok(None) => break Failure::Closed { exit: None, sent: true },
            Err(failure) => break failure,
        }
    };
    inbox.close_connection(&end);
}
