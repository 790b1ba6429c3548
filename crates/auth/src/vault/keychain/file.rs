//! The file `key` next to the vault: the last resort, readable only by the owner.
//!
//! It protects secrets in a backup or a printout of the vault file only. A program that can read both files
//! can decrypt them.

use std::path::PathBuf;

use mcparley_model::limits;
use mcparley_platform::file::{PrivateChange, read_private_bytes, update_private};
use zeroize::Zeroizing;

use super::Keychain;
use crate::vault::cipher::{DataKey, KeyId};
use crate::vault::key_location::{KeyPlace, KeyPlaceError};

const TITLE: &str = "mcparley-key 1 ";

/// A file with one key.
#[derive(Debug)]
pub(in crate::vault) struct KeyFile(pub(in crate::vault) PathBuf);

impl Keychain for KeyFile {
    fn place(&self) -> KeyPlace {
        KeyPlace::File
    }

    fn find_key(&self, id: &KeyId) -> Result<Option<DataKey>, KeyPlaceError> {
        let content = read_private_bytes(&self.0, limits::VAULT_KEY_BYTES)?.map(Zeroizing::new);
        Ok(content.and_then(|content| parse_key(&content)).filter(|key| key.id() == *id))
    }

    fn store_key(&self, fresh: &DataKey) -> Result<DataKey, KeyPlaceError> {
        let mut kept = fresh.clone();
        update_private(&self.0, limits::VAULT_KEY_BYTES, |old| {
            let content = format_key(fresh).into_bytes();
            Ok::<_, KeyPlaceError>(match old.map(parse_key) {
                // Entries of another profile may need it, and it is as good as a new one.
                Some(Some(old)) => {
                    kept = old;
                    PrivateChange::Keep
                }
                Some(None) => PrivateChange::SetAside { ending: format!(".damaged-{}", fresh.id()), content },
                None => PrivateChange::Replace(content),
            })
        })?;
        Ok(kept)
    }
}

fn parse_key(content: &[u8]) -> Option<DataKey> {
    let text = std::str::from_utf8(content).ok()?;
    DataKey::from_base64(text.strip_prefix(TITLE)?)
}

fn format_key(key: &DataKey) -> String {
    format!("{TITLE}{}\n", key.to_base64().as_str())
}
