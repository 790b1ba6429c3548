//! Encrypts and decrypts entries: XChaCha20-Poly1305 under a data key, with the entry's name and generation
//! as associated data.
//!
//! The associated data keeps sealed values apart: one that was moved to another name, or restored from an
//! earlier generation, cannot be decrypted.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use mcparley_model::hex::Hex;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::{EntryId, VaultError};

const NONCE_BYTES: usize = 24;
const KEY_BYTES: usize = 32;

/// The key that encrypts entries. Wiped from memory when it is dropped.
#[derive(Clone)]
pub(super) struct DataKey(Zeroizing<[u8; KEY_BYTES]>);

/// The id of a data key: half the hash of the key, which reveals nothing about it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct KeyId(String);

/// The associated data of a sealed value.
#[derive(Clone, Copy, Debug)]
pub(super) struct SealBinding<'a> {
    pub(super) id: &'a EntryId,
    pub(super) generation: u64,
}

impl DataKey {
    /// Generates a new key from the system's random source.
    pub(super) fn generate() -> Result<Self, VaultError> {
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        getrandom::fill(bytes.as_mut_slice()).map_err(|_| VaultError::NoRandomness)?;
        Ok(Self(bytes))
    }

    /// The key in these bytes; `None` if the length is wrong.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        (bytes.len() == KEY_BYTES).then(|| {
            key.copy_from_slice(bytes);
            Self(key)
        })
    }

    /// Decodes a key from base64, with or without white space around it.
    pub(super) fn from_base64(text: &str) -> Option<Self> {
        let bytes = Zeroizing::new(STANDARD.decode(text.trim()).ok()?);
        Self::from_bytes(&bytes)
    }

    /// Encodes the key for a file that only its owner may read.
    pub(super) fn to_base64(&self) -> Zeroizing<String> {
        Zeroizing::new(STANDARD.encode(self.0.as_slice()))
    }

    /// The key itself, for a keychain.
    pub(super) fn expose(&self) -> &[u8] {
        self.0.as_slice()
    }

    /// The id of the key.
    pub(super) fn id(&self) -> KeyId {
        let hash = Sha256::new_with_prefix(b"mcparley vault key\n").chain_update(self.expose()).finalize();
        KeyId(Hex(hash.get(..16).unwrap_or_default()).to_string())
    }

    /// Encrypts a value: nonce and ciphertext, in base64.
    pub(super) fn seal_value(&self, binding: SealBinding<'_>, value: &[u8]) -> Result<String, VaultError> {
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|_| VaultError::NoRandomness)?;
        let bound = self.associated_data(binding);
        let payload = Payload { msg: value, aad: bound.as_bytes() };
        // Only a value beyond 256 GiB cannot be encrypted, and the file is far smaller.
        let sealed = self.cipher().encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed.map_err(|_| VaultError::TooLarge)?;
        Ok(STANDARD.encode([nonce.as_slice(), &sealed].concat()))
    }

    /// Decrypts `sealed`; `None` if it was sealed with another key, for another entry, or is damaged.
    pub(super) fn open_value(&self, binding: SealBinding<'_>, sealed: &str) -> Option<Vec<u8>> {
        let bytes = STANDARD.decode(sealed).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_BYTES>()?;
        let bound = self.associated_data(binding);
        let payload = Payload { msg: sealed, aad: bound.as_bytes() };
        self.cipher().decrypt(&XNonce::from(*nonce), payload).ok()
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        let key: &[u8; KEY_BYTES] = &self.0;
        XChaCha20Poly1305::new(key.into())
    }

    fn associated_data(&self, binding: SealBinding<'_>) -> String {
        format!("mcparley-vault 1\n{}\n{}\n{}", binding.id, binding.generation, self.id())
    }
}

impl fmt::Debug for DataKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DataKey({})", self.id())
    }
}

impl KeyId {
    /// Parses an id from the file; `None` if it is malformed.
    pub(super) fn from_file(text: &str) -> Option<Self> {
        let is_hex = text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_hex.then(|| Self(text.to_owned()))
    }

    /// The id of no key, to ask a keychain whether it responds at all.
    pub(super) fn placeholder() -> Self {
        Self("0".repeat(32))
    }

    /// The id, for a keychain.
    #[cfg(any(test, feature = "keyring"))]
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
