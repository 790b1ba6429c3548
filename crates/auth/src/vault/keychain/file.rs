//! The file `key` beside the vault: the last resort, for the owner alone.
//!
//! It keeps secrets out of backups of the vault alone and out of what is printed from it, and from nobody who
//! can read both files.

use std::path::PathBuf;

use mcparley_model::limits;
use mcparley_platform::file::{Change, read_private_bytes, update_private};
use zeroize::Zeroizing;

use super::Keychain;
use crate::vault::cipher::{DataKey, KeyId};
use crate::vault::keeper::{Place, Why};

const TITLE: &str = "mcparley-key 1 ";

/// A file with one key.
#[derive(Debug)]
pub(in crate::vault) struct KeyFile(pub(in crate::vault) PathBuf);

impl Keychain for KeyFile {
    fn place(&self) -> Place {
        Place::File
    }

    fn find(&self, id: &KeyId) -> Result<Option<DataKey>, Why> {
        let content = read_private_bytes(&self.0, limits::VAULT_KEY_BYTES)?.map(Zeroizing::new);
        Ok(content.and_then(|content| parse(&content)).filter(|key| key.id() == *id))
    }

    fn keep(&self, fresh: &DataKey) -> Result<DataKey, Why> {
        let mut kept = fresh.clone();
        update_private(&self.0, limits::VAULT_KEY_BYTES, |old| {
            let content = print(fresh).into_bytes();
            Ok::<_, Why>(match old.map(parse) {
                // Another profile's entries may need it, and it is as good as a new one.
                Some(Some(old)) => {
                    kept = old;
                    Change::Keep
                }
                Some(None) => Change::SetAside { ending: format!(".damaged-{}", fresh.id()), content },
                None => Change::Replace(content),
            })
        })?;
        Ok(kept)
    }
}

fn parse(content: &[u8]) -> Option<DataKey> {
    let text = std::str::from_utf8(content).ok()?;
    DataKey::from_base64(text.strip_prefix(TITLE)?)
}

fn print(key: &DataKey) -> String {
    format!("{TITLE}{}\n", key.to_base64().as_str())
}
