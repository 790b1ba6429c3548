//! The authorization request: the page the browser is sent to, and the response that is accepted.
//!
//! Authorization code with PKCE (RFC 6749 4.1, RFC 7636) and the issuer in the response (RFC 9207). The
//! values that a response is checked against are recorded before the browser leaves, so that metadata learned
//! later cannot change them. [`crate::callback`] receives the response; the token endpoint redeems the code.

mod error;
mod error_response;
mod expected_response;
mod response;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use aws_lc_rs::{digest, rand};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcparley_model::secret::Secret;
use url::Url;

use crate::browser_page::BrowserPage;
use crate::client::OAuthClient;
use crate::metadata::{AuthServerMetadata, MetadataSource};

pub use error::AuthorizeError;
pub use error_response::{AuthorizationRefusal, RefusalKind};
pub(crate) use expected_response::ExpectedResponse;
pub use response::{AuthorizationResponse, AuthorizationResponseError};

/// The number of random bytes in a state, a PKCE verifier and a nonce: 256 bits, twice as many as are needed
/// against guessing. Encoded as 43 characters, the least a verifier may have.
const RANDOM_BYTES: usize = 32;

/// The scope that requests a refresh token.
const OFFLINE: &str = "offline_access";

/// The scope that requests an ID token (OpenID Connect).
const OPENID: &str = "openid";

/// One authorization attempt. It is used up by the response it accepts.
#[derive(Debug)]
pub struct AuthorizationAttempt {
    expected: Arc<ExpectedResponse>,
    verifier: Secret<String>,
    redirect: Url,
    nonce: Option<Secret<String>>,
}

/// The parameters of an authorization request.
#[derive(Clone, Copy, Debug)]
pub struct AuthorizationRequest<'w> {
    /// The address the browser is sent back to.
    pub redirect: &'w Url,
    /// The resource the token is for, byte for byte as the server names itself (RFC 8707); `None` for a
    /// sign-in to the identity provider only.
    pub resource: Option<&'w str>,
    /// The scopes to request; without any the parameter is left out.
    pub scopes: &'w [String],
    /// Whether an ID token is requested.
    pub identity: IdTokenDemand,
    /// The thumbprint of the DPoP key that the token is bound to (RFC 9449, 10).
    pub dpop_jkt: Option<&'w str>,
    /// The text that the `state` begins with, before a dot: the gateway of several that knows the attempt.
    pub state_prefix: Option<&'w str>,
}

/// Whether a sign-in requests an ID token (OpenID Connect).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdTokenDemand {
    /// No ID token.
    NotRequested,
    /// An ID token: the scope `openid` is requested, with a nonce that the token must repeat.
    Requested,
}

/// The authorization code with the values the token endpoint checks.
#[derive(Clone, Debug)]
pub struct AuthorizationCode {
    /// The authorization code.
    pub code: Secret<String>,
    /// The PKCE verifier, which proves that the request was ours (RFC 7636).
    pub verifier: Secret<String>,
    /// The redirect address; the token request must repeat it.
    pub redirect: Url,
    /// The nonce that the ID token must repeat, if one was requested.
    pub nonce: Option<Secret<String>>,
    /// The issuer of the code, the only server it may be sent to.
    pub issuer: String,
}

impl AuthorizationAttempt {
    /// Records the expected response, and returns the page to open.
    ///
    /// # Errors
    /// When the authorization server has no such page, or none that may be opened, or does not support PKCE.
    pub fn begin_authorization(
        server: &AuthServerMetadata,
        client: &OAuthClient,
        wish: &AuthorizationRequest<'_>,
    ) -> Result<(Self, BrowserPage), AuthorizeError> {
        let endpoint = server.authorization_endpoint.as_ref().ok_or(AuthorizeError::NoEndpoint)?;
        // Without S256 a stolen code is as good as a token. Servers of 2025-03-26 without metadata must
        // support it, and only MCP demands that metadata says so, not OpenID Connect.
        if server.source == MetadataSource::Published
            && !server.has_s256
            && wish.identity == IdTokenDemand::NotRequested
        {
            return Err(AuthorizeError::NoPkce);
        }
        let nonce = match wish.identity {
            IdTokenDemand::NotRequested => None,
            IdTokenDemand::Requested => Some(random_token()?),
        };
        let random = random_token()?;
        let state = match wish.state_prefix {
            Some(prefix) => Secret::new(format!("{prefix}.{}", random.expose())),
            None => random,
        };
        let expected = ExpectedResponse::new(state, server);
        let attempt = Self {
            expected: Arc::new(expected),
            verifier: random_token()?,
            redirect: wish.redirect.clone(),
            nonce,
        };
        let page = BrowserPage::try_from(attempt.page_url(endpoint, client, wish))
            .map_err(AuthorizeError::Endpoint)?;
        Ok((attempt, page))
    }

