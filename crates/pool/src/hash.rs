//! SHA-256 hash of several texts.

use std::ffi::OsStr;

use sha2::{Digest, Sha256};

/// SHA-256 of several texts, each prefixed by its length, so that `ab`, `c` and `a`, `bc` differ.
pub(crate) fn hash_texts<'t>(texts: impl IntoIterator<Item = &'t OsStr>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_encoded_bytes());
    }
    hash.finalize().into()
}
