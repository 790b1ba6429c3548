//! Stored sign-ins: a copy in memory that every request reads, and the vault behind it.

use std::sync::{Arc, OnceLock, PoisonError};
use std::time::SystemTime;

use mcparley_model::limits::RENEWAL_PAUSE;
use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;
use tokio::time::Instant;

use super::{Account, Inner};
use crate::challenge::TokenChallenge;
use crate::client::{ClientIdOrigin, OAuthClient};
use crate::dpop::Prover;
use crate::sign_in_record::SignInRecord;
use crate::tokens::Tokens;
use crate::vault::{ExpectedEntry, VaultEntry, VaultError};

/// The in-memory copy of a stored sign-in.
#[derive(Default)]
pub(super) struct SignInCache {
    sign_in: Option<Arc<StoredSignIn>>,
    /// Whether the vault has been read.
    is_loaded: bool,
    /// Counts the changes, so that a slow read of the vault does not bring back an earlier record.
    revision: u64,
    /// The challenge of the server's last refusal.
    last_challenge: Option<TokenChallenge>,
    /// The id of a registered client that the authorization server no longer knows.
    rejected_client: Option<String>,
    /// A token that could not be renewed, and the time of the next attempt.
    postponed_renewal: Option<(Secret<String>, Instant)>,
}

impl SignInCache {
    fn set_sign_in(&mut self, kept: Option<Arc<StoredSignIn>>) {
        self.is_loaded = true;
        self.revision += 1;
        self.sign_in = kept;
    }

    /// Adopts a record that was read at this `turn`, unless another has been set since; returns whether it
    /// was adopted.
    fn adopt_if_current(&mut self, kept: Option<StoredSignIn>, turn: u64) -> bool {
        if self.revision != turn {
            return false;
        }
        self.is_loaded = true;
        let generation = |kept: &StoredSignIn| kept.generation;
        if self.sign_in.as_deref().map(generation) != kept.as_ref().map(generation) {
            self.set_sign_in(kept.map(Arc::new));
        }
        true
    }
}

/// A record with its generation in the vault.
pub(super) struct StoredSignIn {
    pub(super) record: SignInRecord,
    pub(super) generation: u64,
    /// Whether it could not be written, so that the vault still holds the record before it.
    is_unsaved: bool,
    /// Whether it was read from the vault, so that its age is unknown.
    pub(super) is_from_vault: bool,
    prover: OnceLock<Option<Prover>>,
}

impl StoredSignIn {
    pub(super) fn new(record: SignInRecord, generation: u64) -> Self {
        Self { record, generation, is_unsaved: false, is_from_vault: false, prover: OnceLock::new() }
    }

    /// The key that its tokens are bound to.
    pub(super) fn prover(&self) -> Option<&Prover> {
        let read = || self.record.key.as_ref().and_then(|key| Prover::from_pkcs8(key).ok());
        self.prover.get_or_init(read).as_ref()
    }

    /// Whether its tokens can be used, now or after a renewal.
    pub(super) fn is_usable(&self, now: SystemTime) -> bool {
        let is_usable = |tokens: &Tokens| tokens.refresh.is_some() || !tokens.is_expired(now);
        self.record.tokens.as_ref().is_some_and(is_usable)
    }
}

/// The status of a sign-in, for display.
#[derive(Clone, Debug)]
pub enum SignInStatus {
    /// Not signed in.
    SignedOut,
    /// Signed in.
    SignedIn {
        /// The authorization server that let us in.
        issuer: Untrusted,
        /// The origin that gives the tokens, if it is not the issuer's own.
        token_origin: Option<Untrusted>,
        /// The client id used there.
        client: Untrusted,
        /// The origin of the client id.
        origin: ClientIdOrigin,
        /// The expiry of the access token.
        expires: Option<SystemTime>,
        /// Whether it can be renewed without the user.
        renews: bool,
        /// The scopes of the token.
        scopes: Vec<Untrusted>,
        /// More scopes that the server has asked for.
        wanted: Vec<Untrusted>,
    },
    /// Signed in before, but the tokens have expired and cannot be renewed.
    Expired,
}