    /// The `state` parameter that the response must repeat; a party that knows it can answer in the user's
    /// place.
    #[must_use]
    pub fn state(&self) -> &Secret<String> {
        self.expected.state()
    }

    /// Whether the response belongs to this attempt.
    #[must_use]
    pub fn matches_state(&self, answer: &AuthorizationResponse) -> bool {
        self.expected.matches_state(answer)
    }

    /// Accepts the response. A response to another attempt uses this one up too: check
    /// [`Self::matches_state`] before.
    ///
    /// # Errors
    /// When it belongs to another attempt, comes from another issuer, or is a refusal.
    pub fn accept_response(
        self,
        answer: &AuthorizationResponse,
    ) -> Result<AuthorizationCode, AuthorizeError> {
        let code = self.expected.verify_response(answer)?.clone();
        let Self { expected, verifier, redirect, nonce } = self;
        Ok(AuthorizationCode { code, verifier, redirect, nonce, issuer: expected.issuer().to_owned() })
    }

    pub(crate) fn expected_response(&self) -> &Arc<ExpectedResponse> {
        &self.expected
    }

    fn page_url(&self, endpoint: &Url, client: &OAuthClient, wish: &AuthorizationRequest<'_>) -> Url {
        let ours = self.query_parameters(client, wish);
        let kept: Vec<(String, String)> = endpoint
            .query_pairs()
            .into_owned()
            // A parameter must not occur twice (RFC 6749, 3.1), and the response is checked against ours.
            .filter(|(name, _)| !ours.iter().any(|(our, _)| our == name))
            .collect();
        let mut address = endpoint.clone();
        address.set_fragment(None);
        address.query_pairs_mut().clear().extend_pairs(kept).extend_pairs(ours);
        address
    }

    fn query_parameters(
        &self,
        client: &OAuthClient,
        wish: &AuthorizationRequest<'_>,
    ) -> Vec<(&'static str, String)> {
        let mut parameters = vec![
            ("response_type", "code".to_owned()),
            ("client_id", client.id.clone()),
            ("redirect_uri", wish.redirect.to_string()),
            ("state", self.state().expose().clone()),
            ("code_challenge", pkce_challenge(&self.verifier)),
            ("code_challenge_method", "S256".to_owned()),
        ];
        let scopes = requested_scopes(wish);
        if !scopes.is_empty() {
            parameters.push(("scope", scopes.join(" ")));
        }
        if scopes.contains(&OFFLINE) {
            // Without this parameter the scope is ignored (OpenID Connect Core, 11).
            parameters.push(("prompt", "consent".to_owned()));
        }
        parameters.extend(wish.resource.map(|resource| ("resource", resource.to_owned())));
        parameters.extend(self.nonce.as_ref().map(|nonce| ("nonce", nonce.expose().clone())));
        parameters.extend(wish.dpop_jkt.map(|thumbprint| ("dpop_jkt", thumbprint.to_owned())));
        parameters
    }
}

fn requested_scopes<'w>(wish: &AuthorizationRequest<'w>) -> Vec<&'w str> {
    let mut scopes: Vec<&str> = wish.scopes.iter().map(String::as_str).collect();
    if wish.identity == IdTokenDemand::Requested && !scopes.contains(&OPENID) {
        scopes.insert(0, OPENID);
    }
    scopes
}

/// The PKCE code challenge (RFC 7636, 4.2).
fn pkce_challenge(verifier: &Secret<String>) -> String {
    URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, verifier.expose().as_bytes()))
}

fn random_token() -> Result<Secret<String>, AuthorizeError> {
    let mut bytes = [0; RANDOM_BYTES];
    rand::fill(&mut bytes).map_err(|_| AuthorizeError::Random)?;
    Ok(Secret::new(URL_SAFE_NO_PAD.encode(bytes)))
}
