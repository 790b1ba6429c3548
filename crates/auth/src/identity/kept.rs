//! What the identity provider said, as long as it holds: in memory, and in the vault for the processes that follow.

use std::sync::{Arc, PoisonError};
use std::time::SystemTime;

use mcparley_model::hex::Hex;
use mcparley_model::limits::RENEWAL_AHEAD;
use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;
use sha2::{Digest as _, Sha256};

use super::Identity;
use crate::client::{Client, Origin};
use crate::error::SignInError;
use crate::exchange::{ExchangeError, Expected as Stated, IdToken};
use crate::grant::{Held, choose};
use crate::metadata::Server;
use crate::vault::{EntryId, Expected};

/// The kind of entry that identities are kept under.
const IDENTITIES: &str = "identity";

/// The kind of entry that the secrets of providers' clients are kept under.
const SECRETS: &str = "identity-secret";

/// How the identity provider knows the person, for people.
#[derive(Clone, Debug)]
pub struct Person {
    /// The name the provider has for the person.
    pub subject: Untrusted,
    /// Until when it holds.
    pub expires: SystemTime,
}

impl Identity {
    /// What the provider said, if it still holds.
    pub(super) async fn token(&self) -> Option<Arc<IdToken>> {
        if let Some(known) = self.remembered() {
            return Some(known);
        }
        let given = match &self.0.settings.id_token {
            Some(given) => given.clone(),
            None => self.stored().await?,
        };
        let token = self.believed(given, None).ok()?;
        is_good(&token, SystemTime::now()).then(|| self.remember(token))
    }

    /// The same as far as this process knows it.
    pub(super) fn remembered(&self) -> Option<Arc<IdToken>> {
        let known = self.0.token.lock().unwrap_or_else(PoisonError::into_inner).clone();
        known.filter(|known| is_good(known, SystemTime::now()))
    }

    /// Who the person is.
    pub async fn person(&self) -> Option<Person> {
        let token = self.token().await?;
        Some(Person { subject: Untrusted::new(token.subject()), expires: token.expires() })
    }

    /// Keeps what the provider has said now.
    pub(super) async fn keep(&self, token: IdToken) -> Result<(), SignInError> {
        if let Some(vault) = &self.0.vault {
            let bytes = Secret::new(token.token().expose().clone().into_bytes());
            vault.write(&self.entry(IDENTITIES), bytes, Expected::Anything).await?;
        }
        self.remember(token);
        Ok(())
    }

    /// Forgets the person. What servers have given stays until it is given back.
    ///
    /// # Errors
    /// When the vault cannot be written.
    pub async fn forget(&self) -> Result<bool, SignInError> {
        *self.0.token.lock().unwrap_or_else(PoisonError::into_inner) = None;
        match &self.0.vault {
            Some(vault) => Ok(vault.remove(&self.entry(IDENTITIES), Expected::Anything).await?),
            None => Ok(false),
        }
    }

    /// Checks that it is from this provider, for us, and the answer to our question if we asked one.
    pub(super) fn believed(
        &self,
        token: Secret<String>,
        nonce: Option<&Secret<String>>,
    ) -> Result<IdToken, SignInError> {
        let (issuer, client) = (&self.0.settings.issuer, &self.0.settings.client_id);
        let token = IdToken::checked(token, &Stated { issuer, client, nonce }, SystemTime::now());
        Ok(token.map_err(ExchangeError::IdToken)?)
    }

    fn remember(&self, token: IdToken) -> Arc<IdToken> {
        let token = Arc::new(token);
        *self.0.token.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&token));
        token
    }

    async fn stored(&self) -> Option<Secret<String>> {
        let entry = self.0.vault.as_ref()?.read(&self.entry(IDENTITIES)).await.ok()??;
        String::from_utf8(entry.value.expose().clone()).ok().map(Secret::new)
    }

    /// Who we are to the provider.
    pub(super) async fn client(&self, provider: &Server) -> Result<Client, SignInError> {
        let secret = match (&self.0.settings.client_secret, &self.0.vault) {
            (Some(secret), _) => Some(secret.clone()),
            (None, Some(vault)) => vault
                .read(&self.entry(SECRETS))
                .await?
                .and_then(|entry| String::from_utf8(entry.value.expose().clone()).ok().map(Secret::new)),
            (None, None) => None,
        };
        let held = Held { secret: secret.is_some(), key: false };
        Ok(Client {
            id: self.0.settings.client_id.clone(),
            proof: choose(provider.proofs.as_deref(), held, None),
            secret,
            redirect: None,
            origin: Origin::Configured,
            scopes: Vec::new(),
        })
    }

    /// Keeps the secret of our client at the provider in the vault, so that it stands in no file.
    ///
    /// # Errors
    /// When there is no vault, or it cannot be written.
    pub async fn keep_client_secret(&self, secret: Secret<String>) -> Result<(), SignInError> {
        let vault = self.0.vault.as_ref().ok_or(SignInError::NoVault)?;
        let bytes = Secret::new(secret.expose().clone().into_bytes());
        vault.write(&self.entry(SECRETS), bytes, Expected::Anything).await?;
        Ok(())
    }

    /// Forgets the secret of our client at the provider; whether there was one.
    ///
    /// # Errors
    /// When the vault cannot be written.
    pub async fn forget_client_secret(&self) -> Result<bool, SignInError> {
        let (Some(vault), entry) = (&self.0.vault, self.entry(SECRETS)) else { return Ok(false) };
        // Where there is none, no file is made to say so.
        let is_there = vault.read(&entry).await?.is_some();
        Ok(is_there && vault.remove(&entry, Expected::Anything).await?)
    }

    fn entry(&self, kind: &'static str) -> EntryId {
        let mut hash = Sha256::new();
        for part in [&self.0.settings.issuer, &self.0.settings.client_id] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        EntryId::new(kind, Hex(&hash.finalize()))
    }
}

/// Whether it holds long enough to be of use.
fn is_good(token: &IdToken, now: SystemTime) -> bool {
    now.checked_add(RENEWAL_AHEAD).is_some_and(|then| then < token.expires())
}
