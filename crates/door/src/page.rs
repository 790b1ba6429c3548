//! A web page beside the endpoints for MCP: requests below `/ui/` go to a [`PageHandler`], after host and
//! origin were checked.
//!
//! The page itself is another crate's. Only one request of a page has a bearer token, that which exchanges
//! it for a session of the page; the handler checks the sessions.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::Incoming as RequestBody;
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};
use mcparley::BoxedFuture;
use mcparley_model::limits::{DOOR_KEEP_ALIVE, PAGE_BODY_BYTES};
use tokio::sync::mpsc;
use tokio::time::{Instant, Sleep};

use crate::body::DoorBody;
use crate::doors::DoorShared;
use crate::guard::PeerAddress;
use crate::guard::refusal::RequestRefusal;
use crate::http::{check_content_type, read_body};

/// The path below which a web page is served.
pub const PAGE_PATH: &str = "/ui/";
/// The path at which a page exchanges the token for a session of its own.
pub const SESSION_PATH: &str = "/ui/session";

/// The principal that the load of all requests of the page counts to.
const PAGE_PRINCIPAL: &str = "ui";

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

/// Whether a path belongs to the web page of this door.
pub(crate) fn is_page_path(shared: &DoorShared, path: &str) -> bool {
    shared.page.is_some() && (path.starts_with(PAGE_PATH) || path == "/ui")
}

/// Answers a request below `/ui/`.
pub(crate) async fn answer_page(
    shared: &Arc<DoorShared>,
    peer: PeerAddress,
    parts: Parts,
    body: RequestBody,
) -> Result<Response<DoorBody>, RequestRefusal> {
    let Some(page) = &shared.page else {
        return Err(RequestRefusal::path("path"));
    };
    if parts.method != Method::GET && parts.method != Method::POST {
        return Err(RequestRefusal::method("GET, POST"));
    }
    shared.guard.check_names(&parts, peer)?;
    if shared.is_draining() {
        return Err(RequestRefusal::draining());
    }
    let mut request = PageRequest { parts, body: Bytes::new(), principal: None };
    if request.parts.method == Method::GET {
        return Ok(page.answer_request(request).await.map(DoorBody::from));
    }
    check_content_type(&request.parts)?;
    if request.parts.uri.path() == SESSION_PATH {
        let identity = shared.guard.identify(&request.parts, peer, None).await?;
        if !shared.guard.tokens.may_open_page(&identity.account) {
            let reason = "this token is not for the page: use the one named `ui`";
            return Err(RequestRefusal::new(StatusCode::FORBIDDEN, "page_token", reason));
        }
        request.principal = Some(Arc::clone(&identity.account));
    } else if let Err(refused) = page.check_session(&request.parts) {
        return Ok(refused.map(DoorBody::from));
    }
    let permit = shared.guard.admit(&Arc::from(PAGE_PRINCIPAL))?;
    request.body = read_body(&request.parts, body, PAGE_BODY_BYTES).await?;
    let response = page.answer_request(request).await;
    drop(permit);
    Ok(response.map(DoorBody::from))
}

impl From<PageBody> for DoorBody {
    fn from(body: PageBody) -> Self {
        match body {
            PageBody::Full(bytes) => Self::from_bytes(bytes),
            PageBody::Events(events) => {
                let keep_alive = Box::pin(tokio::time::sleep(DOOR_KEEP_ALIVE));
                Self::Page(PageEvents { events, keep_alive })
            }
        }
    }
}

impl PageEvents {
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
