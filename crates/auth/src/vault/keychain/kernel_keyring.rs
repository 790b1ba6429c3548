//! The persistent keyring of the Linux kernel, which lasts until a restart or three days without use.
//!
//! The key goes directly into the user's persistent keyring, held through a keyring of the calling thread.
//! The session keyring would not work: without a login, as in containers and services, there is none.

use linux_keyutils::{KeyError, KeyRing, KeyRingIdentifier};
use mcparley_model::text::Untrusted;
use zeroize::Zeroizing;

use super::Keychain;
use crate::vault::cipher::{DataKey, KeyId};
use crate::vault::key_location::{KeyPlace, KeyPlaceError};

/// The persistent keyring of this user.
#[derive(Debug)]
pub(in crate::vault) struct KernelKeyring;

impl KernelKeyring {
    /// Opens the persistent keyring, which also postpones its expiry.
    fn open_persistent() -> Result<KeyRing, KeyPlaceError> {
        match KeyRing::get_persistent(KeyRingIdentifier::Thread) {
            Ok(ring) => Ok(ring),
            Err(KeyError::OperationNotSupported) => Err(KeyPlaceError::NotPersistent),
            Err(error) => Err(keyring_error(error)),
        }
    }
}

impl Keychain for KernelKeyring {
    fn place(&self) -> KeyPlace {
        KeyPlace::KernelKeyring
    }

    fn find_key(&self, id: &KeyId) -> Result<Option<DataKey>, KeyPlaceError> {
        let found = Self::open_persistent()?.search(&key_name(id));
        match found.and_then(|key| key.read_to_vec()).map(Zeroizing::new) {
            Ok(bytes) => Ok(DataKey::from_bytes(&bytes)),
            Err(KeyError::KeyDoesNotExist | KeyError::KeyExpired | KeyError::KeyRevoked) => Ok(None),
            Err(error) => Err(keyring_error(error)),
        }
    }

    fn store_key(&self, fresh: &DataKey) -> Result<DataKey, KeyPlaceError> {
        Self::open_persistent()?.add_key(&key_name(&fresh.id()), fresh.expose()).map_err(keyring_error)?;
        self.find_key(&fresh.id())?.filter(|kept| kept.id() == fresh.id()).ok_or(KeyPlaceError::NotStored)
    }
}

fn key_name(id: &KeyId) -> String {
    format!("mcparley-vault:{id}")
}

fn keyring_error(error: KeyError) -> KeyPlaceError {
    KeyPlaceError::Reported(Untrusted::new(error.to_string()))
}

#[cfg(test)]
mod tests;
