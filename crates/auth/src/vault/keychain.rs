//! Places that keep a data key, and the patience we have with them.

#[cfg(all(feature = "keyring", target_os = "linux"))]
mod bus;
mod environment;
mod file;
#[cfg(all(feature = "keyring", target_os = "linux"))]
mod kernel_keyring;
#[cfg(any(test, all(feature = "keyring", target_os = "macos")))]
mod native;
#[cfg(all(feature = "keyring", target_os = "linux"))]
mod secret_service;

use environment::Environment;
use file::KeyFile;
#[cfg(all(feature = "keyring", target_os = "linux"))]
use kernel_keyring::KernelKeyring;
#[cfg(all(feature = "keyring", target_os = "macos"))]
use native::Native;
#[cfg(all(feature = "keyring", target_os = "linux"))]
use secret_service::SecretService;

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use mcparley_model::text::Untrusted;

use super::cipher::{DataKey, KeyId};
use super::keeper::{Place, Why};
use super::{Storage, VaultSettings};

/// A place that keeps data keys under their ids. Its calls may block for as long as they like.
pub(super) trait Keychain: Send + Sync {
    /// Which place it is.
    fn place(&self) -> Place;

    /// The key, or `None` if the place is sure that it does not have it.
    fn find(&self, id: &KeyId) -> Result<Option<DataKey>, Why>;

    /// Keeps `fresh`, or gives the key it has already and cannot change.
    fn keep(&self, fresh: &DataKey) -> Result<DataKey, Why>;
}

/// Asks on a thread of its own and waits for at most `limit`.
///
/// The thread of a keychain that never answers cannot be stopped. It holds nothing but the question, and
/// [`super::keys::Keys`] never asks that keychain again.
pub(super) fn ask<T: Send + 'static>(
    keychain: &Arc<dyn Keychain>,
    limit: Duration,
    question: impl FnOnce(&dyn Keychain) -> Result<T, Why> + Send + 'static,
) -> Result<T, Why> {
    let (answer, answered) = sync_channel(1);
    let asked = Arc::clone(keychain);
    let thread = std::thread::Builder::new().name("keychain".to_owned()).spawn(move || {
        // Nobody waits any longer: then the answer does not matter.
        answer.send(question(asked.as_ref())).unwrap_or_default();
    });
    thread.map_err(|error| Why::Said(Untrusted::new(error.to_string())))?;
    match answered.recv_timeout(limit) {
        Ok(answer) => answer,
        // A keychain that panics has not answered either.
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Err(Why::NoAnswer { limit }),
    }
}

/// The places `settings` allow on this system, the best first.
pub(super) fn all(settings: &VaultSettings) -> Vec<Arc<dyn Keychain>> {
    let file = || Arc::new(KeyFile(settings.folder.join("key"))) as Arc<dyn Keychain>;
    match &settings.storage {
        Storage::Automatic => system(settings).into_iter().chain([file()]).collect(),
        Storage::Keyring => system(settings),
        Storage::File => vec![file()],
        Storage::Environment(key) => vec![Arc::new(Environment(key.clone()))],
    }
}

/// The keychains of the system itself.
#[cfg(all(feature = "keyring", target_os = "linux"))]
fn system(settings: &VaultSettings) -> Vec<Arc<dyn Keychain>> {
    let desktop = SecretService::new(settings.session_bus.clone(), settings.keychain_time);
    vec![Arc::new(desktop), Arc::new(KernelKeyring)]
}

/// The keychains of the system itself.
#[cfg(all(feature = "keyring", target_os = "macos"))]
fn system(_settings: &VaultSettings) -> Vec<Arc<dyn Keychain>> {
    vec![Arc::new(Native::mac_keychain())]
}

/// None that we know, or none that was asked for.
#[cfg(not(all(feature = "keyring", any(target_os = "linux", target_os = "macos"))))]
fn system(_settings: &VaultSettings) -> Vec<Arc<dyn Keychain>> {
    Vec::new()
}
