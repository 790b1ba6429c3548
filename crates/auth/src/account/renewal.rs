//! New tokens for old ones: once for all requests of a process and for all processes (A3, F79).
//!
//! Whoever needs it does what everybody does: lock the entry, read it again, and only if it still holds the token that
//! was refused ask for another. A refresh token that is used twice ends every sign-in that came of it, so it is asked for
//! by one process at a time, and what came of it is written down before anybody else may look. The work is nobody's: a
//! caller that gives up takes nothing with it.

use std::sync::Arc;
use std::time::SystemTime;

use mcparley_model::config::Grant as Granting;
use mcparley_model::limits::RENEWAL_TIME;
use mcparley_model::secret::Secret;
use mcparley_wire::{Failure, Obstacle};

use super::Account;
use super::memory::StoredSignIn;
use super::single_flight::Wish;
use crate::client::{Client, Origin};
use crate::dpop::Possession;
use crate::error::{SignInError, chain};
use crate::grant::{self, Grant, Granted, Keys, TokenError, TokenRequest};
use crate::tokens::{Kind, Tokens};
use crate::vault::{EntryLock, Expected, VaultError};
use crate::web::WebError;

/// Why there are no new tokens.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RenewError {
    /// The sign-in is over: somebody has to sign in again.
    #[error("somebody has to sign in")]
    Over,
    /// Something is in the way that may be gone later; nothing is lost.
    #[error("{0}")]
    Trouble(Failure),
}

impl RenewError {
    pub(super) fn trouble(what: &str, why: &dyn std::error::Error, hint: Option<String>) -> Self {
        let reason = Arc::from(format!("{what}: {}", chain(why)));
        let hint = hint.map(Arc::from);
        Self::Trouble(Failure::Refused { obstacle: Obstacle::SignIn, reason, hint })
    }

    /// The tokens there are cannot be renewed now.
    pub(super) fn broken_off(why: &impl mcparley_model::explain::Explain) -> Self {
        Self::trouble("the sign-in cannot be renewed", why, why.hint())
    }
}

impl Account {
    /// Tokens other than `spent`, which was refused or is about to end.
    pub(super) async fn renew(&self, spent: &Secret<String>) -> Result<Arc<StoredSignIn>, RenewError> {
        if let Some(kept) = self.remembered().filter(|kept| kept.is_other_than(spent)) {
            return Ok(kept);
        }
        let (account, spent) = (self.clone(), spent.clone());
        let wish = Wish::Renewed(spent.clone());
        self.0.single_flight.share(&self.0.tasks, wish, async move { account.renew_now(&spent).await }).await
    }

    async fn renew_now(&self, spent: &Secret<String>) -> Result<Arc<StoredSignIn>, RenewError> {
        let _alone = self.0.renewing.lock().await;
        if let Some(kept) = self.remembered().filter(|kept| kept.is_other_than(spent)) {
            return Ok(kept);
        }
        let _lock = self.lock().await?;
        let Some(kept) = self.read().await.map_err(unreadable)? else { return Err(RenewError::Over) };
        if kept.is_other_than(spent) {
            return Ok(kept);
        }
        let has_refresh_token = kept.record.tokens.as_ref().is_some_and(|tokens| tokens.refresh.is_some());
        if !has_refresh_token {
            // A program's tokens come without one; another process may have found out what the server takes.
            self.learn_grant().await;
        }
        match self.grant() {
            Granting::ClientCredentials | Granting::JwtBearer => self.get_anew().await,
            Granting::Person if self.0.oauth.xaa => self.refresh_or_get_anew(&kept).await,
            Granting::Person => self.refresh(&kept).await,
        }
    }

    /// Whoever signs in through an identity provider may still be known there when the tokens are over.
    async fn refresh_or_get_anew(&self, kept: &Arc<StoredSignIn>) -> Result<Arc<StoredSignIn>, RenewError> {
        let can_be_renewed = kept.record.tokens.as_ref().is_some_and(|tokens| tokens.refresh.is_some());
        let refreshed = if can_be_renewed { self.refresh(kept).await } else { Err(RenewError::Over) };
        match refreshed {
            Err(RenewError::Over) => self.get_anew().await,
            refreshed => refreshed,
        }
    }

    /// Keeps other processes from the same work. Whoever changes the entry holds it: what is written by somebody else
    /// while a token is renewed would cost the new one.
    pub(super) async fn lock(&self) -> Result<Option<EntryLock>, RenewError> {
        let Some(vault) = &self.0.vault else { return Ok(None) };
        vault.lock(&self.0.slot.record(), RENEWAL_TIME).await.map(Some).map_err(unreadable)
    }

