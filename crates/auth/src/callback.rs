//! The redirect of the browser: a local HTTP listener that receives one authorization response (RFC 8252, 7.3),
//! or the [`CallbackEndpoint`] of a gateway.
//!
//! The listener listens from [`Callback::bind`] until the value is dropped, and must listen before a client is
//! registered and before the browser leaves, so that no other program can take the port. A request without
//! the `state` of the attempt is refused and changes nothing: other pages in the browser and other users of
//! the machine can connect too.

mod endpoint;
mod error;
mod listeners;
mod pages;
mod receiver;
mod request;
mod serve;

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::{CALLBACK_LAST_PAGE, GATEWAY_SIGN_IN_TIME, SIGN_IN_TIME};
use tokio::time::timeout;
use url::Url;

use crate::authorize::{AuthorizationAttempt, AuthorizationResponse};
use crate::task::OwnedTask;
use listeners::CallbackListeners;
use pages::CallbackPage;
use receiver::CallbackReceiver;

pub use endpoint::{CallbackEndpoint, CallbackReply};
pub use error::CallbackError;

/// The path of the redirect address.
const PATH: &str = "/callback";

/// The outcome of a sign-in, for the page in the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignInEnding {
    /// The sign-in succeeded.
    SignedIn,
    /// The sign-in failed.
    Failed,
}

impl SignInEnding {
    /// The outcome that a result stands for.
    #[must_use]
    pub fn from_result<T, E>(result: &Result<T, E>) -> Self {
        if result.is_ok() { Self::SignedIn } else { Self::Failed }
    }
}

/// A receiver of the browser's redirect.
#[derive(Debug)]
pub struct Callback {
    redirect: Url,
    receiver: Arc<CallbackReceiver>,
    /// The listener on this machine; a gateway has its own.
    serving: Option<OwnedTask<()>>,
    /// The name of the gateway, if there are several behind the address.
    gateway: Option<Arc<str>>,
}

impl Callback {
    /// Binds a free port, or the one that was registered. Needs a running `tokio` runtime.
    ///
    /// A free port is addressed by number, `http://127.0.0.1:PORT/callback`, as RFC 8252 advises: no hosts
    /// file can redirect it. A fixed one is `http://localhost:PORT/callback`, because users have registered
    /// that for Claude Code, and an authorization server compares the text.
    ///
    /// # Errors
    /// When the port is in use: it is never shared, and never replaced by another.
    pub fn bind(port: Option<u16>) -> Result<Self, CallbackError> {
        let doors = port.map_or_else(CallbackListeners::bind_free_port, CallbackListeners::bind_port)?;
        let host = if port.is_some() { "localhost" } else { "127.0.0.1" };
        let redirect = format!("http://{host}:{}{PATH}", doors.port());
        let redirect = Url::parse(&redirect).map_err(|_| CallbackError::NotLoopback)?;
        Ok(Self::start_serving(doors, redirect))
    }

    /// Binds the redirect address that a client was registered with earlier.
    ///
    /// # Errors
    /// When it is not on this machine, or its port is in use.
    pub fn bind_to(redirect: &Url) -> Result<Self, CallbackError> {
        let port = redirect.port_or_known_default();
        let is_ours = redirect.host_str().is_some_and(|host| receiver::HOSTS.contains(&host));
        let port = port.filter(|_| redirect.scheme() == "http" && is_ours);
        let doors = CallbackListeners::bind_port(port.ok_or(CallbackError::NotLoopback)?)?;
        Ok(Self::start_serving(doors, redirect.clone()))
    }

    fn start_serving(doors: CallbackListeners, redirect: Url) -> Self {
        let receiver = Arc::new(CallbackReceiver::new(&redirect, doors.port()));
        let serving = OwnedTask::start(serve::serve_callbacks(doors, Arc::clone(&receiver)));
        Self { redirect, receiver, serving: Some(serving), gateway: None }
    }

    /// Receives the redirect at the endpoint of a gateway.
    #[must_use]
    pub fn at_endpoint(endpoint: &CallbackEndpoint) -> Self {
        let (redirect, receiver) = (endpoint.redirect_url().clone(), endpoint.add_receiver());
        Self { redirect, receiver, serving: None, gateway: endpoint.gateway_name() }
    }

    /// The text that the `state` of an attempt begins with, if the endpoint is one of several gateways.
    #[must_use]
    pub fn state_prefix(&self) -> Option<&str> {
        self.gateway.as_deref()
    }

    /// The time the user may take.
    #[must_use]
    pub fn time_limit(&self) -> Duration {
        if self.serving.is_some() { SIGN_IN_TIME } else { GATEWAY_SIGN_IN_TIME }
    }

    /// The redirect address for the browser.
    #[must_use]
    pub fn redirect_url(&self) -> &Url {
        &self.redirect
    }

    /// Waits for the response to the attempt; all other requests are refused, also before and afterwards.
    ///
    /// Cancel-safe: a response that arrived in between is not lost.
    ///
    /// # Errors
    /// When none arrived within `limit`.
    pub async fn wait_for_response(
        &mut self,
        attempt: &AuthorizationAttempt,
        limit: Duration,
    ) -> Result<AuthorizationResponse, CallbackError> {
        self.receiver.expect_response(attempt.expected_response());
        let answered = timeout(limit, self.receiver.take_response()).await;
        answered.map_err(|_| {
            self.receiver.expect_nothing();
            CallbackError::TimedOut { after: limit }
        })
    }

    /// Shows the outcome of the sign-in in the browser that brought the response, and closes the listener.
    ///
    /// Without this call the browser gets no page: a code is not yet a sign-in.
    pub async fn close_with(self, ending: SignInEnding) {
        let reply = match ending {
            SignInEnding::SignedIn => CallbackPage::SignedIn,
            SignInEnding::Failed => CallbackPage::Failed,
        };
        // A browser that does not read its page is not waited for.
        let _untold = timeout(CALLBACK_LAST_PAGE, self.receiver.send_final_page(reply)).await;
    }
}

#[cfg(test)]
mod tests;
