//! Tokens without the user: by the client's own secret or key, by an assertion that another party signed, or
//! through an identity provider that already knows the user.

use std::sync::Arc;
use std::time::SystemTime;

use mcparley_model::config::ConfiguredGrant as Granting;
use mcparley_model::limits::RENEWAL_TIME;
use mcparley_model::secret::Secret;

use super::Account;
use super::key::DpopKey;
use super::renewal::{renewal_timeout_error, unusable_record_error};
use super::sign_in_cache::StoredSignIn;
use super::single_flight::RenewalKey;
use crate::client::OAuthClient;
use crate::discover::{self, DiscoveryResult};
use crate::error::{RenewError, SignInError};
use crate::exchange;
use crate::grant::{self, TokenGrant, TokenRequest, TokenRequestKeys, TokenResponse};
use crate::scopes::{self, Renewal};
use crate::sign_in_record::SignInRecord;
use crate::vault::ExpectedEntry;

impl Account {
    /// Whether the entry allows a token request without the user.
    pub(super) fn can_request_without_user(&self) -> bool {
        !self.needs_user() || (self.0.oauth.xaa && self.0.identity.is_some())
    }

    /// Whether the identity provider already knows the user. Always false for a server that does not use one;
    /// no other server is asked.
    pub(super) async fn is_user_known(&self) -> bool {
        match &self.0.identity {
            Some(identity) if self.0.oauth.xaa => identity.knows_user().await,
            Some(_) | None => false,
        }
    }

    /// Requests tokens other than `sent` without the user; concurrent callers share one request (single
    /// flight).
    pub(super) async fn obtain_tokens_silently(
        &self,
        sent: Option<&Secret<String>>,
    ) -> Result<Arc<StoredSignIn>, RenewError> {
        if !self.can_request_without_user() {
            return Err(RenewError::SignInRequired);
        }
        let (account, sent) = (self.clone(), sent.cloned());
        let wish = RenewalKey::NewGrant(sent.clone());
        let work = async move {
            let _alone = account.0.renewing.lock().await;
            let _lock = account.lock_record().await?;
            let kept = account
                .read_sign_in()
                .await
                .map_err(unusable_record_error)?
                .filter(|kept| kept.is_usable(SystemTime::now()));
            match kept {
                Some(kept) if sent.is_none_or(|sent| kept.has_other_token(&sent)) => Ok(kept),
                Some(_) | None => account.request_new_tokens().await,
            }
        };
        self.0.single_flight.run_shared(&self.0.tasks, wish, work).await
    }

    /// Signs in again without the user, replacing the tokens that are stored now.
    pub(super) async fn sign_in_silently(&self) -> Result<(), SignInError> {
        let known = self
            .read_sign_in()
            .await?
            .and_then(|kept| kept.record.tokens.as_ref().map(|tokens| tokens.access.clone()));
        self.obtain_tokens_silently(known.as_ref()).await?;
        self.0.sign_in_count.send_modify(|count| *count += 1);
        Ok(())
    }

    /// Requests new tokens instead of refreshing the old ones. The caller holds the lock of the record.
    pub(super) async fn request_new_tokens(&self) -> Result<Arc<StoredSignIn>, RenewError> {
        if self.needs_user() && !self.is_user_known().await {
            return Err(RenewError::SignInRequired);
        }
        let requesting = async {
            match self.active_grant() {
                Granting::TokenExchange => self.exchange_subject_token().await,
                Granting::Person | Granting::ClientCredentials | Granting::JwtBearer => {
                    self.request_silent_grant().await
                }
            }
        };
        let asked = tokio::time::timeout(RENEWAL_TIME, requesting).await;
        let record = asked.unwrap_or_else(|_| Err(renewal_timeout_error()))?;
        Ok(self.write_record(record, ExpectedEntry::Any).await.map_err(SignInError::Vault)?)
    }

