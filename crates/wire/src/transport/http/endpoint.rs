//! The requests of Streamable HTTP, with their headers as the agreed protocol demands.
//!
//! Sending them is done by [`super::http_sender`].

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use mcparley_model::limits::REQUEST_LIMIT;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response};
use tokio::sync::watch;
use url::Url;

use super::HttpTarget;
use super::http_sender::HttpSender;
use super::message_head::{self, MessageHead};
use super::network::Network;
use crate::failure::Failure;
use crate::session::{AgreedProtocol, ProtocolVersion};

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The server's URL, and the state of the session with it.
pub(super) struct HttpEndpoint {
    http_sender: HttpSender,
    url: Url,
    session_state: Mutex<SessionState>,
    listening: watch::Sender<bool>,
}

#[derive(Default)]
struct SessionState {
    session: Option<HeaderValue>,
    protocol: Option<AgreedProtocol>,
    /// Whether the server has expired the session.
    expired: bool,
}

impl HttpEndpoint {
    pub(super) fn new(target: &HttpTarget, network: &Network) -> Result<Self, Failure> {
        Ok(Self {
            http_sender: HttpSender::new(target, network, is_protocol_header)?,
            url: target.url.clone(),
            session_state: Mutex::default(),
            listening: watch::Sender::new(false),
        })
    }

    pub(super) fn set_protocol(&self, protocol: AgreedProtocol) {
        self.session_state().protocol = Some(protocol);
    }

    pub(super) fn protocol(&self) -> Option<AgreedProtocol> {
        self.session_state().protocol
    }

    pub(super) fn session_id(&self) -> Option<HeaderValue> {
        self.session_state().session.clone()
    }

    pub(super) fn set_session_id(&self, session: Option<HeaderValue>) {
        self.session_state().session = session;
    }

    /// Marks the session as expired. It is kept, so that errors of other requests in it are classified alike.
    pub(super) fn mark_expired(&self) {
        self.session_state().expired = true;
    }

    /// Whether there is a GET stream, as far as we know.
    pub(super) fn is_listening(&self) -> bool {
        *self.listening.borrow()
    }

    pub(super) fn set_listening(&self, listens: bool) {
        self.listening.send_replace(listens);
    }

    /// Waits until the GET stream is open, or closed.
    pub(super) async fn wait_for_listening(&self, listens: bool) {
        let mut listening = self.listening.subscribe();
        // The sender lives as long as we do, so the wait cannot fail.
        let _always = listening.wait_for(|now| *now == listens).await.is_ok();
    }

    /// Sends one message by POST.
    pub(super) async fn post_message(&self, head: &MessageHead, message: Bytes) -> Result<Response, Failure> {
        let mut headers = self.common_headers(head.is_new);
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if head.is_new || self.protocol() == Some(AgreedProtocol::New) {
            headers.extend(
                head.method.as_deref().and_then(message_head::header_value).map(|value| (METHOD, value)),
            );
            headers
                .extend(head.name.as_deref().and_then(message_head::header_value).map(|value| (NAME, value)));
            headers.extend(head.params.iter().cloned());
        }
        // The caller of a tool sets its timeout, and a subscription stays open.
        let is_long = head.is_method("tools/call") || head.is_method("subscriptions/listen");
        let limit = if is_long { None } else { Some(REQUEST_LIMIT) };
        self.http_sender.send_request(Method::POST, &self.url, headers, message, limit).await
    }

    /// Opens an event stream by GET, resuming after the event `last_id`. Some servers send no header before
    /// their first event, so there is no timeout.
    pub(super) async fn open_event_stream(&self, last_id: Option<&Bytes>) -> Result<Response, Failure> {
        let mut headers = self.common_headers(false);
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        let last_id = last_id.and_then(|id| HeaderValue::from_maybe_shared(id.clone()).ok());
        headers.extend(last_id.map(|id| (LAST_EVENT_ID, id)));
        self.http_sender.send_request(Method::GET, &self.url, headers, Bytes::new(), None).await
    }

    /// Ends the session by DELETE, if there is one.
    pub(super) async fn delete_session(&self) -> Result<(), Failure> {
        if self.session_id().is_none() || self.session_state().expired {
            return Ok(());
        }
        let headers = self.common_headers(false);
        self.http_sender.send_request(Method::DELETE, &self.url, headers, Bytes::new(), None).await.map(drop)
    }

    fn common_headers(&self, is_new: bool) -> HeaderMap {
        let mut headers = self.http_sender.base_headers();
        let session_state = self.session_state();
        let version = if is_new {
            Some(ProtocolVersion::NEW)
        } else {
            session_state.protocol.map(AgreedProtocol::version)
        };
        if let Some(version) = version {
            headers.insert(VERSION, HeaderValue::from_static(version.as_str()));
        }
        if let Some(session) = session_state.session.as_ref().filter(|_| !is_new) {
            headers.insert(SESSION, session.clone());
        }
        headers
    }

    fn session_state(&self) -> MutexGuard<'_, SessionState> {
        // Every change is one step, so a panic leaves no partial change.
        self.session_state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the protocol reserves this header, so that the configuration cannot set it.
fn is_protocol_header(name: &HeaderName) -> bool {
    [SESSION, VERSION, METHOD, NAME, LAST_EVENT_ID].contains(name)
        || name.as_str().starts_with(message_head::PARAM)
}

impl std::fmt::Debug for HttpEndpoint {
    /// Shows the origin only: paths, queries, headers and sessions may be secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HttpEndpoint({})", self.url.origin().ascii_serialization())
    }
}
