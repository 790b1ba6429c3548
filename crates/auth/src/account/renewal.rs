//! Token renewal: one at a time for all requests of a process and for all processes.
//!
//! Every renewal takes the same steps: lock the record, read it again, and request new tokens only if it
//! still holds the refused one. Authorization servers end the whole sign-in when a refresh token is used
//! twice, so one process at a time uses it and stores the result before releasing the lock. The renewal runs
//! in its own task: a caller that gives up does not cancel it.

use std::sync::Arc;
use std::time::SystemTime;

use mcparley_model::config::ConfiguredGrant as Granting;
use mcparley_model::limits::RENEWAL_TIME;
use mcparley_model::secret::Secret;
use tracing::field::Empty;
use tracing::{Instrument as _, info_span};

use super::Account;
use super::sign_in_cache::StoredSignIn;
use super::single_flight::RenewalKey;
use crate::client::{ClientIdOrigin, OAuthClient};
use crate::dpop::Possession;
use crate::error::{RenewError, SignInError};
use crate::grant::{self, TokenError, TokenGrant, TokenRequest, TokenRequestKeys, TokenResponse};
use crate::tokens::{Kind, Tokens};
use crate::vault::{EntryLock, ExpectedEntry, VaultError};
use crate::web::WebError;

impl Account {
    /// Renews `spent`, a token that was refused or is about to expire, and returns the sign-in with another
    /// one.
    pub(super) async fn renew_token(&self, spent: &Secret<String>) -> Result<Arc<StoredSignIn>, RenewError> {
        if let Some(kept) = self.cached_sign_in().filter(|kept| kept.has_other_token(spent)) {
            return Ok(kept);
        }
        let (account, spent) = (self.clone(), spent.clone());
        let wish = RenewalKey::Refresh(spent.clone());
        self.0
            .single_flight
            .run_shared(
                &self.0.tasks,
                wish,
                // The renewal belongs to the trace of the first caller.
                async move { account.renew_exclusively(&spent).await }.in_current_span(),
            )
            .await
    }

    async fn renew_exclusively(&self, spent: &Secret<String>) -> Result<Arc<StoredSignIn>, RenewError> {
        let _alone = self.0.renewing.lock().await;
        if let Some(kept) = self.cached_sign_in().filter(|kept| kept.has_other_token(spent)) {
            return Ok(kept);
        }
        let _lock = self.lock_record().await?;
        let Some(kept) = self.read_sign_in().await.map_err(unusable_record_error)? else {
            return Err(RenewError::SignInRequired);
        };
        if kept.has_other_token(spent) {
            return Ok(kept);
        }
        let issuer = kept.record.issuer.token_endpoint.host_str();
        let span = info_span!("token_refresh", server = %self.0.server, issuer, outcome = Empty);
        let renewed = self.request_tokens(&kept).instrument(span.clone()).await;
        span.record("outcome", renewed.as_ref().err().map_or("renewed", RenewError::kind));
        renewed
    }

    /// Requests tokens by the grant of the account. The caller holds the lock of the record.
    async fn request_tokens(&self, kept: &Arc<StoredSignIn>) -> Result<Arc<StoredSignIn>, RenewError> {
        let has_refresh_token = kept.record.tokens.as_ref().is_some_and(|tokens| tokens.refresh.is_some());
        if !has_refresh_token {
            // A program's tokens come without one; another process may have learned which grant the server
            // supports.
            self.learn_grant().await;
        }
        match self.active_grant() {
            Granting::ClientCredentials | Granting::JwtBearer | Granting::TokenExchange => {
                self.request_new_tokens().await
            }
            Granting::Person if self.0.oauth.xaa => self.refresh_or_request_new(kept).await,
            Granting::Person => self.refresh_tokens(kept).await,
        }
    }

    /// Refreshes the tokens, or requests new ones through the identity provider: it may still know the user
    /// when the refresh token has expired.
    async fn refresh_or_request_new(
        &self,
        kept: &Arc<StoredSignIn>,
    ) -> Result<Arc<StoredSignIn>, RenewError> {
        let can_be_renewed = kept.record.tokens.as_ref().is_some_and(|tokens| tokens.refresh.is_some());
        let refreshed =
            if can_be_renewed { self.refresh_tokens(kept).await } else { Err(RenewError::SignInRequired) };
        match refreshed {
            Err(RenewError::SignInRequired) => self.request_new_tokens().await,
            refreshed => refreshed,
        }
    }

    /// Locks the record against other processes (advisory lock). Every change holds it: a record that another
    /// process writes during a renewal would cost the renewed token.
    pub(super) async fn lock_record(&self) -> Result<Option<EntryLock>, RenewError> {
        let Some(vault) = &self.0.vault else { return Ok(None) };
        vault
            .lock_entry(&self.0.slot.record_entry(), RENEWAL_TIME)
            .await
            .map(Some)
            .map_err(unusable_record_error)
    }

