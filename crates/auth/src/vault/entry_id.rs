//! The name of a vault entry.

use std::fmt;
use std::sync::Arc;

use mcparley_model::hex::Hex;
use sha2::{Digest, Sha256};

/// The longest digest that is used in a name unchanged.
const DIGEST_CHARS: usize = 128;

/// The name of a vault entry: its kind, and a digest of its owner.
///
/// The vault splits off only the kind; two names are one entry only when every character is equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId(Arc<str>);

impl EntryId {
    /// The entry of `kind` for `digest`, such as `server/<64 hex digits>`.
    ///
    /// A digest with special characters is replaced by its own hash, so that no name can end a line of the
    /// file or look like another kind.
    pub fn new(kind: &'static str, digest: impl fmt::Display) -> Self {
        let digest = digest.to_string();
        if is_plain(&digest) {
            return Self(format!("{kind}/{digest}").into());
        }
        let hash = Sha256::digest(digest.as_bytes());
        Self(format!("{kind}/~{}", Hex(&hash)).into())
    }

    /// The whole name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The kind of the entry.
    pub fn kind(&self) -> &str {
        self.0.split_once('/').map_or("", |(kind, _)| kind)
    }

    /// Parses a name from the file; `None` if it is malformed.
    pub(super) fn from_file(text: &str) -> Option<Self> {
        let (kind, digest) = text.split_once('/')?;
        let digest = digest.strip_prefix('~').unwrap_or(digest);
        (is_plain(kind) && is_plain(digest)).then(|| Self(text.into()))
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_plain(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !text.is_empty() && text.len() <= DIGEST_CHARS && text.bytes().all(plain)
}
