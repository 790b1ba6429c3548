//! A key from the environment, for containers without a persistent place.

use mcparley_model::secret::Secret;

use super::Keychain;
use crate::vault::cipher::{DataKey, KeyId};
use crate::vault::key_location::{KeyPlace, KeyPlaceError};

/// The key the program was started with, in base64.
#[derive(Debug)]
pub(in crate::vault) struct EnvironmentKey(pub(in crate::vault) Secret<String>);

impl EnvironmentKey {
    fn decode_key(&self) -> Result<DataKey, KeyPlaceError> {
        DataKey::from_base64(self.0.expose()).ok_or(KeyPlaceError::NotAKey)
    }
}

impl Keychain for EnvironmentKey {
    fn place(&self) -> KeyPlace {
        KeyPlace::Environment
    }

    fn find_key(&self, id: &KeyId) -> Result<Option<DataKey>, KeyPlaceError> {
        Ok(Some(self.decode_key()?).filter(|key| key.id() == *id))
    }

    fn store_key(&self, _fresh: &DataKey) -> Result<DataKey, KeyPlaceError> {
        self.decode_key()
    }
}
