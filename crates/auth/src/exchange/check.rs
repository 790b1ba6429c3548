//! Decides whether an `id_token` and an ID-JAG are what they must be, before either is sent anywhere (B83).
//!
//! Names are compared byte for byte: a slash more is another party.

use std::time::SystemTime;

use mcparley_model::secret::Secret;

use super::Wanted;
use crate::client::Client;
use crate::jwt::{Claims, JwtError, claims_of};
use crate::metadata::Server;

/// Who signed in at an identity provider. Only ever one that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdToken {
    token: Secret<String>,
    issuer: String,
    client: String,
    subject: String,
    expires: SystemTime,
}

/// An identity provider's word that we may have a token from one authorization server for one protected server. Only
/// ever one that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdJag {
    token: Secret<String>,
    audience: String,
    client: String,
    resource: String,
    scopes: Vec<String>,
    expires: SystemTime,
}

/// What an `id_token` must say.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'e> {
    /// Who gave it.
    pub issuer: &'e str,
    /// Who we are there.
    pub client: &'e str,
    /// What ties it to the request it answers; none for one that was stored.
    pub nonce: Option<&'e Secret<String>>,
}

/// What is wrong with one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// It is no such token.
    #[error("it cannot be read")]
    Unreadable(#[source] JwtError),
    /// It is another kind of token.
    #[error("it is another kind of token")]
    Kind,
    /// Somebody else gave it.
    #[error("it comes from somebody else")]
    Issuer,
    /// It does not say whom it is about.
    #[error("it does not say whom it is about")]
    Subject,
    /// It is for somebody else.
    #[error("it is for somebody else")]
    Audience,
    /// It is for another client.
    #[error("it was given to another client")]
    Client,
    /// It opens something else.
    #[error("it is for another protected server")]
    Resource,
    /// It answers another request.
    #[error("it answers another request")]
    Nonce,
    /// It has ended, or does not say when it ends.
    #[error("it has ended")]
    Expired,
}

impl IdToken {
    /// Checks what a token endpoint gave, or what was stored of it (OpenID Connect Core, 3.1.3.7).
    ///
    /// # Errors
    /// A [`Flaw`].
    pub fn checked(token: Secret<String>, expected: &Expected<'_>, now: SystemTime) -> Result<Self, Flaw> {
        let claims = claims_of(&token).map_err(Flaw::Unreadable)?;
        ensure(claims.issuer.as_deref() == Some(expected.issuer), Flaw::Issuer)?;
        ensure(claims.audiences.iter().any(|audience| audience == expected.client), Flaw::Audience)?;
        ensure(claims.party.as_deref().is_none_or(|party| party == expected.client), Flaw::Client)?;
        ensure(expected.nonce.is_none_or(|nonce| claims.nonce.as_ref() == Some(nonce)), Flaw::Nonce)?;
        let expires = alive(&claims, now)?;
        let subject = claims.subject.filter(|subject| !subject.is_empty()).ok_or(Flaw::Subject)?;
        let (issuer, client) = (expected.issuer.to_owned(), expected.client.to_owned());
        Ok(Self { token, issuer, client, subject, expires })
    }

    /// The token, to be stored.
    #[must_use]
    pub fn token(&self) -> &Secret<String> {
        &self.token
    }

    /// Whom it is about, by the name the provider has for them.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// When it ends.
    #[must_use]
    pub fn expires(&self) -> SystemTime {
        self.expires
    }

    /// The token, for the provider that gave it and for nobody else.
    pub(super) fn for_provider(
        &self,
        server: &Server,
        client: &Client,
        now: SystemTime,
    ) -> Result<&Secret<String>, Flaw> {
        ensure(self.issuer == server.issuer, Flaw::Issuer)?;
        ensure(self.client == client.id, Flaw::Client)?;
        ensure(now < self.expires, Flaw::Expired)?;
        Ok(&self.token)
    }
}

impl IdJag {
    /// Checks what the provider `issuer` gave for `wanted`.
    pub(super) fn checked(
        token: Secret<String>,
        issuer: &str,
        wanted: &Wanted<'_>,
        now: SystemTime,
    ) -> Result<Self, Flaw> {
        let claims = claims_of(&token).map_err(Flaw::Unreadable)?;
        let kind = claims.kind.as_deref().unwrap_or_default();
        ensure(kind.eq_ignore_ascii_case("oauth-id-jag+jwt"), Flaw::Kind)?;
        ensure(claims.issuer.as_deref() == Some(issuer), Flaw::Issuer)?;
        // For one server alone: one that is good elsewhere too could be carried on by whoever sees it.
        ensure(claims.audiences == [wanted.audience], Flaw::Audience)?;
        ensure(claims.resources == [wanted.resource], Flaw::Resource)?;
        ensure(claims.client.as_deref() == Some(wanted.client), Flaw::Client)?;
        Ok(Self {
            expires: alive(&claims, now)?,
            token,
            audience: wanted.audience.to_owned(),
            client: wanted.client.to_owned(),
            resource: wanted.resource.to_owned(),
            scopes: wanted.scopes.to_vec(),
        })
    }

    /// What it opens.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.resource
    }

    /// What for.
    #[must_use]
    pub fn scopes(&self) -> &[String] {
        &self.scopes
    }

    /// The token, for the authorization server it is for and for nobody else.
    pub(super) fn for_server(
        &self,
        server: &Server,
        client: &Client,
        now: SystemTime,
    ) -> Result<&Secret<String>, Flaw> {
        ensure(self.audience == server.issuer, Flaw::Audience)?;
        ensure(self.client == client.id, Flaw::Client)?;
        ensure(now < self.expires, Flaw::Expired)?;
        Ok(&self.token)
    }
}

fn ensure(holds: bool, flaw: Flaw) -> Result<(), Flaw> {
    if holds { Ok(()) } else { Err(flaw) }
}

fn alive(claims: &Claims, now: SystemTime) -> Result<SystemTime, Flaw> {
    claims.expires.filter(|expires| now < *expires).ok_or(Flaw::Expired)
}