impl Inner {
    fn with_cache<T>(&self, look: impl FnOnce(&mut SignInCache) -> T) -> T {
        look(&mut self.memory.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Account {
    /// The stored sign-in; the vault is read the first time only.
    pub(super) async fn load_stored(&self) -> Option<Arc<StoredSignIn>> {
        let (is_read, kept) = self.0.with_cache(|memory| (memory.is_loaded, memory.sign_in.clone()));
        // A vault that cannot be read counts as not signed in; the next sign-in reports the reason.
        if is_read { kept } else { self.read_sign_in().await.unwrap_or_default() }
    }

    /// The stored sign-in, if this process has read the vault before.
    pub(super) fn cached_sign_in(&self) -> Option<Arc<StoredSignIn>> {
        self.0.with_cache(|memory| memory.sign_in.clone())
    }

    /// Reads the stored sign-in from the vault.
    pub(super) async fn read_sign_in(&self) -> Result<Option<Arc<StoredSignIn>>, VaultError> {
        let Some(vault) = &self.0.vault else { return Ok(self.cached_sign_in()) };
        loop {
            let turn = self.0.with_cache(|memory| memory.revision);
            // A record that cannot be read counts as absent: the next sign-in replaces it.
            let entry = match vault.read_entry(&self.0.slot.record_entry()).await {
                Err(VaultError::Damaged { .. }) => None,
                read => read?,
            };
            let record = |entry: VaultEntry| {
                Some(StoredSignIn {
                    is_from_vault: true,
                    ..StoredSignIn::new(SignInRecord::from_bytes(&entry.value).ok()?, entry.generation)
                })
            };
            if self.0.with_cache(|memory| memory.adopt_if_current(entry.and_then(record), turn)) {
                return Ok(self.cached_sign_in());
            }
        }
    }

    /// The generation of the record in the vault; 0 without a record.
    pub(super) async fn stored_generation(&self) -> u64 {
        self.read_sign_in().await.ok().flatten().map_or(0, |kept| kept.generation)
    }

    /// Writes a record, unless another process has written since `expected`.
    pub(super) async fn write_record(
        &self,
        record: SignInRecord,
        expected: ExpectedEntry,
    ) -> Result<Arc<StoredSignIn>, VaultError> {
        let generation = match &self.0.vault {
            Some(vault) => {
                vault.write_entry(&self.0.slot.record_entry(), record.to_bytes(), expected).await?
            }
            None => self.0.with_cache(|memory| memory.sign_in.as_ref().map_or(0, |kept| kept.generation)) + 1,
        };
        let kept = Arc::new(StoredSignIn::new(record, generation));
        self.0.with_cache(|memory| memory.set_sign_in(Some(Arc::clone(&kept))));
        Ok(kept)
    }

    /// Holds a record in memory that the vault could not store; [`Account::save_unsaved`] tries again.
    pub(super) fn hold_unsaved(&self, record: SignInRecord, generation: u64) -> Arc<StoredSignIn> {
        let kept = Arc::new(StoredSignIn { is_unsaved: true, ..StoredSignIn::new(record, generation) });
        self.0.with_cache(|memory| memory.set_sign_in(Some(Arc::clone(&kept))));
        kept
    }

    /// Writes the record that could not be written before, if there is one. If the vault still cannot store
    /// it, it stays in memory.
    pub(super) async fn save_unsaved(&self) {
        let Some(kept) = self.cached_sign_in().filter(|kept| kept.is_unsaved) else { return };
        let Ok(_lock) = self.lock_record().await else { return };
        let expected = ExpectedEntry::Generation(kept.generation);
        if let Err(VaultError::Changed { .. }) = self.write_record(kept.record.clone(), expected).await {
            // Another process has signed in or out since, and its record wins.
            let _unreadable = self.read_sign_in().await;
        }
    }

    /// Removes a record, here and in the vault, if it is still the one that was read.
    pub(super) async fn remove_record(&self, kept: &StoredSignIn) -> Result<bool, VaultError> {
        let removed = match &self.0.vault {
            Some(vault) => {
                vault
                    .remove_entry(&self.0.slot.record_entry(), ExpectedEntry::Generation(kept.generation))
                    .await?
            }
            None => true,
        };
        if removed {
            self.0.with_cache(|memory| memory.set_sign_in(None));
        }
        Ok(removed)
    }

    /// Notes the challenge of a server that refused a request.
    pub(super) fn note_challenge(&self, asked: TokenChallenge) {
        self.0.with_cache(|memory| memory.last_challenge = Some(asked));
    }

    pub(super) fn last_challenge(&self) -> Option<TokenChallenge> {
        self.0.with_cache(|memory| memory.last_challenge.clone())
    }

    /// Whether a record is stored, even if it holds only our client.
    pub async fn has_record(&self) -> bool {
        self.read_sign_in().await.is_ok_and(|kept| kept.is_some())
    }

    /// Postpones the renewal of a token that is still valid but could not be renewed: it is used meanwhile.
    pub(super) fn postpone_renewal(&self, token: &Secret<String>) {
        let until = Instant::now() + RENEWAL_PAUSE;
        self.0.with_cache(|memory| memory.postponed_renewal = Some((token.clone(), until)));
    }

    pub(super) fn is_renewal_postponed(&self, token: &Secret<String>) -> bool {
        let is_now = |(of, until): &(Secret<String>, Instant)| of == token && Instant::now() < *until;
        self.0.with_cache(|memory| memory.postponed_renewal.as_ref().is_some_and(is_now))
    }

    pub(super) fn mark_client_rejected(&self, client: &OAuthClient) {
        self.0.with_cache(|memory| memory.rejected_client = Some(client.id.clone()));
    }

    pub(super) fn is_client_rejected(&self, client: &OAuthClient) -> bool {
        self.0.with_cache(|memory| memory.rejected_client.as_ref() == Some(&client.id))
    }

    /// The status of the sign-in, as the vault has it now.
    ///
    /// # Errors
    /// When the vault cannot be read.
    pub async fn sign_in_status(&self) -> Result<SignInStatus, VaultError> {
        let Some(kept) = self.read_sign_in().await? else { return Ok(SignInStatus::SignedOut) };
        let Some(tokens) = &kept.record.tokens else { return Ok(SignInStatus::SignedOut) };
        if !kept.is_usable(SystemTime::now()) {
            return Ok(SignInStatus::Expired);
        }
        let foreign = |scopes: &[String]| scopes.iter().map(Untrusted::new).collect();
        Ok(SignInStatus::SignedIn {
            issuer: Untrusted::new(&kept.record.issuer.issuer),
            token_origin: kept.record.issuer.foreign_token_origin().map(Untrusted::new),
            client: Untrusted::new(&kept.record.client.id),
            origin: kept.record.client.origin,
            expires: tokens.expires,
            renews: tokens.refresh.is_some(),
            scopes: foreign(&tokens.scopes),
            wanted: foreign(&kept.record.wanted),
        })
    }
}
