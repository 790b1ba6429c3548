//! Authorization of HTTP requests: the credentials for each request, and the decision after a 401 or 403.
//!
//! The transports know nothing of tokens. They send the credentials of an [`Authorizer`], and report every
//! refusal to it: by comparing the token that was *sent* it sees whether another request has caused a refresh
//! already, so that many callers cause one.

use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;
use url::Url;

use crate::failure::Failure;
use crate::peer::BoxedFuture;

/// Provides credentials for HTTP requests. Called for every request, and again for the target of a redirect.
pub trait Authorizer: Send + Sync + 'static {
    /// The credentials for the next request. They are sent to the origin of the request and to no other.
    fn authorize_request<'a>(
        &'a self,
        request: RequestTarget<'a>,
    ) -> BoxedFuture<'a, Result<Credentials, Failure>>;

    /// Decides how to go on after the server refused the credentials. Called once for each request, which is
    /// then retried;
    /// once more only after [`RetryDecision::RetryUnverified`].
    fn handle_refusal<'a>(
        &'a self,
        sent: &'a Credentials,
        challenge: &'a Challenge,
    ) -> BoxedFuture<'a, RetryDecision>;

    /// Stores the DPoP nonce of a response, which the proof of the next request repeats (RFC 9449, 8.2).
    fn store_nonce(&self, _nonce: &Untrusted) {}
}

/// Method and URL of a request that is about to be sent.
#[derive(Clone, Copy, Debug)]
pub struct RequestTarget<'r> {
    /// The HTTP method.
    pub method: &'r str,
    /// The URL of the request.
    pub url: &'r Url,
}

/// The credentials of one request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Credentials {
    /// The headers; they replace configured ones of the same name.
    pub headers: Vec<(String, Secret<String>)>,
    /// The token among them, for comparison: other headers may differ from request to request.
    pub token: Option<Secret<String>>,
}

impl Credentials {
    /// Credentials with a bearer token (RFC 6750).
    #[must_use]
    pub fn from_bearer_token(token: Secret<String>) -> Self {
        let value = Secret::new(format!("Bearer {}", token.expose()));
        Self { headers: vec![("authorization".to_owned(), value)], token: Some(token) }
    }
}

/// A server's refusal of a request's credentials.
#[derive(Clone, Debug)]
pub struct Challenge {
    /// The kind of refusal, by status.
    pub kind: ChallengeKind,
    /// The value of its `WWW-Authenticate` header.
    pub www_authenticate: Option<Untrusted>,
}

/// The kind of an authorization challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChallengeKind {
    /// The server requires sign-in (status 401).
    SignIn,
    /// The server accepts the identity, but it lacks permission (status 403).
    MoreRights,
}

/// The decision after a refusal.
#[derive(Clone, Debug)]
pub enum RetryDecision {
    /// Retry the request with the current credentials of [`Authorizer::authorize_request`].
    Retry,
    /// Retry with credentials that are not known to be valid, such as a token that another process stored
    /// some time ago.
    /// Should they be refused too, ask once more.
    RetryUnverified,
    /// Return the server's refusal to the caller.
    GiveUp,
    /// Return this failure to the caller: the cause is not a lack of permission.
    Fail(Failure),
}

/// An authorizer that adds no credentials: for public servers, or those with sufficient configured headers.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoAuthorizer;

impl Authorizer for NoAuthorizer {
    fn authorize_request<'a>(
        &'a self,
        _request: RequestTarget<'a>,
    ) -> BoxedFuture<'a, Result<Credentials, Failure>> {
        Box::pin(std::future::ready(Ok(Credentials::default())))
    }

    fn handle_refusal<'a>(
        &'a self,
        _sent: &'a Credentials,
        _challenge: &'a Challenge,
    ) -> BoxedFuture<'a, RetryDecision> {
        Box::pin(std::future::ready(RetryDecision::GiveUp))
    }
}
