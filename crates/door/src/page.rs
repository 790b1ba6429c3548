//! A web page beside the endpoints for MCP, which answers requests as a [`PageHandler`].
//!
//! The page itself is another crate's. Only one request of a page has a bearer token, that which exchanges
//! it for a session of the page; the handler checks the sessions.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::Response;
use hyper::http::request::Parts;
use mcparley::BoxedFuture;
use mcparley_model::limits::DOOR_KEEP_ALIVE;
use tokio::sync::mpsc;
use tokio::time::{Instant, Sleep};

/// The path below which a web page is served.
pub const PAGE_PATH: &str = "/ui/";
/// The path at which a page exchanges the token for a session of its own.
pub const SESSION_PATH: &str = "/ui/session";

/// A request of a web page, with checked host and origin and a body within its limit.
#[derive(Debug)]
pub struct PageRequest {
    /// The method, path and headers.
    pub parts: Parts,
    /// The body; empty unless the method is `POST`.
    pub body: Bytes,
    /// The principal of the token, for a `POST` to [`SESSION_PATH`] only.
    pub principal: Option<Arc<str>>,
}

/// The body of a response to a page.
#[derive(Debug)]
pub enum PageBody {
    /// These bytes.
    Full(Bytes),
    /// An event stream, which ends with its sender.
    Events(mpsc::Receiver<Bytes>),
}

/// Answers the requests of a web page.
pub trait PageHandler: std::fmt::Debug + Send + Sync + 'static {
    /// Checks the session of a `POST` to another path than [`SESSION_PATH`], before its body is read.
    ///
    /// # Errors
    /// The response to a request without a session.
    fn check_session(&self, parts: &Parts) -> Result<(), Box<Response<PageBody>>>;

    /// Answers a request. Dropping the future cancels the request: its connection is gone.
    fn answer_request(&self, request: PageRequest) -> BoxedFuture<'_, Response<PageBody>>;
}

/// The events of a page's stream, with comments that keep the connection alive.
#[derive(Debug)]
pub(crate) struct PageEvents {
    events: mpsc::Receiver<Bytes>,
    keep_alive: Pin<Box<Sleep>>,
}

impl PageEvents {
    pub(crate) fn new(events: mpsc::Receiver<Bytes>) -> Self {
        Self { events, keep_alive: Box::pin(tokio::time::sleep(DOOR_KEEP_ALIVE)) }
    }

    pub(crate) fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Poll::Ready(event) = self.events.poll_recv(context) {
            self.keep_alive.as_mut().reset(Instant::now() + DOOR_KEEP_ALIVE);
            return Poll::Ready(event);
        }
        if self.keep_alive.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        self.keep_alive.as_mut().reset(Instant::now() + DOOR_KEEP_ALIVE);
        // Polled again, so that the timer has a waker.
        context.waker().wake_by_ref();
        Poll::Ready(Some(Bytes::from_static(b": keep-alive\n\n")))
    }
}
