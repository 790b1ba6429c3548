//! What is remembered of a sign-in: a copy in memory that every request reads, and the vault behind it.

use std::sync::{Arc, OnceLock, PoisonError};
use std::time::SystemTime;

use mcparley_model::limits::RENEWAL_PAUSE;
use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;
use tokio::time::Instant;

use super::{Account, Inner};
use crate::challenge::Asked;
use crate::client::{Client, Origin};
use crate::dpop::Prover;
use crate::record::Record;
use crate::tokens::Tokens;
use crate::vault::{Entry, Expected, VaultError};

/// The copy in memory.
#[derive(Default)]
pub(super) struct Memory {
    kept: Option<Arc<StoredSignIn>>,
    /// Whether the vault has been looked at.
    is_read: bool,
    /// Counts the changes, so that a slow look at the vault does not bring back what was there before one of them.
    turn: u64,
    /// What the server asked for when it refused last.
    asked: Option<Asked>,
    /// The id of a client that registered and is not known any more.
    disowned: Option<String>,
    /// A token whose renewal has failed, and when it is tried again.
    put_off: Option<(Secret<String>, Instant)>,
}

impl Memory {
    fn set(&mut self, kept: Option<Arc<StoredSignIn>>) {
        self.is_read = true;
        self.turn += 1;
        self.kept = kept;
    }

    /// Takes over what the vault said to who asked it at this `turn`, unless it has changed since; says whether it holds.
    fn learn(&mut self, kept: Option<StoredSignIn>, turn: u64) -> bool {
        if self.turn != turn {
            return false;
        }
        self.is_read = true;
        let generation = |kept: &StoredSignIn| kept.generation;
        if self.kept.as_deref().map(generation) != kept.as_ref().map(generation) {
            self.set(kept.map(Arc::new));
        }
        true
    }
}

/// A record, and which of its versions it is.
pub(super) struct StoredSignIn {
    pub(super) record: Record,
    pub(super) generation: u64,
    /// Whether it could not be written down, so that the vault still has what was there before.
    is_unsaved: bool,
    /// Whether it was read from the vault, so that nobody here knows since when it is there.
    pub(super) is_learnt: bool,
    prover: OnceLock<Option<Prover>>,
}

impl StoredSignIn {
    pub(super) fn new(record: Record, generation: u64) -> Self {
        Self { record, generation, is_unsaved: false, is_learnt: false, prover: OnceLock::new() }
    }

    /// The key that its tokens are bound to.
    pub(super) fn prover(&self) -> Option<&Prover> {
        let read = || self.record.key.as_ref().and_then(|key| Prover::from_pkcs8(key).ok());
        self.prover.get_or_init(read).as_ref()
    }

    /// Whether it lets us in, now or after a renewal.
    pub(super) fn is_of_use(&self, now: SystemTime) -> bool {
        let is_usable = |tokens: &Tokens| tokens.refresh.is_some() || !tokens.is_over(now);
        self.record.tokens.as_ref().is_some_and(is_usable)
    }
}

/// How a sign-in stands, for people.
#[derive(Clone, Debug)]
pub enum SignInStanding {
    /// Nobody has signed in.
    SignedOut,
    /// Somebody has.
    SignedIn {
        /// Who let us in.
        issuer: Untrusted,
        /// The origin that gives the tokens, if it is not the issuer's own.
        token_origin: Option<Untrusted>,
        /// The id we have there.
        client: Untrusted,
        /// Where that id comes from.
        origin: Origin,
        /// When the token ends.
        expires: Option<SystemTime>,
        /// Whether it can be renewed without a person.
        renews: bool,
        /// What it is good for.
        scopes: Vec<Untrusted>,
        /// What the server has asked for besides.
        wanted: Vec<Untrusted>,
    },
    /// Somebody has, but what was given is over and cannot be renewed.
    Over,
}