    async fn refresh(&self, kept: &Arc<StoredSignIn>) -> Result<Arc<StoredSignIn>, RenewError> {
        let record = &kept.record;
        let Some(tokens) = &record.tokens else { return Err(RenewError::Over) };
        let Some(token) = &tokens.refresh else { return self.close(kept).await };
        let possession = match (tokens.kind, kept.prover()) {
            (Kind::Dpop, Some(prover)) => Possession::Required(prover),
            (Kind::Dpop, None) => return self.close(kept).await,
            (Kind::Bearer, _) => Possession::Unbound,
        };
        let client = self.client_now(&record.client).await.map_err(|error| RenewError::broken_off(&error))?;
        match self.ask_for_others(kept, &client, tokens, token, possession).await {
            Ok(granted) => {
                let mut renewed = record.clone();
                renewed.client = Client { proof: granted.proof, ..client };
                renewed.tokens = Some(granted.tokens);
                self.replace(kept, renewed).await
            }
            Err(SignInError::Token(error)) if error.is_unknown_client() => match client.origin {
                Origin::Registered => {
                    // The next sign-in registers anew.
                    let _kept_by_another = self.forget(kept).await;
                    Err(RenewError::Over)
                }
                // Its secret may be the wrong one; what it was given for may be good.
                Origin::Configured | Origin::Document => Err(RenewError::broken_off(&error)),
            },
            Err(SignInError::Token(error)) if error.is_dead() => self.close(kept).await,
            Err(error) => Err(RenewError::broken_off(&error)),
        }
    }

    async fn ask_for_others(
        &self,
        kept: &StoredSignIn,
        client: &Client,
        tokens: &Tokens,
        token: &Secret<String>,
        possession: Possession<'_>,
    ) -> Result<Granted, SignInError> {
        let signing = self.signing_key(client)?;
        let request = TokenRequest {
            server: &kept.record.issuer,
            client,
            grant: Grant::Refresh { token },
            resource: self.resource_parameter(&kept.record.resource),
            scopes: &tokens.scopes,
        };
        let keys = Keys { signing: signing.as_ref(), possession };
        let asking = grant::ask(&self.0.web, &request, &keys, SystemTime::now());
        match tokio::time::timeout(RENEWAL_TIME, asking).await {
            Ok(granted) => Ok(granted?),
            Err(_) => Err(late()),
        }
    }

    /// Writes down what takes the place of `kept`. What cannot be written is used all the same, and written at the next
    /// chance: the refresh token it came for is spent.
    async fn replace(
        &self,
        kept: &StoredSignIn,
        record: crate::record::Record,
    ) -> Result<Arc<StoredSignIn>, RenewError> {
        match self.write(record.clone(), Expected::Generation(kept.generation)).await {
            Ok(newer) => Ok(newer),
            // Somebody has signed in or out all the same.
            Err(VaultError::Changed { .. }) => self.whatever_is_there().await,
            Err(_) => Ok(self.hold(record, kept.generation)),
        }
    }

    /// The tokens are of no use any more. Who we are to the authorization server stays known.
    async fn close(&self, kept: &Arc<StoredSignIn>) -> Result<Arc<StoredSignIn>, RenewError> {
        let mut record = kept.record.clone();
        record.tokens = None;
        match self.write(record.clone(), Expected::Generation(kept.generation)).await {
            Ok(_) => Err(RenewError::Over),
            Err(VaultError::Changed { .. }) => self.whatever_is_there().await,
            Err(_) => {
                // They are not shown again.
                self.hold(record, kept.generation);
                Err(RenewError::Over)
            }
        }
    }

    async fn whatever_is_there(&self) -> Result<Arc<StoredSignIn>, RenewError> {
        match self.read().await {
            Ok(Some(newer)) if newer.is_of_use(SystemTime::now()) => Ok(newer),
            Ok(_) | Err(_) => Err(RenewError::Over),
        }
    }
}

impl StoredSignIn {
    /// Whether it has a token, and another one.
    pub(super) fn is_other_than(&self, spent: &Secret<String>) -> bool {
        self.record.tokens.as_ref().is_some_and(|tokens| tokens.access != *spent)
    }
}

/// The authorization server has used up the time for a renewal.
pub(super) fn late() -> SignInError {
    SignInError::Token(TokenError::Web(WebError::Late { after: RENEWAL_TIME }))
}

#[expect(clippy::needless_pass_by_value, reason = "it stands where errors are mapped")]
pub(super) fn unreadable(error: VaultError) -> RenewError {
    use mcparley_model::explain::Explain as _;
    RenewError::trouble("what is remembered of the sign-in cannot be used", &error, error.hint())
}

impl From<SignInError> for RenewError {
    fn from(error: SignInError) -> Self {
        use mcparley_model::explain::Explain as _;
        if error.wants_a_person() {
            return Self::Over;
        }
        Self::trouble("nobody can be signed in", &error, error.hint())
    }
}
