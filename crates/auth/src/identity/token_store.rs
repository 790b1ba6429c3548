//! The stored ID token: in memory, and in the vault for later processes.

use std::sync::{Arc, PoisonError};
use std::time::SystemTime;

use mcparley_model::hex::Hex;
use mcparley_model::limits::RENEWAL_AHEAD;
use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;
use sha2::{Digest as _, Sha256};

use super::UserIdentity;
use crate::client::{ClientIdOrigin, OAuthClient};
use crate::error::SignInError;
use crate::exchange::{ExchangeError, ExpectedIdToken as Stated, IdToken};
use crate::grant::{HeldCredentials, choose_auth_method};
use crate::metadata::AuthServerMetadata;
use crate::vault::{EntryId, ExpectedEntry};

/// The kind of vault entry for ID tokens.
const IDENTITIES: &str = "identity";

/// The kind of vault entry for client secrets.
const SECRETS: &str = "identity-secret";

/// The user as the identity provider knows them, for display.
#[derive(Clone, Debug)]
pub struct IdentifiedUser {
    /// The provider's id of the user.
    pub subject: Untrusted,
    /// The expiry of the ID token.
    pub expires: SystemTime,
}

impl UserIdentity {
    /// The ID token, if it is still valid: from memory, the settings or the vault.
    pub(super) async fn valid_token(&self) -> Option<Arc<IdToken>> {
        if let Some(known) = self.cached_token() {
            return Some(known);
        }
        let given = match &self.0.settings.id_token {
            Some(given) => given.clone(),
            None => self.load_token().await?,
        };
        let token = self.check_token(given, None).ok()?;
        is_valid_long_enough(&token, SystemTime::now()).then(|| self.cache_token(token))
    }

    /// The ID token in memory, if it is still valid.
    pub(super) fn cached_token(&self) -> Option<Arc<IdToken>> {
        let known = self.0.token.lock().unwrap_or_else(PoisonError::into_inner).clone();
        known.filter(|known| is_valid_long_enough(known, SystemTime::now()))
    }

    /// The user that the provider has identified.
    pub async fn identified_user(&self) -> Option<IdentifiedUser> {
        let token = self.valid_token().await?;
        Some(IdentifiedUser { subject: Untrusted::new(token.subject()), expires: token.expires() })
    }

    /// Stores a new ID token, in memory and in the vault.
    pub(super) async fn store_token(&self, token: IdToken) -> Result<(), SignInError> {
        if let Some(vault) = &self.0.vault {
            let bytes = Secret::new(token.token().expose().clone().into_bytes());
            vault.write_entry(&self.vault_entry(IDENTITIES), bytes, ExpectedEntry::Any).await?;
        }
        self.cache_token(token);
        Ok(())
    }

    /// Removes the ID token. Tokens of servers stay until they are revoked.
    ///
    /// # Errors
    /// When the vault cannot be written.
    pub async fn forget_user(&self) -> Result<bool, SignInError> {
        *self.0.token.lock().unwrap_or_else(PoisonError::into_inner) = None;
        match &self.0.vault {
            Some(vault) => Ok(vault.remove_entry(&self.vault_entry(IDENTITIES), ExpectedEntry::Any).await?),
            None => Ok(false),
        }
    }

    /// Checks that a token comes from this provider, is for our client, and answers our request if there was
    /// one.
    pub(super) fn check_token(
        &self,
        token: Secret<String>,
        nonce: Option<&Secret<String>>,
    ) -> Result<IdToken, SignInError> {
        let (issuer, client) = (&self.0.settings.issuer, &self.0.settings.client_id);
        let token = IdToken::verify_claims(token, &Stated { issuer, client, nonce }, SystemTime::now());
        Ok(token.map_err(ExchangeError::IdToken)?)
    }

    fn cache_token(&self, token: IdToken) -> Arc<IdToken> {
        let token = Arc::new(token);
        *self.0.token.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&token));
        token
    }

    async fn load_token(&self) -> Option<Secret<String>> {
        let entry = self.0.vault.as_ref()?.read_entry(&self.vault_entry(IDENTITIES)).await.ok()??;
        String::from_utf8(entry.value.expose().clone()).ok().map(Secret::new)
    }

    /// Our client at the provider.
    pub(super) async fn provider_client(
        &self,
        provider: &AuthServerMetadata,
    ) -> Result<OAuthClient, SignInError> {
        let secret = match (&self.0.settings.client_secret, &self.0.vault) {
            (Some(secret), _) => Some(secret.clone()),
            (None, Some(vault)) => vault
                .read_entry(&self.vault_entry(SECRETS))
                .await?
                .and_then(|entry| String::from_utf8(entry.value.expose().clone()).ok().map(Secret::new)),
            (None, None) => None,
        };
        let held = HeldCredentials { secret: secret.is_some(), key: false };
        Ok(OAuthClient {
            id: self.0.settings.client_id.clone(),
            proof: choose_auth_method(provider.proofs.as_deref(), held, None),
            secret,
            redirect: None,
            origin: ClientIdOrigin::Configured,
            scopes: Vec::new(),
        })
    }

    /// Stores the secret of our client at the provider in the vault, so that it is in no configuration file.
    ///
    /// # Errors
    /// When there is no vault, or it cannot be written.
    pub async fn store_client_secret(&self, secret: Secret<String>) -> Result<(), SignInError> {
        let vault = self.0.vault.as_ref().ok_or(SignInError::NoVault)?;
        let bytes = Secret::new(secret.expose().clone().into_bytes());
        vault.write_entry(&self.vault_entry(SECRETS), bytes, ExpectedEntry::Any).await?;
        Ok(())
    }

    /// Removes the secret of our client at the provider; returns whether there was one.
    ///
    /// # Errors
    /// When the vault cannot be written.
    pub async fn remove_client_secret(&self) -> Result<bool, SignInError> {
        let (Some(vault), entry) = (&self.0.vault, self.vault_entry(SECRETS)) else { return Ok(false) };
        // Without a secret the vault is not written, and no file is created.
        let is_there = vault.read_entry(&entry).await?.is_some();
        Ok(is_there && vault.remove_entry(&entry, ExpectedEntry::Any).await?)
    }

    fn vault_entry(&self, kind: &'static str) -> EntryId {
        let mut hash = Sha256::new();
        for part in [&self.0.settings.issuer, &self.0.settings.client_id] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        EntryId::new(kind, Hex(&hash.finalize()))
    }
}

/// Whether a token is valid long enough to be used.
fn is_valid_long_enough(token: &IdToken, now: SystemTime) -> bool {
    now.checked_add(RENEWAL_AHEAD).is_some_and(|then| then < token.expires())
}
