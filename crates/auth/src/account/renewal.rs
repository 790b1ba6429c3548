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
use super::memory::Kept;
use crate::client::Origin;
use crate::dpop::Possession;
use crate::error::{SignInError, chain};
use crate::grant::{self, Grant, Keys, TokenError, TokenRequest};
use crate::tokens::Kind;
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
        Self::Trouble(Failure::Refused { obstacle: Obstacle::Other, reason, hint })
    }
}

impl Account {
    /// Tokens other than `spent`, which was refused or is about to end.
    pub(super) async fn renew(&self, spent: &Secret<String>) -> Result<Arc<Kept>, RenewError> {
        if let Some(kept) = self.remembered().filter(|kept| kept.is_other_than(spent)) {
            return Ok(kept);
        }
        let (account, spent) = (self.clone(), spent.clone());
        let work = async move { account.renew_now(&spent).await };
        self.0.tasks.finish(work).await.unwrap_or(Err(RenewError::Over))
    }

    async fn renew_now(&self, spent: &Secret<String>) -> Result<Arc<Kept>, RenewError> {
        let _alone = self.0.renewing.lock().await;
        if let Some(kept) = self.remembered().filter(|kept| kept.is_other_than(spent)) {
            return Ok(kept);
        }
        let _lock = self.lock().await?;
        let Some(kept) = self.read().await.map_err(unreadable)? else { return Err(RenewError::Over) };
        if kept.is_other_than(spent) {
            return Ok(kept);
        }
        match self.0.oauth.grant {
            Granting::ClientCredentials | Granting::JwtBearer => self.get_anew().await,
            Granting::Person => match self.refresh(&kept).await {
                // Whoever signs in through an identity provider may still be known there.
                Err(RenewError::Over) if self.0.oauth.xaa => self.get_anew().await,
                refreshed => refreshed,
            },
        }
    }

    /// Keeps other processes from the same work.
    pub(super) async fn lock(&self) -> Result<Option<EntryLock>, RenewError> {
        let Some(vault) = &self.0.vault else { return Ok(None) };
        vault.lock(&self.0.slot.record(), RENEWAL_TIME).await.map(Some).map_err(unreadable)
    }

    async fn refresh(&self, kept: &Arc<Kept>) -> Result<Arc<Kept>, RenewError> {
        let record = &kept.record;
        let Some(tokens) = &record.tokens else { return Err(RenewError::Over) };
        let Some(token) = &tokens.refresh else { return self.close(kept).await };
        let signing = self.signing_key(&record.client).map_err(|error| cannot(&error))?;
        let request = TokenRequest {
            server: &record.issuer,
            client: &record.client,
            grant: Grant::Refresh { token },
            resource: Some(&record.resource),
            scopes: &tokens.scopes,
        };
        let possession = match (tokens.kind, kept.prover()) {
            (Kind::Dpop, Some(prover)) => Possession::Required(prover),
            (Kind::Dpop, None) => return self.close(kept).await,
            (Kind::Bearer, _) => Possession::Unbound,
        };
        let keys = Keys { signing: signing.as_ref(), possession };
        let asking = grant::ask(&self.0.web, &request, &keys, SystemTime::now());
        let granted = match tokio::time::timeout(RENEWAL_TIME, asking).await {
            Ok(Ok(granted)) => granted,
            Ok(Err(error)) if error.is_unknown_client() && record.client.origin == Origin::Registered => {
                // The next sign-in registers anew.
                let _kept_by_another = self.forget(kept).await;
                return Err(RenewError::Over);
            }
            Ok(Err(error)) if error.is_dead() => return self.close(kept).await,
            Ok(Err(error)) => return Err(cannot(&error)),
            Err(_) => return Err(cannot(&TokenError::Web(WebError::Late { after: RENEWAL_TIME }))),
        };
        let mut renewed = record.clone();
        renewed.tokens = Some(granted.tokens);
        self.write(renewed, Expected::Generation(kept.generation)).await.map_err(unreadable)
    }

    /// The tokens are of no use any more. Who we are to the authorization server stays known.
    async fn close(&self, kept: &Arc<Kept>) -> Result<Arc<Kept>, RenewError> {
        let mut record = kept.record.clone();
        record.tokens = None;
        match self.write(record, Expected::Generation(kept.generation)).await {
            // Somebody has signed in meanwhile.
            Err(VaultError::Changed { .. }) => match self.read().await {
                Ok(Some(newer)) if newer.is_of_use(SystemTime::now()) => Ok(newer),
                Ok(_) | Err(_) => Err(RenewError::Over),
            },
            Ok(_) | Err(_) => Err(RenewError::Over),
        }
    }
}

impl Kept {
    /// Whether it has a token, and another one.
    fn is_other_than(&self, spent: &Secret<String>) -> bool {
        self.record.tokens.as_ref().is_some_and(|tokens| tokens.access != *spent)
    }
}

fn cannot(error: &(dyn std::error::Error + 'static)) -> RenewError {
    RenewError::trouble("the sign-in cannot be renewed", error, None)
}

#[expect(clippy::needless_pass_by_value, reason = "it stands where errors are mapped")]
fn unreadable(error: VaultError) -> RenewError {
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
