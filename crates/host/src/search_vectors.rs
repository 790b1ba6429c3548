//! Reads the word vectors of tool search from a folder of model2vec.
//!
//! Reading the table at once instead of mapping it into memory takes a few milliseconds, ahead of the first search,
//! and needs no unsafe code; a file that shrinks later cannot end the program.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcparley_catalog::{WordVectors, WordVectorsError, WordVectorsSource};
use mcparley_model::limits::{VECTOR_FILE_BYTES, VECTOR_TOKENIZER_BYTES};
use mcparley_platform::file::read_bytes;

/// The fault of the word vectors of a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the word vectors in {} cannot be used: {error}; tools are searched by words", path.display())]
#[non_exhaustive]
pub struct SearchVectorsError {
    /// The path that was given.
    pub path: PathBuf,
    /// The fault.
    pub error: WordVectorsError,
}

impl SearchVectorsError {
    /// Advice for the user.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        self.error.hint()
    }
}

/// The word vectors of a host, and the path they are read from.
#[derive(Debug)]
pub(crate) struct SearchVectors {
    path: PathBuf,
    source: Arc<WordVectorsSource>,
}

impl SearchVectors {
    /// Vectors that are read from this path on first use: a folder, or the file with the tensors in it.
    pub(crate) fn new(path: PathBuf) -> Self {
        let folder = path.clone();
        let source = WordVectorsSource::new(move || read_vectors(&folder));
        Self { path, source: Arc::new(source) }
    }

    pub(crate) fn source(&self) -> Arc<WordVectorsSource> {
        Arc::clone(&self.source)
    }

    /// Reads the files, unless they were read before.
    pub(crate) fn read(&self) {
        self.source.read();
    }

    /// The fault of the files, once they were read.
    pub(crate) fn error(&self) -> Option<SearchVectorsError> {
        let error = self.source.error()?.clone();
        Some(SearchVectorsError { path: self.path.clone(), error })
    }
}

fn read_vectors(path: &Path) -> Result<WordVectors, WordVectorsError> {
    let (tensors, tokenizer) = if path.extension().is_some_and(|end| end == "safetensors") {
        (path.to_owned(), path.with_file_name("tokenizer.json"))
    } else {
        (path.join("model.safetensors"), path.join("tokenizer.json"))
    };
    let tokenizer = read_file(&tokenizer, VECTOR_TOKENIZER_BYTES)?;
    WordVectors::parse(&read_file(&tensors, VECTOR_FILE_BYTES)?, &tokenizer)
}

fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, WordVectorsError> {
    let unreadable = |text: String| WordVectorsError::Unreadable(text);
    let bytes = read_bytes(path, limit).map_err(|error| unreadable(error.to_string()))?;
    bytes.ok_or_else(|| unreadable(format!("there is no file {}", path.display())))
}
