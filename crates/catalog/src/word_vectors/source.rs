//! Source of word vectors: reads them once, on first use, for all catalogs of a host.

use std::fmt;
use std::sync::OnceLock;

use super::{WordVectors, WordVectorsError};

/// Reads word vectors, from files for example. Called at most once.
pub type WordVectorsReader = dyn Fn() -> Result<WordVectors, WordVectorsError> + Send + Sync;

/// Word vectors that are read when the first search index is built.
pub struct WordVectorsSource {
    read: Box<WordVectorsReader>,
    vectors: OnceLock<Result<WordVectors, WordVectorsError>>,
}

impl WordVectorsSource {
    /// A source with this reader.
    #[must_use]
    pub fn new(read: impl Fn() -> Result<WordVectors, WordVectorsError> + Send + Sync + 'static) -> Self {
        Self { read: Box::new(read), vectors: OnceLock::new() }
    }

    /// The fault of the vectors, if they were read and cannot be used.
    #[must_use]
    pub fn error(&self) -> Option<&WordVectorsError> {
        self.vectors.get()?.as_ref().err()
    }

    /// Reads the vectors, unless they were read before.
    pub fn read(&self) {
        self.vectors();
    }

    /// The vectors, read now if they were not before; `None` if they cannot be used.
    pub(crate) fn vectors(&self) -> Option<&WordVectors> {
        self.vectors.get_or_init(|| (self.read)()).as_ref().ok()
    }
}

impl fmt::Debug for WordVectorsSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WordVectorsSource").field("vectors", &self.vectors).finish_non_exhaustive()
    }
}
