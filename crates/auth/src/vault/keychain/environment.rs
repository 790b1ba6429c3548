//! A key the program was started with, for containers that have no place of their own.

use mcparley_model::secret::Secret;

use super::Keychain;
use crate::vault::cipher::{DataKey, KeyId};
use crate::vault::keeper::{Place, Why};

/// The key that was handed in, in base64.
#[derive(Debug)]
pub(in crate::vault) struct Environment(pub(in crate::vault) Secret<String>);

impl Environment {
    fn key(&self) -> Result<DataKey, Why> {
        DataKey::from_base64(self.0.expose()).ok_or(Why::NotAKey)
    }
}

impl Keychain for Environment {
    fn place(&self) -> Place {
        Place::Environment
    }

    fn find(&self, id: &KeyId) -> Result<Option<DataKey>, Why> {
        Ok(Some(self.key()?).filter(|key| key.id() == *id))
    }

    fn keep(&self, _fresh: &DataKey) -> Result<DataKey, Why> {
        self.key()
    }
}
