//! The requests of Streamable HTTP: which headers each has, as agreed with the server.
//!
//! How a request is carried is in [`super::http_sender`].

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use mcparley_model::limits::REQUEST_LIMIT;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response};
use tokio::sync::watch;
use url::Url;

use super::HttpTarget;
use super::head::{self, Head};
use super::http_sender::HttpSender;
use super::network::Network;
use crate::failure::Failure;
use crate::session::{Spoken, Version};

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The server, and what we agreed on with it.
pub(super) struct Endpoint {
    http_sender: HttpSender,
    url: Url,
    session_state: Mutex<SessionState>,
    listening: watch::Sender<bool>,
}

#[derive(Default)]
struct SessionState {
    session: Option<HeaderValue>,
    spoken: Option<Spoken>,
    /// Whether the server has forgotten the session.
    expired: bool,
}

impl Endpoint {
    pub(super) fn new(target: &HttpTarget, network: &Network) -> Result<Self, Failure> {
        Ok(Self {
            http_sender: HttpSender::new(target, network, is_ours)?,
            url: target.url.clone(),
            session_state: Mutex::default(),
            listening: watch::Sender::new(false),
        })
    }

    pub(super) fn agreed(&self, spoken: Spoken) {
        self.session_state().spoken = Some(spoken);
    }

    pub(super) fn spoken(&self) -> Option<Spoken> {
        self.session_state().spoken
    }

    pub(super) fn session(&self) -> Option<HeaderValue> {
        self.session_state().session.clone()
    }

    pub(super) fn set_session(&self, session: Option<HeaderValue>) {
        self.session_state().session = session;
    }

    /// The server has forgotten the session. It is kept, so that other requests in it are understood alike.
    pub(super) fn expired(&self) {
        self.session_state().expired = true;
    }

    /// Whether there is a GET stream, as far as we know.
    pub(super) fn listens(&self) -> bool {
        *self.listening.borrow()
    }

    pub(super) fn set_listens(&self, listens: bool) {
        self.listening.send_replace(listens);
    }

    /// Waits until that is so.
    pub(super) async fn until_listens(&self, listens: bool) {
        let mut listening = self.listening.subscribe();
        // The sender lives as long as we do, so the wait has no other end.
        let _always = listening.wait_for(|now| *now == listens).await.is_ok();
    }

    /// Sends one message.
    pub(super) async fn post(&self, head: &Head, message: Bytes) -> Result<Response, Failure> {
        let mut headers = self.common(head.is_new);
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if head.is_new || self.spoken() == Some(Spoken::New) {
            headers.extend(head.method.as_deref().and_then(head::value).map(|value| (METHOD, value)));
            headers.extend(head.name.as_deref().and_then(head::value).map(|value| (NAME, value)));
            headers.extend(head.params.iter().cloned());
        }
        // How long a tool may run is for its caller to say, and a subscription stays open.
        let is_long = head.is("tools/call") || head.is("subscriptions/listen");
        let limit = if is_long { None } else { Some(REQUEST_LIMIT) };
        self.http_sender.send(Method::POST, &self.url, headers, message, limit).await
    }

    /// Opens a stream of events, behind the one with `last_id`. Some servers send no header before they have
    /// something to say, so there is no limit.
    pub(super) async fn get(&self, last_id: Option<&Bytes>) -> Result<Response, Failure> {
        let mut headers = self.common(false);
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        let last_id = last_id.and_then(|id| HeaderValue::from_maybe_shared(id.clone()).ok());
        headers.extend(last_id.map(|id| (LAST_EVENT_ID, id)));
        self.http_sender.send(Method::GET, &self.url, headers, Bytes::new(), None).await
    }

    /// Ends the session, if there is one.
    pub(super) async fn delete(&self) -> Result<(), Failure> {
        if self.session().is_none() || self.session_state().expired {
            return Ok(());
        }
        let headers = self.common(false);
        self.http_sender.send(Method::DELETE, &self.url, headers, Bytes::new(), None).await.map(drop)
    }

    fn common(&self, is_new: bool) -> HeaderMap {
        let mut headers = self.http_sender.headers();
        let session_state = self.session_state();
        let version = if is_new { Some(Version::NEW) } else { session_state.spoken.map(Spoken::version) };
        if let Some(version) = version {
            headers.insert(VERSION, HeaderValue::from_static(version.as_str()));
        }
        if let Some(session) = session_state.session.as_ref().filter(|_| !is_new) {
            headers.insert(SESSION, session.clone());
        }
        headers
    }

    fn session_state(&self) -> MutexGuard<'_, SessionState> {
        // Every change is one step, so a panic leaves nothing half done.
        self.session_state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the protocol, and nobody else, says what stands in this header (H26).
fn is_ours(name: &HeaderName) -> bool {
    [SESSION, VERSION, METHOD, NAME, LAST_EVENT_ID].contains(name) || name.as_str().starts_with(head::PARAM)
}

impl std::fmt::Debug for Endpoint {
    /// The origin only: paths, queries, headers and sessions are where secrets are.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Endpoint({})", self.url.origin().ascii_serialization())
    }
}
