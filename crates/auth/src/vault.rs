//! The secret store: named entries, encrypted in one file, safe for concurrent processes.
//!
//! The vault does not depend on OAuth. Its guarantees: an entry is written atomically, even when its caller
//! is canceled; no caller overwrites a version it has not seen; one process at a time holds an entry's lock;
//! and a failing keychain or file never stops the program: the user signs in again.
//!
//! | module | responsibility |
//! |---|---|
//! | `file_format` | the lines of the file |
//! | `cipher` | encryption and decryption |
//! | `keys`, `keychain` | the places of the data key, and their timeouts |
//! | `key_location` | messages about those places |
//! | `store` | reads and changes of the files |

mod cipher;
mod entry_id;
mod error;
mod file_format;
mod key_location;
mod keychain;
mod keys;
mod store;
#[cfg(test)]
mod tests;

pub use entry_id::EntryId;
pub use error::VaultError;
pub use key_location::{KeyLocation, KeyPlace, KeyPlaceError, RefusedPlace, VaultNotice};

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcparley_model::limits;
use mcparley_model::secret::Secret;
use mcparley_platform::file::FileLock;

use key_location::VaultNotices;
use keychain::Keychain;
use keys::VaultKeys;
use store::VaultStore;

/// The vault of one profile. Clones share one vault.
#[derive(Clone, Debug)]
pub struct Vault {
    store: Arc<VaultStore>,
}

/// The folder of a vault, and the place of its key.
#[derive(Clone, Debug)]
pub struct VaultSettings {
    /// The folder of its files; created at the first write, readable only by the owner.
    pub folder: PathBuf,
    /// The place of its key.
    pub storage: KeyStorage,
    /// The address of the session bus (`DBUS_SESSION_BUS_ADDRESS`). Without it the Secret Service is skipped.
    pub session_bus: Option<String>,
    /// The timeout of a keychain; [`limits::KEYCHAIN_TIME`] unless changed.
    pub keychain_time: Duration,
}

/// The place of the vault's key.
#[derive(Clone, Debug, Default)]
pub enum KeyStorage {
    /// The system's keychain, or else the file `key` next to the vault.
    #[default]
    Automatic,
    /// The system's keychain only.
    Keyring,
    /// The file `key` next to the vault; no keychain is asked.
    File,
    /// No place: the key is this value, 32 bytes in base64.
    Environment(Secret<String>),
}

/// A secret with its generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultEntry {
    /// The generation: never used twice, so that an entry that was removed and written again is not mistaken
    /// for the old one.
    pub generation: u64,
    /// The secret.
    pub value: Secret<Vec<u8>>,
}

/// The state of an entry that a change expects (compare-and-swap).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedEntry {
    /// Any state.
    Any,
    /// No entry, or one that cannot be decrypted.
    Absent,
    /// The entry still has this generation.
    Generation(u64),
}

/// The advisory lock of an entry, against other processes and tasks. The system releases it when its holder
/// dies.
#[derive(Debug)]
pub struct EntryLock {
    _held: FileLock,
}

impl VaultSettings {
    /// Settings for a vault in `folder`, with its key in the best available place.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            storage: KeyStorage::Automatic,
            session_bus: None,
            keychain_time: limits::KEYCHAIN_TIME,
        }
    }
}

impl Vault {
    /// Creates the vault. Neither a file nor a keychain is accessed yet.
    pub fn new(settings: VaultSettings) -> Self {
        let keychains = keychain::available_keychains(&settings);
        Self::with_keychains(settings, keychains)
    }

    /// Reads an entry. An entry whose key is gone counts as absent.
    ///
    /// # Errors
    /// [`VaultError::Damaged`] for an entry that cannot be decrypted with its key; or the file must not be
    /// read.
    pub async fn read_entry(&self, id: &EntryId) -> Result<Option<VaultEntry>, VaultError> {
        let id = id.clone();
        self.run_on_store(move |store| store.read_entry(&id)).await
    }

    /// Writes an entry and returns its new generation. Once begun it is finished, even if the caller gives
    /// up.
    ///
    /// # Errors
    /// [`VaultError::Changed`] if the `expected` state does not hold; or the key or the file cannot be
    /// written.
    pub async fn write_entry(
        &self,
        id: &EntryId,
        value: Secret<Vec<u8>>,
        expected: ExpectedEntry,
    ) -> Result<u64, VaultError> {
        let id = id.clone();
        self.run_on_store(move |store| store.write_entry(&id, value, expected)).await
    }

    /// Removes an entry; returns whether there was one. Once begun it is finished, even if the caller gives
    /// up.
    ///
    /// # Errors
    /// As for [`Self::write_entry`].
    pub async fn remove_entry(&self, id: &EntryId, expected: ExpectedEntry) -> Result<bool, VaultError> {
        let id = id.clone();
        self.run_on_store(move |store| store.remove_entry(&id, expected)).await
    }

    /// Every entry of a kind that can be decrypted; the others are reported by a [`VaultNotice`].
    ///
    /// # Errors
    /// When the file must not be read.
    pub async fn list_entries(&self, kind: &str) -> Result<Vec<(EntryId, VaultEntry)>, VaultError> {
        let kind = kind.to_owned();
        self.run_on_store(move |store| store.list_entries(&kind)).await
    }

    /// Locks an entry (advisory lock), waiting for at most `limit`.
    ///
    /// The lock excludes other processes and other tasks alike. Canceling the wait leaves no lock behind.
    ///
    /// # Errors
    /// [`VaultError::Busy`] when others held it all the time; or the lock file cannot be created.
    pub async fn lock_entry(&self, id: &EntryId, limit: Duration) -> Result<EntryLock, VaultError> {
        // By the real clock: the wait is for other processes.
        let deadline = Instant::now() + limit;
        let id = id.clone();
        let mut wanted = self.run_on_store(move |store| store.lock_file(&id)).await?;
        loop {
            if let Some(held) = wanted.try_acquire()? {
                return Ok(EntryLock { _held: held });
            }
            if Instant::now() >= deadline {
                return Err(VaultError::Busy { after: limit });
            }
            tokio::time::sleep(wanted.next_backoff()).await;
        }
    }

    /// The place of the key for new entries, or the place where it would be created.
    ///
    /// # Errors
    /// [`VaultError::NoKeyPlace`] when there is no place for it.
    pub async fn key_location(&self) -> Result<KeyLocation, VaultError> {
        self.run_on_store(VaultStore::key_location).await
    }

    /// The notices for the user that were not taken yet; each is given once.
    pub fn take_notices(&self) -> Vec<VaultNotice> {
        self.store.notices.take_notices()
    }

    fn with_keychains(settings: VaultSettings, keychains: Vec<Arc<dyn Keychain>>) -> Self {
        let notices = Arc::new(VaultNotices::default());
        let keys = VaultKeys::new(keychains, settings.keychain_time, Arc::clone(&notices));
        Self { store: Arc::new(VaultStore { folder: settings.folder, keys, notices }) }
    }

    /// Runs on a blocking thread, which a canceled caller does not stop.
    async fn run_on_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&VaultStore) -> Result<T, VaultError> + Send + 'static,
    ) -> Result<T, VaultError> {
        let store = Arc::clone(&self.store);
        let done = mcparley_platform::thread::run_blocking(move || work(&store)).await;
        done.unwrap_or(Err(VaultError::Stopped))
    }
}
