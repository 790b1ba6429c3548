//! Sealed values: text that the gateway gives away and recognizes later, without a table.
//!
//! `mp1.` and base64url of the key number, a nonce and the ciphertext (XChaCha20-Poly1305). The associated
//! data binds a value to its principal, endpoint and purpose: with any other binding it does not open. A
//! working key is derived from the root key for each day, and opens values of that day, the day before, and the day
//! after: the clock of another gateway may be ahead of ours at midnight.
//!
//! Ids are sealed with a key that never changes, and a nonce that follows from their content: the same id is
//! always the same text.

use mcparley_model::time::unix_seconds;
use std::path::Path;
use std::time::SystemTime;

use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};
use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use mcparley_platform::file::{
    Creation, FileReadError, FileUpdateError, SymlinkPolicy, read_private, update_file,
};
use zeroize::Zeroizing;

use crate::{ClusterMember, SharedStoreError};

const PREFIX: &str = "mp1.";
const ID_PREFIX: &str = "mpi1.";
const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 24;
const DAY_BYTES: usize = 4;
const DIGEST_BYTES: usize = 16;
const DAY_SECONDS: u64 = 24 * 60 * 60;
/// The maximum size of the file with the root key, which holds one line of base64.
const KEY_FILE_BYTES: u64 = 1024;

/// Seals values and opens them again.
pub struct Seal {
    root: Zeroizing<[u8; KEY_BYTES]>,
}

/// Error of a seal key.
#[derive(Debug, thiserror::Error)]
pub enum SealKeyError {
    /// The system gives no random numbers.
    #[error("the system gives no random numbers")]
    NoRandomness,
    /// The key file cannot be read.
    #[error(transparent)]
    Read(#[from] FileReadError),
    /// The key file cannot be written.
    #[error("cannot write the key file: {0}")]
    Write(FileUpdateError<std::convert::Infallible>),
    /// The key file holds no key.
    #[error("the key file holds no key of {KEY_BYTES} bytes")]
    Invalid,
    /// The key that gateways share cannot be fetched.
    #[error("the key that the gateways share cannot be fetched: {0}")]
    Shared(#[from] SharedStoreError),
}

impl Seal {
    /// A seal whose key lives only in memory.
    ///
    /// # Errors
    /// Without random numbers.
    pub fn in_memory() -> Result<Self, SealKeyError> {
        let mut root = Zeroizing::new([0; KEY_BYTES]);
        getrandom::fill(root.as_mut_slice()).map_err(|_| SealKeyError::NoRandomness)?;
        Ok(Self { root })
    }

    /// A seal with the key in this file, which is created if it is missing. Values stay valid after a
    /// restart.
    ///
    /// # Errors
    /// The file can be read by others, holds no key, or cannot be written.
    pub fn from_file(path: &Path) -> Result<Self, SealKeyError> {
        let text = match read_private(path, KEY_FILE_BYTES, SymlinkPolicy::Refuse)? {
            Some(text) => Zeroizing::new(text.text),
            None => {
                let new = Zeroizing::new(URL_SAFE_NO_PAD.encode(Self::in_memory()?.root.as_slice()));
                let creation = Creation::PRIVATE;
                // Of two processes that create the file at once, both use the key of the first.
                let written = update_file(path, creation, KEY_FILE_BYTES, |old| {
                    Ok(old.map_or_else(|| format!("{}\n", new.as_str()), str::to_owned))
                });
                written.map_err(SealKeyError::Write)?;
                let stored = read_private(path, KEY_FILE_BYTES, SymlinkPolicy::Refuse)?;
                Zeroizing::new(stored.ok_or(SealKeyError::Invalid)?.text)
            }
        };
        Self::parse(&text)
    }

    /// A seal with the key that all gateways of a cluster share. The first gateway chooses it.
    ///
    /// # Errors
    /// When the shared state cannot be reached, or holds no key.
    pub async fn from_cluster(member: &ClusterMember) -> Result<Self, SealKeyError> {
        let ours = URL_SAFE_NO_PAD.encode(Self::in_memory()?.root.as_slice());
        let text = member.share_value(member.keys().seal_root(), ours.into_bytes()).await?;
        Self::parse(std::str::from_utf8(text.expose()).map_err(|_| SealKeyError::Invalid)?)
    }

    fn parse(text: &str) -> Result<Self, SealKeyError> {
        let bytes = URL_SAFE_NO_PAD.decode(text.trim()).map(Zeroizing::new);
        let bytes = bytes.map_err(|_| SealKeyError::Invalid)?;
        let mut root = Zeroizing::new([0; KEY_BYTES]);
        if bytes.len() != KEY_BYTES {
            return Err(SealKeyError::Invalid);
        }
        root.copy_from_slice(&bytes);
        Ok(Self { root })
    }

    /// Seals a value; `None` only if the system gives no random numbers.
    #[must_use]
    pub fn seal_value(&self, binding: &[&str], value: &[u8]) -> Option<String> {
        self.seal_on_day(binding, value, current_day())
    }

    fn seal_on_day(&self, binding: &[&str], value: &[u8], day: u32) -> Option<String> {
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).ok()?;
        let bound = associated_data(binding);
        let payload = Payload { msg: value, aad: &bound };
        let sealed = self.cipher_of_day(day)?.encrypt(&XNonce::from(nonce), payload).ok()?;
        let bytes = [day.to_be_bytes().as_slice(), &nonce, &sealed].concat();
        Some(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// Opens a sealed value; `None` if it was made by another key, for another binding, or too long ago.
    #[must_use]
    pub fn open_value(&self, binding: &[&str], sealed: &str) -> Option<Vec<u8>> {
        self.open_on_day(binding, sealed, current_day())
    }

    fn open_on_day(&self, binding: &[&str], sealed: &str, today: u32) -> Option<Vec<u8>> {
        let bytes = URL_SAFE_NO_PAD.decode(sealed.strip_prefix(PREFIX)?).ok()?;
        let (day, rest) = bytes.split_first_chunk::<DAY_BYTES>()?;
        let (nonce, sealed) = rest.split_first_chunk::<NONCE_BYTES>()?;
        let day = u32::from_be_bytes(*day);
        if today.abs_diff(day) > 1 {
            return None;
        }
        let bound = associated_data(binding);
        self.cipher_of_day(day)?.decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad: &bound }).ok()
    }

    /// Whether a text has the form of a sealed value or id that has not expired. If it does not open, another client has
    /// it, or it is invented.
    #[must_use]
    pub fn is_in_use(text: &str) -> bool {
        let day =
            || URL_SAFE_NO_PAD.decode(text.strip_prefix(PREFIX)?).ok()?.first_chunk::<DAY_BYTES>().copied();
        let is_recent = |day: [u8; DAY_BYTES]| current_day().abs_diff(u32::from_be_bytes(day)) <= 1;
        text.starts_with(ID_PREFIX) || day().is_some_and(is_recent)
    }

    /// Seals an id, which is always the same text for the same binding and never expires.
    pub fn seal_id(&self, binding: &[&str], id: &[u8]) -> Option<String> {
        let bound = associated_data(binding);
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.derive_key(b"id nonce")?.as_slice());
        let tag = hmac::sign(&key, &[bound.as_slice(), id].concat());
        let nonce: [u8; NONCE_BYTES] = *tag.as_ref().first_chunk()?;
        let cipher = XChaCha20Poly1305::new_from_slice(self.derive_key(b"id")?.as_slice()).ok()?;
        let sealed = cipher.encrypt(&XNonce::from(nonce), Payload { msg: id, aad: &bound }).ok()?;
        Some(format!("{ID_PREFIX}{}", URL_SAFE_NO_PAD.encode([nonce.as_slice(), &sealed].concat())))
    }