    async fn request_silent_grant(&self) -> Result<SignInRecord, SignInError> {
        let (asked, oauth) = (self.last_challenge(), &self.0.oauth);
        let wished = oauth.auth_server_metadata_url.as_ref();
        let found = discover::discover_auth_server(&self.0.web, &self.0.url, asked.as_ref(), wished).await?;
        self.check_issuer(&found).await?;
        let scopes = self.scopes_to_request(&found, Renewal::Unwanted).await;
        let client = self.resolve_client(&found.server, None, &scopes).await?;
        let key = DpopKey::generate_if_wanted(&found, asked.as_ref())?;
        let granted = match self.active_grant() {
            Granting::ClientCredentials => {
                self.request_grant(&found, &client, TokenGrant::ClientCredentials, &scopes, &key).await?
            }
            Granting::JwtBearer => {
                let assertion = self.load_assertion()?;
                let grant = TokenGrant::JwtBearer { assertion: &assertion };
                self.request_grant(&found, &client, grant, &scopes, &key).await?
            }
            Granting::Person | Granting::TokenExchange => {
                self.request_via_identity(&found, &client, &scopes, &key).await?
            }
        };
        self.build_record(found, client, granted, &key).await
    }

    /// Requests tokens through the identity provider: the user's ID token is exchanged for an ID-JAG for this
    /// server, and that for an access token.
    async fn request_via_identity(
        &self,
        found: &DiscoveryResult,
        client: &OAuthClient,
        scopes: &[String],
        key: &DpopKey,
    ) -> Result<TokenResponse, SignInError> {
        let identity = self.0.identity.as_ref().ok_or(SignInError::NoIdentity)?;
        let statement = identity.obtain_id_jag(found, client, scopes).await?;
        let signing = self.signing_key(client)?;
        let keys = TokenRequestKeys { signing: signing.as_ref(), possession: key.possession() };
        let party = exchange::ExchangeParty { server: &found.server, client, keys: &keys };
        Ok(exchange::redeem_id_jag(&self.0.web, &party, &statement, SystemTime::now()).await?)
    }

    /// Sends a token request.
    pub(super) async fn request_grant(
        &self,
        found: &DiscoveryResult,
        client: &OAuthClient,
        grant: TokenGrant<'_>,
        scopes: &[String],
        key: &DpopKey,
    ) -> Result<TokenResponse, SignInError> {
        let signing = self.signing_key(client)?;
        let keys = TokenRequestKeys { signing: signing.as_ref(), possession: key.possession() };
        let resource = self.resource_parameter(&found.audience);
        let request = TokenRequest { server: &found.server, client, grant, resource, scopes };
        Ok(grant::request_tokens(&self.0.web, &request, &keys, SystemTime::now()).await?)
    }

    /// The `resource` parameter of a token request (RFC 8707), unless the entry switches it off.
    pub(super) fn resource_parameter<'a>(&self, audience: &'a str) -> Option<&'a str> {
        (!self.0.oauth.omit_resource).then_some(audience)
    }

    /// The scopes to request: those the server asks for now, and those it asked for before. Asking for fewer
    /// would lose rights that a call needed.
    pub(super) async fn scopes_to_request(&self, found: &DiscoveryResult, renewal: Renewal) -> Vec<String> {
        let asked = self.last_challenge();
        let (resource, server) = (found.resource.as_ref(), &found.server);
        let now = scopes::select_scopes(&self.0.oauth.scopes, asked.as_ref(), resource, server, renewal);
        let Some(kept) = self.load_stored().await else { return now };
        if kept.record.issuer.issuer != server.issuer {
            return now;
        }
        let held = kept.record.tokens.as_ref().map_or(&[][..], |tokens| &tokens.scopes);
        scopes::merge_scopes(&scopes::merge_scopes(held, &now), &kept.record.wanted)
    }

    /// Builds the record of a sign-in that has succeeded.
    pub(super) async fn build_record(
        &self,
        found: DiscoveryResult,
        client: OAuthClient,
        granted: TokenResponse,
        key: &DpopKey,
    ) -> Result<SignInRecord, SignInError> {
        // Another process may have noted more scopes since.
        let wanted = match self.read_sign_in().await? {
            Some(kept) if kept.record.issuer.issuer == found.server.issuer => kept.record.wanted.clone(),
            Some(_) | None => Vec::new(),
        };
        Ok(SignInRecord {
            server: self.0.server.to_string(),
            resource: found.audience,
            issuer: found.server,
            client: OAuthClient { proof: granted.proof, ..client },
            tokens: Some(granted.tokens),
            wanted,
            key: key.to_pkcs8()?,
        })
    }
}
