//! Token exchange (RFC 8693): the token that the client of a gateway sent becomes one for a server.
//!
//! The client's token goes to its own issuer and nowhere else. The new token is held in memory only, until it
//! expires; all requests of the client share it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use mcparley_model::secret::Secret;
use url::Url;

use super::{Account, AccountOwner};
use crate::discover;
use crate::error::SignInError;
use crate::grant::{self, TokenGrant, TokenRequest, TokenRequestKeys};
use crate::sign_in_record::SignInRecord;
use crate::tokens::Tokens;

/// The newest token that a client of a gateway sent. Cheap to clone; all clones share one.
#[derive(Clone, Debug, Default)]
pub struct SubjectTokenSource(Arc<Mutex<Option<IssuedToken>>>);

/// A token of an issuer, which the gateway has verified.
#[derive(Clone, Debug)]
pub struct IssuedToken {
    /// The token.
    pub token: Secret<String>,
    /// The issuer, byte for byte.
    pub issuer: Arc<str>,
    /// The expiry of the token.
    pub expires: SystemTime,
}

impl SubjectTokenSource {
    /// Replaces the token by a newer one; one that ends earlier is ignored.
    pub fn set_token(&self, token: IssuedToken) {
        let mut newest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if newest.as_ref().is_none_or(|known| known.expires <= token.expires) {
            *newest = Some(token);
        }
    }

    /// The token, if there is one that has not expired.
    fn valid_token(&self, now: SystemTime) -> Option<IssuedToken> {
        let newest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        newest.clone().filter(|token| now < token.expires)
    }
}

impl Account {
    /// Exchanges the token of the client for one for the server.
    pub(super) async fn exchange_subject_token(&self) -> Result<SignInRecord, SignInError> {
        let AccountOwner::Principal { sign_in, .. } = &self.0.owner else {
            return Err(SignInError::NoSubjectToken);
        };
        let now = SystemTime::now();
        let subject = sign_in.subject.valid_token(now).ok_or(SignInError::NoSubjectToken)?;
        let issuer = Url::parse(&subject.issuer).map_err(|_| SignInError::NoSubjectToken)?;
        let oauth = &self.0.oauth;
        // The gateway's settings name the issuer, so it may be at any address.
        let web = self.0.web.with_trusted_place(&issuer);
        let server = discover::fetch_issuer_metadata(&web, &subject.issuer).await?;
        let client = self.resolve_client(&server, None, &oauth.scopes).await?;
        let signing = self.signing_key(&client)?;
        let resource = self.exchanged_resource().await;
        let request = TokenRequest {
            server: &server,
            client: &client,
            grant: TokenGrant::Exchange { subject: &subject.token, audience: oauth.audience.as_deref() },
            resource: self.resource_parameter(&resource),
            scopes: &oauth.scopes,
        };
        let keys = TokenRequestKeys { signing: signing.as_ref(), ..TokenRequestKeys::default() };
        let granted = grant::request_tokens(&web, &request, &keys, now).await?;
        // The client's token is the only way to another one: a refresh token would outlive it.
        let tokens = Some(Tokens { refresh: None, ..granted.tokens });
        let client = crate::client::OAuthClient { proof: granted.proof, ..client };
        let name = self.0.server.to_string();
        Ok(SignInRecord {
            server: name,
            resource,
            issuer: server,
            client,
            tokens,
            wanted: Vec::new(),
            key: None,
        })
    }

    /// The server as it names itself, or by its address.
    async fn exchanged_resource(&self) -> String {
        let asked = self.last_challenge();
        let found = discover::discover_auth_server(&self.0.web, &self.0.url, asked.as_ref(), None).await;
        found.map_or_else(|_| discover::canonical_resource(&self.0.url), |found| found.audience)
    }
}
