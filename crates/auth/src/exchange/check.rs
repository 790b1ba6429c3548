//! Verifies the claims of an `id_token` and of an ID-JAG, before either is sent anywhere.
//!
//! Names are compared byte for byte: a name with one more slash is another party.

use std::time::SystemTime;

use mcparley_model::secret::Secret;

use super::IdJagRequest;
use crate::client::OAuthClient;
use crate::jwt::{Claims, JwtError, parse_claims};
use crate::metadata::AuthServerMetadata;

/// A verified `id_token`: the user who signed in to an identity provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdToken {
    token: Secret<String>,
    issuer: String,
    client: String,
    subject: String,
    expires: SystemTime,
}

/// A verified ID-JAG: the identity provider's grant for a token from one authorization server for one
/// protected server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdJag {
    token: Secret<String>,
    audience: String,
    client: String,
    resource: String,
    scopes: Vec<String>,
    expires: SystemTime,
}

/// The values an `id_token` must have.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedIdToken<'e> {
    /// The issuer.
    pub issuer: &'e str,
    /// The id of our client there.
    pub client: &'e str,
    /// The nonce of the request it answers; `None` for a stored token.
    pub nonce: Option<&'e Secret<String>>,
}

/// The reason why a token is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenFlaw {
    /// The token cannot be parsed.
    #[error("it cannot be read")]
    Unreadable(#[source] JwtError),
    /// The token is another type of token.
    #[error("it is another kind of token")]
    Kind,
    /// The token comes from another issuer.
    #[error("it comes from another issuer")]
    Issuer,
    /// The token has no subject.
    #[error("it has no subject")]
    Subject,
    /// The token is for another audience.
    #[error("it is for another audience")]
    Audience,
    /// The token is for another client.
    #[error("it was given to another client")]
    Client,
    /// The token is for another protected server.
    #[error("it is for another protected server")]
    Resource,
    /// The token answers another request.
    #[error("it answers another request")]
    Nonce,
    /// The token has expired, or has no expiry.
    #[error("it has expired")]
    Expired,
}

impl IdToken {
    /// Verifies the claims of a new or stored `id_token` (OpenID Connect Core, 3.1.3.7).
    ///
    /// # Errors
    /// A [`TokenFlaw`].
    pub fn verify_claims(
        token: Secret<String>,
        expected: &ExpectedIdToken<'_>,
        now: SystemTime,
    ) -> Result<Self, TokenFlaw> {
        let claims = parse_claims(&token).map_err(TokenFlaw::Unreadable)?;
        ensure(claims.issuer.as_deref() == Some(expected.issuer), TokenFlaw::Issuer)?;
        ensure(claims.audiences.iter().any(|audience| audience == expected.client), TokenFlaw::Audience)?;
        ensure(claims.party.as_deref().is_none_or(|party| party == expected.client), TokenFlaw::Client)?;
        ensure(expected.nonce.is_none_or(|nonce| claims.nonce.as_ref() == Some(nonce)), TokenFlaw::Nonce)?;
        let expires = check_expiry(&claims, now)?;
        let subject = claims.subject.filter(|subject| !subject.is_empty()).ok_or(TokenFlaw::Subject)?;
        let (issuer, client) = (expected.issuer.to_owned(), expected.client.to_owned());
        Ok(Self { token, issuer, client, subject, expires })
    }

    /// The encoded token, to be stored.
    #[must_use]
    pub fn token(&self) -> &Secret<String> {
        &self.token
    }

    /// The provider's id of the user.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// The expiry.
    #[must_use]
    pub fn expires(&self) -> SystemTime {
        self.expires
    }

    /// The encoded token, only for the provider that issued it.
    pub(super) fn token_for_provider(
        &self,
        server: &AuthServerMetadata,
        client: &OAuthClient,
        now: SystemTime,
    ) -> Result<&Secret<String>, TokenFlaw> {
        ensure(self.issuer == server.issuer, TokenFlaw::Issuer)?;
        ensure(self.client == client.id, TokenFlaw::Client)?;
        ensure(now < self.expires, TokenFlaw::Expired)?;
        Ok(&self.token)
    }
}

impl IdJag {
    /// Verifies an ID-JAG that the provider `issuer` returned for `wanted`.
    pub(super) fn verify_claims(
        token: Secret<String>,
        issuer: &str,
        wanted: &IdJagRequest<'_>,
        now: SystemTime,
    ) -> Result<Self, TokenFlaw> {
        let claims = parse_claims(&token).map_err(TokenFlaw::Unreadable)?;
        let kind = claims.kind.as_deref().unwrap_or_default();
        ensure(kind.eq_ignore_ascii_case("oauth-id-jag+jwt"), TokenFlaw::Kind)?;
        ensure(claims.issuer.as_deref() == Some(issuer), TokenFlaw::Issuer)?;
        // Only one audience: a token that is valid elsewhere too could be replayed by its receiver.
        ensure(claims.audiences == [wanted.audience], TokenFlaw::Audience)?;
        ensure(claims.resources == [wanted.resource], TokenFlaw::Resource)?;
        ensure(claims.client.as_deref() == Some(wanted.client), TokenFlaw::Client)?;
        Ok(Self {
            expires: check_expiry(&claims, now)?,
            token,
            audience: wanted.audience.to_owned(),
            client: wanted.client.to_owned(),
            resource: wanted.resource.to_owned(),
            scopes: wanted.scopes.to_vec(),
        })
    }

    /// The protected server it is for.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.resource
    }

    /// The scopes.
    #[must_use]
    pub fn scopes(&self) -> &[String] {
        &self.scopes
    }

    /// The encoded token, only for the authorization server it is for.
    pub(super) fn token_for_server(
        &self,
        server: &AuthServerMetadata,
        client: &OAuthClient,
        now: SystemTime,
    ) -> Result<&Secret<String>, TokenFlaw> {
        ensure(self.audience == server.issuer, TokenFlaw::Audience)?;
        ensure(self.client == client.id, TokenFlaw::Client)?;
        ensure(now < self.expires, TokenFlaw::Expired)?;
        Ok(&self.token)
    }
}

fn ensure(holds: bool, flaw: TokenFlaw) -> Result<(), TokenFlaw> {
    if holds { Ok(()) } else { Err(flaw) }
}

fn check_expiry(claims: &Claims, now: SystemTime) -> Result<SystemTime, TokenFlaw> {
    claims.expires.filter(|expires| now < *expires).ok_or(TokenFlaw::Expired)
}
