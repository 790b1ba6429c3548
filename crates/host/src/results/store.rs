//! Where results are kept that are too long for a model, or no text at all: the seam, and what is common to all stores.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use mcparley_model::hex::Hex;
use mcparley_platform::file::FolderError;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::chance;

/// Keeps what does not fit into a model's window, for as long as a host lives (R2).
///
/// Its methods are called where blocking holds up nobody. What cannot be kept is cut, and the call succeeds.
pub trait ResultStore: Send + Sync + 'static {
    /// Keeps a piece; gives the path of its file, if it has one that others on this machine can read.
    ///
    /// # Errors
    /// A [`StoreError`], when it is not kept.
    fn keep(&self, piece: &Piece<'_>) -> Result<Option<PathBuf>, StoreError>;

    /// Reads what was kept under the handle, from the byte `from` on; gives how many bytes there were, none at the end.
    ///
    /// # Errors
    /// A [`StoreError`], when it is not kept any more or cannot be read.
    fn read(&self, handle: &Handle, from: u64, buffer: &mut [u8]) -> Result<usize, StoreError>;

    /// Removes what earlier hosts left, as far as it is too old or too much. Called once, when a host starts.
    fn tidy(&self) {}
}

/// What is to be kept.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Piece<'p> {
    /// What it is asked for by.
    pub handle: &'p Handle,
    /// How the name of its file should end, without a dot.
    pub extension: &'static str,
    /// What it is.
    pub bytes: &'p [u8],
}

/// What a stored result is asked for by. Made of a hash and chance: nothing of a server's words is in it (B99).
#[derive(Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Handle(Arc<str>);

impl Handle {
    /// A new one for a result of `origin`; those of the same origin look alike.
    pub(crate) fn new(origin: &str) -> Self {
        let hash = Sha256::digest(origin.as_bytes());
        let hash = Hex(hash.get(..4).unwrap_or_default());
        Self(format!("result-{hash}-{:016x}", chance::number()).into())
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for Handle {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle({})", self.0)
    }
}

/// Why a result is not kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no room for more.
    #[error("the results of one session may take up {limit} bytes, and no more")]
    Crowded {
        /// The limit.
        limit: u64,
    },
    /// There are too many.
    #[error("one session may store {limit} results, and no more")]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// Nothing is kept under this handle.
    #[error("it is no longer there")]
    Gone,
    /// The folder for results cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Anything else, such as what a store of somebody else says.
    #[error("{0}")]
    Other(Box<dyn std::error::Error + Send + Sync>),
}
