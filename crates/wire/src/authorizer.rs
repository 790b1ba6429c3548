//! Who we are to a server behind a URL, asked anew for every request (T7, K4).
//!
//! The transports know nothing of tokens. They send what an [`Authorizer`] gives, and tell it what was refused:
//! by the token that was *sent* it sees whether another request has caused a renewal already, so that many
//! callers cause one.

use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;
use url::Url;

use crate::failure::Failure;
use crate::peer::Boxed;

/// What lets requests in. Asked on every leg, and again for the place a redirect leads to.
pub trait Authorizer: Send + Sync + 'static {
    /// What the next request carries. It goes to the origin of the request and to no other.
    fn headers<'a>(&'a self, request: Asking<'a>) -> Boxed<'a, Result<Credentials, Failure>>;

    /// The server refused what was sent. Asked once for each request, which is then repeated; once more only where the
    /// answer was [`Next::Try`].
    fn refused<'a>(&'a self, sent: &'a Credentials, challenge: &'a Challenge) -> Boxed<'a, Next>;

    /// An answer brought a nonce for the proof that the next request carries (RFC 9449, 8.2).
    fn noted(&self, _nonce: &Untrusted) {}
}

/// A request that is about to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'r> {
    /// Its method.
    pub method: &'r str,
    /// Where it goes.
    pub url: &'r Url,
}

/// What one request carries to be let in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Credentials {
    /// The headers; they replace configured ones of the same name.
    pub headers: Vec<(String, Secret<String>)>,
    /// The token among them, for comparing: other headers may differ from request to request.
    pub token: Option<Secret<String>>,
}

impl Credentials {
    /// A bearer token (RFC 6750).
    #[must_use]
    pub fn bearer(token: Secret<String>) -> Self {
        let value = Secret::new(format!("Bearer {}", token.expose()));
        Self { headers: vec![("authorization".to_owned(), value)], token: Some(token) }
    }
}

/// Why a request was refused.
#[derive(Clone, Debug)]
pub struct Challenge {
    /// What the server wants.
    pub wants: Wants,
    /// What it asks for, in the words of its `WWW-Authenticate`.
    pub words: Option<Untrusted>,
}

/// What a server that refuses wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// To know who we are (status 401).
    SignIn,
    /// It knows, and we may not (status 403).
    MoreRights,
}

/// What follows a refusal.
#[derive(Clone, Debug)]
pub enum Next {
    /// Repeat the request with what [`Authorizer::headers`] gives now.
    Again,
    /// The same with something that nobody knows to be good, such as what another process has got some time ago. Should it
    /// be refused too, ask once more.
    Try,
    /// Tell the caller what the server said.
    GiveUp,
    /// Tell the caller this: it is not for want of rights that we are not let in.
    Fail(Failure),
}

/// Adds nothing and knows no better: for servers that let everybody in, or whose configured headers are enough.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Authorizer for Nobody {
    fn headers<'a>(&'a self, _request: Asking<'a>) -> Boxed<'a, Result<Credentials, Failure>> {
        Box::pin(std::future::ready(Ok(Credentials::default())))
    }

    fn refused<'a>(&'a self, _sent: &'a Credentials, _challenge: &'a Challenge) -> Boxed<'a, Next> {
        Box::pin(std::future::ready(Next::GiveUp))
    }
}
