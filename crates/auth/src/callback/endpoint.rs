//! The redirect address of a gateway: one for the sign-ins of all its principals.
//!
//! The gateway's own HTTP server receives the requests, and checks their host. A response belongs to the sign-in
//! with its `state`, which is random, accepted once and bound to the principal that began the sign-in. A browser
//! without such a `state` learns nothing and changes nothing.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use url::Url;

use super::CallbackError;
use super::pages::{CallbackPage, page_policy};
use super::receiver::{CallbackReceiver, RequestDecision};
use crate::authorize::AuthorizationResponse;

/// The path of the redirect address below the gateway's own address.
const PATH: &str = "oauth/callback";

/// The redirect address of a gateway. Cheap to clone; all clones share one state.
#[derive(Clone, Debug)]
pub struct CallbackEndpoint(Arc<EndpointState>);

#[derive(Debug)]
struct EndpointState {
    redirect: Url,
    /// The sign-ins in progress: at most one for each principal and server.
    receivers: Mutex<Vec<Weak<CallbackReceiver>>>,
    /// The name of the gateway, if there are several behind the address.
    gateway: OnceLock<Arc<str>>,
}

/// The reply to the browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallbackReply {
    /// The HTTP status code.
    pub status: u16,
    /// The value of `Content-Security-Policy`.
    pub policy: String,
    /// The page, in HTML.
    pub page: String,
}

impl CallbackEndpoint {
    /// The path of the redirect address at a gateway that is reached without a path of its own.
    pub const PATH: &'static str = "/oauth/callback";

    /// An endpoint below the address under which browsers reach the gateway, such as `https://mcp.example.com`.
    ///
    /// # Errors
    /// When the address cannot have a path, or is not `http` or `https`.
    pub fn new(gateway: &Url) -> Result<Self, CallbackError> {
        if !matches!(gateway.scheme(), "http" | "https") {
            return Err(CallbackError::NotHttp);
        }
        let mut redirect = gateway.clone();
        redirect.set_query(None);
        redirect.set_fragment(None);
        let path = format!("{}/{PATH}", gateway.path().trim_end_matches('/'));
        redirect.set_path(&path);
        Ok(Self(Arc::new(EndpointState { redirect, receivers: Mutex::default(), gateway: OnceLock::new() })))
    }

    /// An endpoint at the address that the gateway listens on; `None` for one that stands for every address.
    #[must_use]
    pub fn at_address(address: SocketAddr) -> Option<Self> {
        let gateway = Url::parse(&format!("http://{address}")).ok()?;
        (!address.ip().is_unspecified()).then(|| Self::new(&gateway).ok()).flatten()
    }

    /// The names of the gateway's host: without a port, and with that of the address.
    #[must_use]
    pub fn host_names(&self) -> Vec<String> {
        let Some(host) = self.0.redirect.host_str() else { return Vec::new() };
        let with_port = self.0.redirect.port().map(|port| format!("{host}:{port}"));
        std::iter::once(host.to_owned()).chain(with_port).collect()
    }

    /// The redirect address for browsers.
    #[must_use]
    pub fn redirect_url(&self) -> &Url {
        &self.0.redirect
    }

    /// Names this gateway, one of several behind the address: the `state` of each sign-in begins with the name, so that
    /// any of them finds the one that began it. The first name stays.
    pub fn name_gateway(&self, name: String) {
        let _first = self.0.gateway.set(name.into()).is_ok();
    }

    /// The name of this gateway, if there are several behind the address.
    pub(super) fn gateway_name(&self) -> Option<Arc<str>> {
        self.0.gateway.get().cloned()
    }

    /// The name of the gateway that began a sign-in, by the query of its redirect. A browser may have invented it.
    #[must_use]
    pub fn gateway_of(query: &str) -> Option<String> {
        let answer = AuthorizationResponse::from_query(query).ok()?;
        let (gateway, _random) = answer.state()?.expose().rsplit_once('.')?;
        Some(gateway.to_owned())
    }

    /// Receives the redirect of a browser, by the query of its address; waits for the end of its sign-in.
    pub async fn receive_redirect(&self, query: &str) -> CallbackReply {
        let Ok(answer) = AuthorizationResponse::from_query(query) else {
            return CallbackReply::new(CallbackPage::Unexpected);
        };
        let receivers: Vec<_> = self.lock_receivers().iter().filter_map(Weak::upgrade).collect();
        let mut answer = Some(answer);
        for receiver in receivers {
            let Some(taken) = answer.take() else { break };
            match receiver.receive_answer(taken) {
                Ok(RequestDecision::Answered(browser)) => {
                    return CallbackReply::new(browser.final_page().await);
                }
                Ok(RequestDecision::Refused(page)) => return CallbackReply::new(page),
                Err(other) => answer = Some(other),
            }
        }
        CallbackReply::new(CallbackPage::Unexpected)
    }

    /// Adds the receiver of a new sign-in.
    pub(super) fn add_receiver(&self) -> Arc<CallbackReceiver> {
        let receiver = Arc::new(CallbackReceiver::new(&self.0.redirect, 0));
        let mut receivers = self.lock_receivers();
        receivers.retain(|receiver| receiver.strong_count() > 0);
        receivers.push(Arc::downgrade(&receiver));
        receiver
    }

    fn lock_receivers(&self) -> MutexGuard<'_, Vec<Weak<CallbackReceiver>>> {
        self.0.receivers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallbackReply {
    /// The reply while the gateway that began the sign-in cannot be reached.
    #[must_use]
    pub fn for_lost_gateway() -> Self {
        Self::new(CallbackPage::Lost)
    }

    fn new(page: CallbackPage) -> Self {
        Self { status: page.status_code(), policy: page_policy(), page: page.to_html() }
    }
}
