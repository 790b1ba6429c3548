//! One attempt to get a person's consent: what the browser is sent out with, and which answer is believed.
//!
//! Authorization code with PKCE (RFC 6749 4.1, RFC 7636) and the issuer in the answer (RFC 9207). Everything an answer is
//! measured by is recorded before the browser leaves, so that nothing learnt later can bend it (H16). How the answer
//! comes back is the business of [`crate::callback`]; redeeming the code is that of the token endpoint.

mod answer;
mod error;
mod expected;
mod refusal;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use aws_lc_rs::{digest, rand};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcparley_model::secret::Secret;
use url::Url;

use crate::client::Client;
use crate::metadata::{Found, Server};
use crate::page::Page;

pub use answer::{Answer, AnswerError};
pub use error::AuthorizeError;
pub(crate) use expected::Expected;
pub use refusal::{Refusal, RefusalKind};

/// How many random bytes a state, a verifier and a nonce have: twice what nobody can guess. Written as 43 characters,
/// which is the least a verifier may have.
const RANDOM_BYTES: usize = 32;

/// The scope that asks for a token that outlives the sign-in.
const OFFLINE: &str = "offline_access";

/// The scope that asks who the person is.
const OPENID: &str = "openid";

/// One attempt. It is used up by the answer it takes.
#[derive(Debug)]
pub struct Attempt {
    expected: Arc<Expected>,
    verifier: Secret<String>,
    redirect: Url,
    nonce: Option<Secret<String>>,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'w> {
    /// Where the browser is sent back to.
    pub redirect: &'w Url,
    /// What the token is for, byte for byte as it names itself (RFC 8707); none for an identity alone.
    pub resource: Option<&'w str>,
    /// The scopes; with none the parameter is left out.
    pub scopes: &'w [String],
    /// Whether the answer shall tell who the person is.
    pub identity: Identity,
    /// The thumbprint of the key that the token shall be bound to (RFC 9449, 10).
    pub dpop_jkt: Option<&'w str>,
}

/// Whether a sign-in is about who the person is (OpenID Connect).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// It is not.
    Unasked,
    /// It is: the scope `openid` is asked for, with a nonce that the identity token must repeat.
    Asked,
}

/// What an attempt brought: everything the token endpoint wants to see.
#[derive(Clone, Debug)]
pub struct Code {
    /// The code itself.
    pub code: Secret<String>,
    /// Shows that it was us who asked (RFC 7636).
    pub verifier: Secret<String>,
    /// Where the browser was sent back to; must be repeated.
    pub redirect: Url,
    /// What the identity token must repeat, if one was asked for.
    pub nonce: Option<Secret<String>>,
    /// Who gave it, and the only one it may be shown to.
    pub issuer: String,
}

impl Attempt {
    /// Records what the answer will be measured by, and says which page to open.
    ///
    /// # Errors
    /// When the authorization server has no such page, or none that may be opened, or does not know PKCE.
    pub fn begin(server: &Server, client: &Client, wish: &Wish<'_>) -> Result<(Self, Page), AuthorizeError> {
        let endpoint = server.authorization_endpoint.as_ref().ok_or(AuthorizeError::NoEndpoint)?;
        // Without S256 a stolen code is as good as a token. Servers of 2025-03-26 that say nothing at all must have it, and
        // it is the protocol that wants to be told, not OpenID Connect (B75).
        if server.found == Found::Described && !server.has_s256 && wish.identity == Identity::Unasked {
            return Err(AuthorizeError::NoPkce);
        }
        let nonce = match wish.identity {
            Identity::Unasked => None,
            Identity::Asked => Some(random()?),
        };
        let expected = Expected::new(random()?, server);
        let attempt = Self {
            expected: Arc::new(expected),
            verifier: random()?,
            redirect: wish.redirect.clone(),
            nonce,
        };
        let page =
            Page::try_from(attempt.address(endpoint, client, wish)).map_err(AuthorizeError::Endpoint)?;
        Ok((attempt, page))
    }

    /// The mark the answer must carry; whoever has it can answer in the person's place.
    #[must_use]
    pub fn state(&self) -> &Secret<String> {
        self.expected.state()
    }

    /// Whether the answer is one to this attempt.
    #[must_use]
    pub fn is_for(&self, answer: &Answer) -> bool {
        self.expected.is_for(answer)
    }

    /// Takes the answer. One that is for another attempt uses this one up too: ask [`Self::is_for`] before.
    ///
    /// # Errors
    /// When it is for another attempt, comes from another issuer, or says no.
    pub fn accept(self, answer: &Answer) -> Result<Code, AuthorizeError> {
        let code = self.expected.judge(answer)?.clone();
        let Self { expected, verifier, redirect, nonce } = self;
        Ok(Code { code, verifier, redirect, nonce, issuer: expected.issuer().to_owned() })
    }

    pub(crate) fn expected(&self) -> &Arc<Expected> {
        &self.expected
    }

    fn address(&self, endpoint: &Url, client: &Client, wish: &Wish<'_>) -> Url {
        let ours = self.parameters(client, wish);
        let kept: Vec<(String, String)> = endpoint
            .query_pairs()
            .into_owned()
            // A parameter must not stand twice (RFC 6749, 3.1), and ours are those the answer is measured by.
            .filter(|(name, _)| !ours.iter().any(|(our, _)| our == name))
            .collect();
        let mut address = endpoint.clone();
        address.set_fragment(None);
        address.query_pairs_mut().clear().extend_pairs(kept).extend_pairs(ours);
        address
    }

    fn parameters(&self, client: &Client, wish: &Wish<'_>) -> Vec<(&'static str, String)> {
        let mut parameters = vec![
            ("response_type", "code".to_owned()),
            ("client_id", client.id.clone()),
            ("redirect_uri", wish.redirect.to_string()),
            ("state", self.state().expose().clone()),
            ("code_challenge", challenge(&self.verifier)),
            ("code_challenge_method", "S256".to_owned()),
        ];
        let scopes = scopes(wish);
        if !scopes.is_empty() {
            parameters.push(("scope", scopes.join(" ")));
        }
        if scopes.contains(&OFFLINE) {
            // Without it the scope is ignored (OpenID Connect Core, 11).
            parameters.push(("prompt", "consent".to_owned()));
        }
        parameters.extend(wish.resource.map(|resource| ("resource", resource.to_owned())));
        parameters.extend(self.nonce.as_ref().map(|nonce| ("nonce", nonce.expose().clone())));
        parameters.extend(wish.dpop_jkt.map(|thumbprint| ("dpop_jkt", thumbprint.to_owned())));
        parameters
    }
}

fn scopes<'w>(wish: &Wish<'w>) -> Vec<&'w str> {
    let mut scopes: Vec<&str> = wish.scopes.iter().map(String::as_str).collect();
    if wish.identity == Identity::Asked && !scopes.contains(&OPENID) {
        scopes.insert(0, OPENID);
    }
    scopes
}

/// RFC 7636, 4.2.
fn challenge(verifier: &Secret<String>) -> String {
    URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, verifier.expose().as_bytes()))
}

fn random() -> Result<Secret<String>, AuthorizeError> {
    let mut bytes = [0; RANDOM_BYTES];
    rand::fill(&mut bytes).map_err(|_| AuthorizeError::Random)?;
    Ok(Secret::new(URL_SAFE_NO_PAD.encode(bytes)))
}
