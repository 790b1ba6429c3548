//! The [`ResultStore`] trait for results that are too long for a model or binary, with its handle and error
//! types.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use mcparley_model::hex::Hex;
use mcparley_platform::file::PrivateFolderError;
use mcparley_platform::random::random_number;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// Storage for results that do not fit into a model's context window, for the lifetime of a host.
///
/// Its methods run on threads that may block. If storing fails, the result is cut and the call still
/// succeeds.
pub trait ResultStore: Send + Sync + 'static {
    /// Stores a result; returns the path of its file, if it has one that other programs on this machine can
    /// read.
    ///
    /// # Errors
    /// A [`StoreError`] if it cannot be stored.
    fn store_result(&self, piece: &ResultPayload<'_>) -> Result<Option<PathBuf>, StoreError>;

    /// Reads the stored result of a handle, from the byte `from` on; returns the number of bytes read, 0 at
    /// the end.
    ///
    /// # Errors
    /// A [`StoreError`] if it is no longer stored or cannot be read.
    fn read_bytes(&self, handle: &ResultHandle, from: u64, buffer: &mut [u8]) -> Result<usize, StoreError>;

    /// Removes results of earlier hosts that are too old or over the size limit. Called once, when a host
    /// starts.
    fn remove_old_results(&self) {}
}

/// A result to be stored.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ResultPayload<'p> {
    /// The handle under which it can be read.
    pub handle: &'p ResultHandle,
    /// The file extension, without a dot.
    pub extension: &'static str,
    /// The content.
    pub bytes: &'p [u8],
}

/// The handle of a stored result, made of a hash and a random number. No text of a server is in it, because
/// it becomes a file name.
#[derive(Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct ResultHandle(Arc<str>);

impl ResultHandle {
    /// A new handle for a result of the tool `origin`; handles of one origin share their first half.
    pub(crate) fn new(origin: &str) -> Self {
        let hash = Sha256::digest(origin.as_bytes());
        let hash = Hex(hash.get(..4).unwrap_or_default());
        Self(format!("result-{hash}-{:016x}", random_number()).into())
    }

    /// The handle as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for ResultHandle {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ResultHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ResultHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle({})", self.0)
    }
}

/// Error of a [`ResultStore`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The stored bytes reached the limit of the session.
    #[error("the stored results of one session are limited to {limit} bytes")]
    Full {
        /// The limit.
        limit: u64,
    },
    /// The number of stored results reached the limit of the session.
    #[error("one session can store at most {limit} results")]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// No result is stored under this handle any more.
    #[error("it no longer exists")]
    NotFound,
    /// The folder for results cannot be used.
    #[error(transparent)]
    Folder(#[from] PrivateFolderError),
    /// Any other error, such as one of a store of the embedding program.
    #[error("{0}")]
    Other(Box<dyn std::error::Error + Send + Sync>),
}