    async fn refresh_tokens(&self, kept: &Arc<StoredSignIn>) -> Result<Arc<StoredSignIn>, RenewError> {
        let record = &kept.record;
        let Some(tokens) = &record.tokens else { return Err(RenewError::SignInRequired) };
        let Some(token) = &tokens.refresh else { return self.drop_dead_tokens(kept).await };
        let possession = match (tokens.kind, kept.prover()) {
            (Kind::Dpop, Some(prover)) => Possession::Required(prover),
            (Kind::Dpop, None) => return self.drop_dead_tokens(kept).await,
            (Kind::Bearer, _) => Possession::Unbound,
        };
        let client = self
            .client_with_current_secret(&record.client)
            .await
            .map_err(|error| RenewError::renewal_failure(&error))?;
        match self.request_refresh(kept, &client, tokens, token, possession).await {
            Ok(granted) => {
                let mut renewed = record.clone();
                renewed.client = OAuthClient { proof: granted.proof, ..client };
                renewed.tokens = Some(granted.tokens);
                self.replace_record(kept, renewed).await
            }
            Err(SignInError::Token(error)) if error.is_unknown_client() => match client.origin {
                ClientIdOrigin::Registered => {
                    // The next sign-in registers again.
                    let _kept_by_another = self.remove_record(kept).await;
                    Err(RenewError::SignInRequired)
                }
                // The configured secret may be wrong while the refresh token is still valid.
                ClientIdOrigin::Configured | ClientIdOrigin::Document => {
                    Err(RenewError::renewal_failure(&error))
                }
            },
            Err(SignInError::Token(error)) if error.is_grant_dead() => self.drop_dead_tokens(kept).await,
            Err(error) => Err(RenewError::renewal_failure(&error)),
        }
    }

    async fn request_refresh(
        &self,
        kept: &StoredSignIn,
        client: &OAuthClient,
        tokens: &Tokens,
        token: &Secret<String>,
        possession: Possession<'_>,
    ) -> Result<TokenResponse, SignInError> {
        let signing = self.signing_key(client)?;
        let request = TokenRequest {
            server: &kept.record.issuer,
            client,
            grant: TokenGrant::Refresh { token },
            resource: self.resource_parameter(&kept.record.resource),
            scopes: &tokens.scopes,
        };
        let keys = TokenRequestKeys { signing: signing.as_ref(), possession };
        let asking = grant::request_tokens(&self.0.web, &request, &keys, SystemTime::now());
        match tokio::time::timeout(RENEWAL_TIME, asking).await {
            Ok(granted) => Ok(granted?),
            Err(_) => Err(renewal_timeout_error()),
        }
    }

    /// Stores the renewed `record` in the place of `kept`. A record that cannot be written is used from
    /// memory and written at the next chance: the refresh token it was obtained with is already spent.
    async fn replace_record(
        &self,
        kept: &StoredSignIn,
        record: crate::sign_in_record::SignInRecord,
    ) -> Result<Arc<StoredSignIn>, RenewError> {
        match self.write_record(record.clone(), ExpectedEntry::Generation(kept.generation)).await {
            Ok(newer) => Ok(newer),
            // Another process has signed in or out in spite of the lock.
            Err(VaultError::Changed { .. }) => self.reload_sign_in().await,
            Err(_) => Ok(self.hold_unsaved(record, kept.generation)),
        }
    }

    /// Removes tokens that no longer work. The client registration stays.
    async fn drop_dead_tokens(&self, kept: &Arc<StoredSignIn>) -> Result<Arc<StoredSignIn>, RenewError> {
        let mut record = kept.record.clone();
        record.tokens = None;
        match self.write_record(record.clone(), ExpectedEntry::Generation(kept.generation)).await {
            Ok(_) => Err(RenewError::SignInRequired),
            Err(VaultError::Changed { .. }) => self.reload_sign_in().await,
            Err(_) => {
                // Even if the vault still has them, they are not sent again.
                self.hold_unsaved(record, kept.generation);
                Err(RenewError::SignInRequired)
            }
        }
    }

    async fn reload_sign_in(&self) -> Result<Arc<StoredSignIn>, RenewError> {
        match self.read_sign_in().await {
            Ok(Some(newer)) if newer.is_usable(SystemTime::now()) => Ok(newer),
            Ok(_) | Err(_) => Err(RenewError::SignInRequired),
        }
    }
}

impl StoredSignIn {
    /// Whether it has an access token other than `spent`.
    pub(super) fn has_other_token(&self, spent: &Secret<String>) -> bool {
        self.record.tokens.as_ref().is_some_and(|tokens| tokens.access != *spent)
    }
}

/// The error for an authorization server that exceeded the renewal timeout.
pub(super) fn renewal_timeout_error() -> SignInError {
    SignInError::Token(TokenError::Web(WebError::TimedOut { after: RENEWAL_TIME }))
}

#[expect(clippy::needless_pass_by_value, reason = "it stands where errors are mapped")]
pub(super) fn unusable_record_error(error: VaultError) -> RenewError {
    use mcparley_model::explain::Explain as _;
    RenewError::from_cause("cannot use the stored sign-in", &error, error.hint())
}