    /// Opens a sealed id; `None` if it was made by another key or for another binding.
    pub fn open_id(&self, binding: &[&str], sealed: &str) -> Option<Vec<u8>> {
        let bytes = URL_SAFE_NO_PAD.decode(sealed.strip_prefix(ID_PREFIX)?).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_BYTES>()?;
        let bound = associated_data(binding);
        let cipher = XChaCha20Poly1305::new_from_slice(self.derive_key(b"id")?.as_slice()).ok()?;
        cipher.decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad: &bound }).ok()
    }

    /// A short name that stands for a text: always the same with the same key, and without it no guess can be checked.
    #[must_use]
    pub fn digest_name(&self, purpose: &str, text: &str) -> Option<String> {
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.derive_key(b"name digest")?.as_slice());
        let tag = hmac::sign(&key, &associated_data(&[purpose, text]));
        Some(URL_SAFE_NO_PAD.encode(tag.as_ref().get(..DIGEST_BYTES)?))
    }

    fn cipher_of_day(&self, day: u32) -> Option<XChaCha20Poly1305> {
        XChaCha20Poly1305::new_from_slice(self.derive_key(&day.to_be_bytes())?.as_slice()).ok()
    }

    /// Derives a working key from the root key.
    fn derive_key(&self, purpose: &[u8]) -> Option<Zeroizing<[u8; KEY_BYTES]>> {
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        let salt = Salt::new(HKDF_SHA256, b"mcparley seal");
        salt.extract(self.root.as_slice())
            .expand(&[purpose], WorkingKeyLength)
            .ok()?
            .fill(key.as_mut_slice())
            .ok()?;
        Some(key)
    }
}

/// The length of a derived key.
struct WorkingKeyLength;

impl KeyType for WorkingKeyLength {
    fn len(&self) -> usize {
        KEY_BYTES
    }
}

/// Joins the parts of a binding, each with its length, so that no two bindings are the same bytes.
fn associated_data(binding: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in binding {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes
}

/// The number of the current day since 1970.
fn current_day() -> u32 {
    u32::try_from(seconds_since_epoch() / DAY_SECONDS).unwrap_or(u32::MAX)
}

/// The wall clock in seconds since 1970.
pub fn seconds_since_epoch() -> u64 {
    unix_seconds(SystemTime::now())
}

impl std::fmt::Debug for Seal {
    /// Omits the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seal").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
