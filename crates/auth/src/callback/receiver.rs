//! Decides the reply to each request, and keeps the one authorization response that counts.
//!
//! The browser that brought that response gets its page only when the sign-in has ended: a code is not yet a
//! sign-in.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};
use url::Url;

use super::pages::CallbackPage;
use super::request::Request;
use crate::authorize::{AuthorizationResponse, ExpectedResponse};

/// The names of this machine that a redirect address may have.
pub(super) const HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// The shared state of a callback listener.
#[derive(Debug)]
pub(super) struct CallbackReceiver {
    path: String,
    /// The `Host` values that are accepted. A page of an attacker that uses DNS rebinding sends its own name.
    hosts: Vec<String>,
    pending: Mutex<PendingResponse>,
    arrived: Notify,
    /// The final page, once the sign-in has ended.
    final_page: watch::Sender<Option<CallbackPage>>,
    /// The number of browsers that wait for the final page or are being sent it.
    waiting: watch::Sender<usize>,
}

/// The decision about a request.
#[derive(Debug)]
pub(super) enum RequestDecision {
    /// The request is refused with this page.
    Refused(CallbackPage),
    /// The request brought the response, and gets its page later.
    Answered(AnsweringBrowser),
}

/// The browser that brought the response, until the final page is sent.
#[derive(Debug)]
pub(super) struct AnsweringBrowser(Arc<CallbackReceiver>);

#[derive(Debug, Default)]
struct PendingResponse {
    /// The attempt that is waited for; taken by the first request with its `state`.
    expected: Option<Arc<ExpectedResponse>>,
    answer: Option<AuthorizationResponse>,
}

impl CallbackReceiver {
    pub(super) fn new(redirect: &Url, port: u16) -> Self {
        let mut hosts: Vec<String> = HOSTS.iter().map(|name| format!("{name}:{port}")).collect();
        if port == 80 {
            hosts.extend(HOSTS.map(str::to_owned));
        }
        Self {
            path: redirect.path().to_owned(),
            hosts,
            pending: Mutex::default(),
            arrived: Notify::new(),
            final_page: watch::Sender::new(None),
            waiting: watch::Sender::new(0),
        }
    }

    /// Accepts the response to this attempt from now on.
    pub(super) fn expect_response(&self, expected: &Arc<ExpectedResponse>) {
        let mut book = self.lock_pending();
        if !book.answer.as_ref().is_some_and(|answer| expected.matches_state(answer)) {
            *book = PendingResponse { expected: Some(Arc::clone(expected)), answer: None };
        }
    }

    /// Accepts no response from now on.
    pub(super) fn expect_nothing(&self) {
        *self.lock_pending() = PendingResponse::default();
    }

    /// Waits for the response.
    pub(super) async fn take_response(&self) -> AuthorizationResponse {
        loop {
            let answer = self.lock_pending().answer.take();
            match answer {
                Some(answer) => return answer,
                None => self.arrived.notified().await,
            }
        }
    }

    /// Decides about a request. The response is kept if it belongs to the expected attempt.
    pub(super) fn receive_request(self: &Arc<Self>, request: &Request) -> RequestDecision {
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        if !self.is_addressed_to_us(request) {
            return RequestDecision::Refused(CallbackPage::Unexpected);
        }
        if path != self.path {
            return RequestDecision::Refused(CallbackPage::NotFound);
        }
        if request.method != "GET" {
            return RequestDecision::Refused(CallbackPage::MethodNotAllowed);
        }
        let Ok(answer) = AuthorizationResponse::from_query(query) else {
            return RequestDecision::Refused(CallbackPage::Unexpected);
        };
        let refused = |_| RequestDecision::Refused(CallbackPage::Unexpected);
        self.receive_answer(answer).unwrap_or_else(refused)
    }

    /// Keeps a response if it belongs to the expected attempt, else gives it back.
    pub(super) fn receive_answer(
        self: &Arc<Self>,
        answer: AuthorizationResponse,
    ) -> Result<RequestDecision, AuthorizationResponse> {
        if self.lock_pending().expected.take_if(|expected| expected.matches_state(&answer)).is_none() {
            return Err(answer);
        }
        self.waiting.send_modify(|count| *count += 1);
        self.lock_pending().answer = Some(answer);
        self.arrived.notify_one();
        Ok(RequestDecision::Answered(AnsweringBrowser(Arc::clone(self))))
    }

    /// Sends the final page to the browser that brought the response; waits until it is sent.
    pub(super) async fn send_final_page(&self, verdict: CallbackPage) {
        self.final_page.send_replace(Some(verdict));
        let mut waiting = self.waiting.subscribe();
        // This value holds the sender, so waiting ends only when the count is zero.
        let _closed = waiting.wait_for(|count| *count == 0).await;
    }

    /// Whether the request is addressed to this listener, and not by a script of another page. Browsers send
    /// the origin `null` after some redirects.
    fn is_addressed_to_us(&self, request: &Request) -> bool {
        let [host] = request.hosts.as_slice() else { return false };
        let is_ours = |host: &str| self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host));
        let is_own =
            |origin: &String| origin == "null" || origin.strip_prefix("http://").is_some_and(is_ours);
        is_ours(host) && request.origins.iter().all(is_own)
    }

    fn lock_pending(&self) -> MutexGuard<'_, PendingResponse> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AnsweringBrowser {
    /// Waits for the final page.
    pub(super) async fn final_page(&self) -> CallbackPage {
        let mut verdict = self.0.final_page.subscribe();
        match verdict.wait_for(Option::is_some).await.map(|verdict| *verdict) {
            Ok(Some(reply)) => reply,
            Ok(None) | Err(_) => CallbackPage::Failed,
        }
    }
}

impl Drop for AnsweringBrowser {
    fn drop(&mut self) {
        self.0.waiting.send_modify(|count| *count -= 1);
    }
}
