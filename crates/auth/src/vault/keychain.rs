//! Places that store a data key, and the timeout for them.

#[cfg(feature = "keyring")]
mod bus;
mod environment;
mod file;
#[cfg(feature = "keyring")]
mod kernel_keyring;
#[cfg(feature = "keyring")]
mod secret_service;

use environment::EnvironmentKey;
use file::KeyFile;
#[cfg(feature = "keyring")]
use kernel_keyring::KernelKeyring;
#[cfg(feature = "keyring")]
use secret_service::SecretService;

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use mcparley_model::text::Untrusted;

use super::cipher::{DataKey, KeyId};
use super::key_location::{KeyPlace, KeyPlaceError};
use super::{KeyStorage, VaultSettings};

/// A place that stores data keys by their ids. Its calls may block without limit.
pub(super) trait Keychain: Send + Sync {
    /// The place.
    fn place(&self) -> KeyPlace;

    /// Fetches the key, or returns `None` if the place is sure that it does not have it.
    fn find_key(&self, id: &KeyId) -> Result<Option<DataKey>, KeyPlaceError>;

    /// Stores `fresh`, or returns the key it already has and cannot replace.
    fn store_key(&self, fresh: &DataKey) -> Result<DataKey, KeyPlaceError>;
}

/// Asks a keychain on a thread of its own, with a timeout.
///
/// The thread of a keychain that never responds cannot be stopped. It holds only the question, and
/// [`super::keys::VaultKeys`] never asks that keychain again.
pub(super) fn ask_with_timeout<T: Send + 'static>(
    keychain: &Arc<dyn Keychain>,
    limit: Duration,
    question: impl FnOnce(&dyn Keychain) -> Result<T, KeyPlaceError> + Send + 'static,
) -> Result<T, KeyPlaceError> {
    let (answer, answered) = sync_channel(1);
    let asked = Arc::clone(keychain);
    let thread = std::thread::Builder::new().name("keychain".to_owned()).spawn(move || {
        // After the timeout the answer does not matter.
        answer.send(question(asked.as_ref())).unwrap_or_default();
    });
    thread.map_err(|error| KeyPlaceError::Reported(Untrusted::new(error.to_string())))?;
    match answered.recv_timeout(limit) {
        Ok(answer) => answer,
        // A keychain that panics has not responded either.
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            Err(KeyPlaceError::NoAnswer { limit })
        }
    }
}

/// The places that `settings` allow on this system, the best first.
pub(super) fn available_keychains(settings: &VaultSettings) -> Vec<Arc<dyn Keychain>> {
    let file = || Arc::new(KeyFile(settings.folder.join("key"))) as Arc<dyn Keychain>;
    match &settings.storage {
        KeyStorage::Automatic => system(settings).into_iter().chain([file()]).collect(),
        KeyStorage::Keyring => system(settings),
        KeyStorage::File => vec![file()],
        KeyStorage::Environment(key) => vec![Arc::new(EnvironmentKey(key.clone()))],
    }
}

/// The keychains of the system itself.
#[cfg(feature = "keyring")]
fn system(settings: &VaultSettings) -> Vec<Arc<dyn Keychain>> {
    let desktop = SecretService::new(settings.session_bus.clone(), settings.keychain_time);
    vec![Arc::new(desktop), Arc::new(KernelKeyring)]
}

/// No keychains: the feature `keyring` is off.
#[cfg(not(feature = "keyring"))]
fn system(_settings: &VaultSettings) -> Vec<Arc<dyn Keychain>> {
    Vec::new()
}
