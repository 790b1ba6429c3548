//! A keychain that `keyring-core` has a store for: that of macOS, and one in memory for tests.

use std::fmt;
use std::sync::Arc;

use keyring_core::{CredentialStore, Entry, Error, Result as KeyringResult};
use mcparley_model::text::Untrusted;
use zeroize::Zeroizing;

use super::Keychain;
use crate::vault::cipher::{DataKey, KeyId};
use crate::vault::keeper::{Place, Why};

/// Under which name our keys stand among those of other programs.
const SERVICE: &str = "mcparley vault";

/// A keychain of the system.
pub(in crate::vault) struct Native {
    place: Place,
    store: fn() -> KeyringResult<Arc<CredentialStore>>,
}

impl Native {
    /// The login keychain.
    #[cfg(target_os = "macos")]
    pub(in crate::vault) fn mac_keychain() -> Self {
        use apple_native_keyring_store::keychain::Store;
        Self { place: Place::Keychain, store: || Ok(Store::new()?) }
    }

    fn entry(&self, id: &KeyId) -> Result<Entry, Why> {
        let store = (self.store)().map_err(|error| said(&error))?;
        store.build(SERVICE, id.as_str(), None).map_err(|error| said(&error))
    }
}

impl Keychain for Native {
    fn place(&self) -> Place {
        self.place
    }

    fn find(&self, id: &KeyId) -> Result<Option<DataKey>, Why> {
        match self.entry(id)?.get_secret().map(Zeroizing::new) {
            Ok(bytes) => Ok(DataKey::from_bytes(&bytes)),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(said(&error)),
        }
    }

    fn keep(&self, fresh: &DataKey) -> Result<DataKey, Why> {
        let entry = self.entry(&fresh.id())?;
        entry.set_secret(fresh.expose()).map_err(|error| said(&error))?;
        self.find(&fresh.id())?.filter(|kept| kept.id() == fresh.id()).ok_or(Why::NotKept)
    }
}

/// The message alone: some errors carry what was stored.
fn said(error: &Error) -> Why {
    Why::Said(Untrusted::new(error.to_string()))
}

impl fmt::Debug for Native {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Native").field("place", &self.place).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
