//! The keyring the Linux kernel keeps for a user, until a restart or three days without use.
//!
//! The key goes straight into the user's persistent keyring, held through a keyring of the asking thread. The
//! session's keyring would not do: where nobody logged in, as in containers and services, there is none.

use linux_keyutils::{KeyError, KeyRing, KeyRingIdentifier};
use mcparley_model::text::Untrusted;
use zeroize::Zeroizing;

use super::Keychain;
use crate::vault::cipher::{DataKey, KeyId};
use crate::vault::keeper::{Place, Why};

/// The persistent keyring of this user.
#[derive(Debug)]
pub(in crate::vault) struct KernelKeyring;

impl KernelKeyring {
    /// Asking for it puts off its end.
    fn ring() -> Result<KeyRing, Why> {
        match KeyRing::get_persistent(KeyRingIdentifier::Thread) {
            Ok(ring) => Ok(ring),
            Err(KeyError::OperationNotSupported) => Err(Why::NotLasting),
            Err(error) => Err(said(error)),
        }
    }
}

impl Keychain for KernelKeyring {
    fn place(&self) -> Place {
        Place::KernelKeyring
    }

    fn find(&self, id: &KeyId) -> Result<Option<DataKey>, Why> {
        let found = Self::ring()?.search(&name(id));
        match found.and_then(|key| key.read_to_vec()).map(Zeroizing::new) {
            Ok(bytes) => Ok(DataKey::from_bytes(&bytes)),
            Err(KeyError::KeyDoesNotExist | KeyError::KeyExpired | KeyError::KeyRevoked) => Ok(None),
            Err(error) => Err(said(error)),
        }
    }

    fn keep(&self, fresh: &DataKey) -> Result<DataKey, Why> {
        Self::ring()?.add_key(&name(&fresh.id()), fresh.expose()).map_err(said)?;
        self.find(&fresh.id())?.filter(|kept| kept.id() == fresh.id()).ok_or(Why::NotKept)
    }
}

fn name(id: &KeyId) -> String {
    format!("mcparley-vault:{id}")
}

fn said(error: KeyError) -> Why {
    Why::Said(Untrusted::new(error.to_string()))
}

#[cfg(test)]
mod tests;
