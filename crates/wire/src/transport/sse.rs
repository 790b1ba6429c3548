//! A server behind a URL that speaks the transport of 2024-11-05 (T2).
//!
//! Its URL is a stream of events without end. The first names the endpoint that takes our messages; their answers
//! come on the stream. The session is the stream: when it ends the conversation is over.
//!
//! Bodies, events, the queue of POSTs and the way to the network are those of [`super::http`].

mod endpoint;
mod letter;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mcparley_model::limits::REQUEST_LIMIT;
use reqwest::header::{ACCEPT, HeaderValue};
use reqwest::{Method, Response};
use url::Url;

use super::http::body::{self, Kind, Stream};
use super::http::http_sender::HttpSender;
use super::http::post::{self, Posts};
use super::http::refusal;
use super::http::{HttpTarget, Network};
use crate::failure::{Failure, Phase};
use crate::handshake::Carrier;
use crate::peer::{Handler, Inbox, Peer, Strays};
use crate::task::Tasks;
use letter::Letters;

/// How long what is still to be said may take at the end.
const FAREWELL: Duration = Duration::from_millis(200);

/// How long a server that may speak this transport has to name its endpoint. One that does not may be of another
/// kind, whose stream has nothing to say.
const PROBE: Duration = Duration::from_secs(3);

/// A server of 2024-11-05. Dropping it ends its stream.
#[derive(Debug)]
pub struct Sse {
    peer: Peer,
    inbox: Inbox,
    tasks: Tasks,
}

impl Sse {
    /// Opens the stream and waits for the endpoint. What follows is greeted in the old way, never probed.
    ///
    /// # Errors
    /// A [`Failure`]; [`Failure::Protocol`] when the endpoint is of another origin.
    pub async fn open(
        target: &HttpTarget,
        network: &Network,
        handler: Arc<dyn Handler>,
    ) -> Result<Self, Failure> {
        let late = Failure::TimedOut { phase: Phase::Connecting, after: REQUEST_LIMIT };
        let work = async {
            let http_sender = HttpSender::new(target, network, |_| false)?;
            let response = get(&http_sender, &target.url).await?;
            if !response.status().is_success() {
                return Err(refusal::of(response, None).await);
            }
            if Kind::of(&response) != Kind::Events {
                let text = body::excerpt(&body::beginning(response).await);
                return Err(Failure::Protocol(format!("its answer is no stream of events: {text}").into()));
            }
            Self::begin(http_sender, response, handler).await
        };
        tokio::time::timeout(REQUEST_LIMIT, work).await.unwrap_or(Err(late))
    }

    /// Like [`Sse::open`], for a server that may be of another kind: `None` unless its URL is such a stream.
    ///
    /// # Errors
    /// A [`Failure`] when it is one and cannot be used.
    pub async fn probe(
        target: &HttpTarget,
        network: &Network,
        handler: Arc<dyn Handler>,
    ) -> Result<Option<Self>, Failure> {
        let work = async {
            let http_sender = HttpSender::new(target, network, |_| false)?;
            match get(&http_sender, &target.url).await {
                Ok(response) if response.status().is_success() && Kind::of(&response) == Kind::Events => {
                    Self::begin(http_sender, response, handler).await.map(Some)
                }
                Ok(_) | Err(_) => Ok(None),
            }
        };
        tokio::time::timeout(PROBE, work).await.unwrap_or(Ok(None))
    }

    async fn begin(
        http_sender: HttpSender,
        response: Response,
        handler: Arc<dyn Handler>,
    ) -> Result<Self, Failure> {
        let base = response.url().clone();
        let mut stream = Stream::new(response, handler.message_limit());
        let endpoint = endpoint::named(&mut stream, &base).await?;
        let (posts, waiting) = Posts::new();
        let (peer, inbox) = Peer::new(Box::new(posts), handler);
        let tasks = Tasks::default();
        tasks.spawn(post::run(waiting, Letters::new(http_sender, endpoint, inbox.clone())));
        tasks.spawn(listen(stream, inbox.clone()));
        Ok(Self { peer, inbox, tasks })
    }

    /// Our end of the conversation.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// What came and belonged to nobody.
    #[must_use]
    pub fn strays(&self) -> Strays {
        self.inbox.strays()
    }

    /// Ends the stream, and with it the session.
    pub async fn stop(self) {
        self.peer.flush(FAREWELL).await;
        self.end();
        self.peer.ended().await;
    }

    fn end(&self) {
        self.tasks.abort();
        self.inbox.close(&Failure::Closed { exit: None, sent: true });
    }
}

impl Carrier for Sse {
    fn peer(&self) -> &Peer {
        &self.peer
    }
}

impl Drop for Sse {
    fn drop(&mut self) {
        self.end();
    }
}

async fn get(http_sender: &HttpSender, url: &Url) -> Result<Response, Failure> {
    let mut headers = http_sender.headers();
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    http_sender.send(Method::GET, url, headers, Bytes::new(), None).await
}

/// Delivers what comes until the stream ends, and the conversation with it.
async fn listen(mut stream: Stream, inbox: Inbox) {
    let end = loop {
        match stream.next().await {
            Ok(Some(message)) => inbox.deliver(&message),
            Ok(None) => break Failure::Closed { exit: None, sent: true },
            Err(failure) => break failure,
        }
    };
    inbox.close(&end);
}