impl Inner {
    fn memory<T>(&self, look: impl FnOnce(&mut Memory) -> T) -> T {
        look(&mut self.memory.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Account {
    /// What is known in this process; the vault is asked the first time only.
    pub(super) async fn kept(&self) -> Option<Arc<StoredSignIn>> {
        let (is_read, kept) = self.0.memory(|memory| (memory.is_read, memory.kept.clone()));
        // A vault that cannot be read means that nobody is signed in; a sign-in says why it cannot be.
        if is_read { kept } else { self.read().await.unwrap_or_default() }
    }

    /// What is known in this process, if the vault has been asked.
    pub(super) fn remembered(&self) -> Option<Arc<StoredSignIn>> {
        self.0.memory(|memory| memory.kept.clone())
    }

    /// What the vault says now.
    pub(super) async fn read(&self) -> Result<Option<Arc<StoredSignIn>>, VaultError> {
        let Some(vault) = &self.0.vault else { return Ok(self.remembered()) };
        loop {
            let turn = self.0.memory(|memory| memory.turn);
            // A record that cannot be read is as good as none: the next sign-in replaces it.
            let entry = match vault.read(&self.0.slot.record()).await {
                Err(VaultError::Damaged { .. }) => None,
                read => read?,
            };
            let record = |entry: Entry| {
                Some(StoredSignIn {
                    is_learnt: true,
                    ..StoredSignIn::new(Record::from_bytes(&entry.value).ok()?, entry.generation)
                })
            };
            if self.0.memory(|memory| memory.learn(entry.and_then(record), turn)) {
                return Ok(self.remembered());
            }
        }
    }

    /// The version of what the vault says; 0 when it says nothing.
    pub(super) async fn generation(&self) -> u64 {
        self.read().await.ok().flatten().map_or(0, |kept| kept.generation)
    }

    /// Writes a record down, unless another process has written since `expected`.
    pub(super) async fn write(
        &self,
        record: Record,
        expected: Expected,
    ) -> Result<Arc<StoredSignIn>, VaultError> {
        let generation = match &self.0.vault {
            Some(vault) => vault.write(&self.0.slot.record(), record.to_bytes(), expected).await?,
            None => self.0.memory(|memory| memory.kept.as_ref().map_or(0, |kept| kept.generation)) + 1,
        };
        let kept = Arc::new(StoredSignIn::new(record, generation));
        self.0.memory(|memory| memory.set(Some(Arc::clone(&kept))));
        Ok(kept)
    }

    /// Remembers what the vault does not take, in the place of what it holds; [`Account::save`] tries again.
    pub(super) fn hold(&self, record: Record, generation: u64) -> Arc<StoredSignIn> {
        let kept = Arc::new(StoredSignIn { is_unsaved: true, ..StoredSignIn::new(record, generation) });
        self.0.memory(|memory| memory.set(Some(Arc::clone(&kept))));
        kept
    }

    /// Writes down what could not be written before, if there is such a thing. What the vault still does not take stays
    /// in memory.
    pub(super) async fn save(&self) {
        let Some(kept) = self.remembered().filter(|kept| kept.is_unsaved) else { return };
        let Ok(_lock) = self.lock().await else { return };
        let expected = Expected::Generation(kept.generation);
        if let Err(VaultError::Changed { .. }) = self.write(kept.record.clone(), expected).await {
            // Somebody has signed in or out since, and has taken its place.
            let _unreadable = self.read().await;
        }
    }

    /// Forgets it, here and in the vault, if it is still what was read.
    pub(super) async fn forget(&self, kept: &StoredSignIn) -> Result<bool, VaultError> {
        let removed = match &self.0.vault {
            Some(vault) => vault.remove(&self.0.slot.record(), Expected::Generation(kept.generation)).await?,
            None => true,
        };
        if removed {
            self.0.memory(|memory| memory.set(None));
        }
        Ok(removed)
    }

    /// Takes down what the server asked for when it refused.
    pub(super) fn note(&self, asked: Asked) {
        self.0.memory(|memory| memory.asked = Some(asked));
    }

    pub(super) fn asked(&self) -> Option<Asked> {
        self.0.memory(|memory| memory.asked.clone())
    }

    /// Whether anything is remembered of it, if only who we are there.
    pub async fn is_known(&self) -> bool {
        self.read().await.is_ok_and(|kept| kept.is_some())
    }

    /// A token that still lasts could not be renewed: it is used, and the renewal tried again in a while.
    pub(super) fn put_off(&self, token: &Secret<String>) {
        let until = Instant::now() + RENEWAL_PAUSE;
        self.0.memory(|memory| memory.put_off = Some((token.clone(), until)));
    }

    pub(super) fn is_put_off(&self, token: &Secret<String>) -> bool {
        let is_now = |(of, until): &(Secret<String>, Instant)| of == token && Instant::now() < *until;
        self.0.memory(|memory| memory.put_off.as_ref().is_some_and(is_now))
    }

    pub(super) fn note_disowned(&self, client: &Client) {
        self.0.memory(|memory| memory.disowned = Some(client.id.clone()));
    }

    pub(super) fn is_disowned(&self, client: &Client) -> bool {
        self.0.memory(|memory| memory.disowned.as_ref() == Some(&client.id))
    }

    /// How it stands, as the vault has it now.
    ///
    /// # Errors
    /// When the vault cannot be read.
    pub async fn standing(&self) -> Result<SignInStanding, VaultError> {
        let Some(kept) = self.read().await? else { return Ok(SignInStanding::SignedOut) };
        let Some(tokens) = &kept.record.tokens else { return Ok(SignInStanding::SignedOut) };
        if !kept.is_of_use(SystemTime::now()) {
            return Ok(SignInStanding::Over);
        }
        let foreign = |scopes: &[String]| scopes.iter().map(Untrusted::new).collect();
        Ok(SignInStanding::SignedIn {
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
