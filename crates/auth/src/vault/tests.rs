//! The vault with keychains that work, refuse, forget and hang.
#![expect(clippy::disallowed_methods, reason = "tests look at files and damage them")]

mod damage;
mod entries;
mod keeping;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcparley_model::secret::Secret;

use super::cipher::{DataKey, KeyId};
use super::keychain::{Keychain, available_keychains};
use super::{
    EntryId, ExpectedEntry, KeyPlace, KeyPlaceError, KeyStorage, Vault, VaultEntry, VaultError, VaultSettings,
};

/// Long enough for a busy machine, short enough for a test that waits for it.
const PATIENCE: Duration = Duration::from_millis(200);

/// The behavior of a fake keychain.
#[derive(Clone, Copy, Debug)]
enum Manner {
    Works,
    /// Refuses every call.
    Refuses,
    /// Accepts every key and stores none.
    Forgets,
    /// Never answers.
    Hangs,
}

/// A keychain in memory.
#[derive(Debug)]
struct Fake {
    place: KeyPlace,
    manner: Mutex<Manner>,
    keys: Mutex<HashMap<KeyId, DataKey>>,
    asked: AtomicUsize,
}

impl Fake {
    fn new(place: KeyPlace, manner: Manner) -> Arc<Self> {
        let (manner, keys) = (Mutex::new(manner), Mutex::default());
        Arc::new(Self { place, manner, keys, asked: AtomicUsize::new(0) })
    }

    fn becomes(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    fn answer(&self) -> Result<(), KeyPlaceError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let manner = *self.manner.lock().unwrap();
        match manner {
            Manner::Works | Manner::Forgets => Ok(()),
            Manner::Refuses => Err(KeyPlaceError::Locked),
            Manner::Hangs => loop {
                std::thread::park();
            },
        }
    }
}

impl Keychain for Fake {
    fn place(&self) -> KeyPlace {
        self.place
    }

    fn find_key(&self, id: &KeyId) -> Result<Option<DataKey>, KeyPlaceError> {
        self.answer()?;
        Ok(self.keys.lock().unwrap().get(id).cloned())
    }

    fn store_key(&self, fresh: &DataKey) -> Result<DataKey, KeyPlaceError> {
        self.answer()?;
        if matches!(*self.manner.lock().unwrap(), Manner::Forgets) {
            return Err(KeyPlaceError::NotStored);
        }
        self.keys.lock().unwrap().insert(fresh.id(), fresh.clone());
        Ok(fresh.clone())
    }
}

/// A vault with its key in a file.
fn with_file(folder: &Path) -> Vault {
    Vault::new(VaultSettings { storage: KeyStorage::File, ..VaultSettings::new(folder) })
}

/// A vault with these keychains before the file.
fn with_fakes(folder: &Path, fakes: &[&Arc<Fake>]) -> Vault {
    let file = VaultSettings { storage: KeyStorage::File, ..VaultSettings::new(folder) };
    let fakes = fakes.iter().map(|&fake| Arc::clone(fake) as Arc<dyn Keychain>);
    let keychains = fakes.chain(available_keychains(&file)).collect();
    Vault::with_keychains(VaultSettings { keychain_time: PATIENCE, ..file }, keychains)
}

fn server(digest: &str) -> EntryId {
    EntryId::new("server", digest)
}

fn secret(text: &str) -> Secret<Vec<u8>> {
    Secret::new(text.as_bytes().to_owned())
}

async fn put(vault: &Vault, id: &EntryId, text: &str) -> u64 {
    vault.write_entry(id, secret(text), ExpectedEntry::Any).await.unwrap()
}

async fn text(vault: &Vault, id: &EntryId) -> Option<String> {
    let entry = vault.read_entry(id).await.unwrap();
    entry.map(|entry| String::from_utf8(entry.value.into_exposed()).unwrap())
}

fn notices(vault: &Vault) -> Vec<String> {
    vault.take_notices().iter().map(ToString::to_string).collect()
}

/// The vault's file.
fn file(folder: &Path) -> PathBuf {
    folder.join("vault")
}
