//! Keeps every secret of sign-in: bytes under a name, sealed in one file, safe from other processes.
//!
//! It knows nothing of OAuth. What it promises: an entry is written whole or not at all, also when its caller
//! is cancelled; nobody overwrites what they have not seen; of all processes one holds an entry's lock; and
//! nothing that can go wrong with a keychain or a file stops the program: it means signing in again.
//!
//! | part | what it owns |
//! |---|---|
//! | `book` | the lines of the file |
//! | `cipher` | sealing and opening |
//! | `keys`, `keychain` | where the data key is, and how long we wait for it |
//! | `keeper` | what is told about that |
//! | `store` | what each question does on the disk |

mod book;
mod cipher;
mod error;
mod id;
mod keeper;
mod keychain;
mod keys;
mod store;
#[cfg(test)]
mod tests;

pub use error::VaultError;
pub use id::EntryId;
pub use keeper::{Keeper, Notice, Place, Refusal, Why};

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcparley_model::limits;
use mcparley_model::secret::Secret;
use mcparley_platform::file::Lock;

use keeper::Notices;
use keychain::Keychain;
use keys::Keys;
use store::Store;

/// The vault of one profile. Clones are the same vault.
#[derive(Clone, Debug)]
pub struct Vault {
    store: Arc<Store>,
}

/// Where a vault is and who may keep its key.
#[derive(Clone, Debug)]
pub struct VaultSettings {
    /// The folder of its files; made when something is written, for the owner alone.
    pub folder: PathBuf,
    /// Who may keep its key.
    pub storage: Storage,
    /// The address of the session bus (`DBUS_SESSION_BUS_ADDRESS`). Without it the Secret Service is not tried.
    pub session_bus: Option<String>,
    /// How long a keychain may take to answer; [`limits::KEYCHAIN_TIME`] unless changed.
    pub keychain_time: Duration,
}

/// Who may keep the key of the vault.
#[derive(Clone, Debug, Default)]
pub enum Storage {
    /// The system's keychain; failing that the file `key` beside the vault.
    #[default]
    Automatic,
    /// The system's keychain and nothing else.
    Keyring,
    /// The file `key` beside the vault, without asking a keychain.
    File,
    /// Nobody: the key is this value, 32 bytes in base64.
    Environment(Secret<String>),
}

/// One secret and how often the vault had been changed when it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Never given twice, so that what was removed and written again is not mistaken for what it was.
    pub generation: u64,
    /// The secret.
    pub value: Secret<Vec<u8>>,
}

/// What the caller believes about an entry it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// It does not matter.
    Anything,
    /// There is no entry, or none that can be opened.
    Nothing,
    /// The entry is still of this generation.
    Generation(u64),
}

/// Keeps every other process and task from the entry while it lives. The system frees it when its holder dies.
#[derive(Debug)]
pub struct EntryLock {
    _held: Lock,
}

impl VaultSettings {
    /// A vault in `folder`, its key wherever there is a place.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            storage: Storage::Automatic,
            session_bus: None,
            keychain_time: limits::KEYCHAIN_TIME,
        }
    }
}

impl Vault {
    /// The vault these settings describe. Touches neither a file nor a keychain yet.
    pub fn new(settings: VaultSettings) -> Self {
        let keychains = keychain::all(&settings);
        Self::with_keychains(settings, keychains)
    }

    /// The entry. One that nobody can open any longer, because its key is gone, is none.
    ///
    /// # Errors
    /// [`VaultError::Damaged`] for an entry that does not open with its key; or the file must not be read.
    pub async fn read(&self, id: &EntryId) -> Result<Option<Entry>, VaultError> {
        let id = id.clone();
        self.run(move |store| store.read(&id)).await
    }

    /// Writes the entry and returns its new generation. Once begun it is finished, even if nobody waits.
    ///
    /// # Errors
    /// [`VaultError::Changed`] if what is `expected` does not hold; or there is no place for the key or the file.
    pub async fn write(
        &self,
        id: &EntryId,
        value: Secret<Vec<u8>>,
        expected: Expected,
    ) -> Result<u64, VaultError> {
        let id = id.clone();
        self.run(move |store| store.write(&id, value, expected)).await
    }

    /// Removes the entry; whether there was one. Once begun it is finished.
    ///
    /// # Errors
    /// As for [`Self::write`].
    pub async fn remove(&self, id: &EntryId, expected: Expected) -> Result<bool, VaultError> {
        let id = id.clone();
        self.run(move |store| store.remove(&id, expected)).await
    }

    /// Every entry of a kind that can be opened; what is told of the others is a [`Notice`].
    ///
    /// # Errors
    /// If the file must not be read.
    pub async fn list(&self, kind: &str) -> Result<Vec<(EntryId, Entry)>, VaultError> {
        let kind = kind.to_owned();
        self.run(move |store| store.list(&kind)).await
    }

    /// Waits until nobody else holds the entry, for at most `limit`.
    ///
    /// Other processes and other tasks of this one are all alike. Cancelling the wait leaves nothing behind.
    ///
    /// # Errors
    /// [`VaultError::Busy`] when others held it all the time; or there is no place for the lock's file.
    pub async fn lock(&self, id: &EntryId, limit: Duration) -> Result<EntryLock, VaultError> {
        // By the real clock: it is other processes that are waited for.
        let deadline = Instant::now() + limit;
        let id = id.clone();
        let mut wanted = self.run(move |store| store.lock_file(&id)).await?;
        loop {
            if let Some(held) = wanted.try_take()? {
                return Ok(EntryLock { _held: held });
            }
            if Instant::now() >= deadline {
                return Err(VaultError::Busy { after: limit });
            }
            tokio::time::sleep(wanted.pause()).await;
        }
    }

    /// Where the key for new entries is, or would be made.
    ///
    /// # Errors
    /// [`VaultError::NoKeeper`] when there is no place for it.
    pub async fn keeper(&self) -> Result<Keeper, VaultError> {
        self.run(Store::keeper).await
    }

    /// What a person should know and has not been told: each thing once.
    pub fn take_notices(&self) -> Vec<Notice> {
        self.store.notices.take()
    }

    fn with_keychains(settings: VaultSettings, keychains: Vec<Arc<dyn Keychain>>) -> Self {
        let notices = Arc::new(Notices::default());
        let keys = Keys::new(keychains, settings.keychain_time, Arc::clone(&notices));
        Self { store: Arc::new(Store { folder: settings.folder, keys, notices }) }
    }

    /// On a thread that may block, which a cancelled caller does not stop.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, VaultError> + Send + 'static,
    ) -> Result<T, VaultError> {
        let store = Arc::clone(&self.store);
        let done = mcparley_wire::run_blocking(move || work(&store)).await;
        done.unwrap_or(Err(VaultError::Stopped))
    }
}
