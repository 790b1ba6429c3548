//! File cache of one load: reads each file once, and keeps the contents for a later comparison.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcparley_model::limits::CONFIG_FILE_BYTES;
use mcparley_platform::file::{self, FileReadError, FileText, Ownership};
use sha2::{Digest, Sha256};

/// The result of reading one file; `None` if it does not exist.
pub(super) type FileRead = Result<Option<FileText>, FileReadError>;

/// The cache: every file that was read during one load.
#[derive(Clone, Default)]
pub(super) struct FileCache(BTreeMap<PathBuf, Arc<FileRead>>);

impl FileCache {
    /// Reads a file, or returns its cached content.
    pub(super) fn read_file(&mut self, path: &Path) -> Arc<FileRead> {
        if let Some(read) = self.0.get(path) {
            return Arc::clone(read);
        }
        let read = Arc::new(file::read_text(path, CONFIG_FILE_BYTES));
        self.0.insert(path.to_owned(), Arc::clone(&read));
        read
    }

    /// The fingerprint of these files from their cached contents. A file that is not cached is read here.
    pub(super) fn fingerprint(&self, files: &[PathBuf]) -> FilesFingerprint {
        FilesFingerprint::from_reads(files, |path| match self.0.get(path) {
            Some(read) => Arc::clone(read),
            None => Arc::new(file::read_text(path, CONFIG_FILE_BYTES)),
        })
    }
}

impl fmt::Debug for FileCache {
    /// Omits the texts, because they contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Fingerprint of the contents of several files, to detect changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilesFingerprint([u8; 32]);

impl FilesFingerprint {
    /// Reads the files and fingerprints their current contents.
    #[must_use]
    pub fn from_disk(files: &[PathBuf]) -> Self {
        Self::from_reads(files, |path| Arc::new(file::read_text(path, CONFIG_FILE_BYTES)))
    }

    fn from_reads(files: &[PathBuf], read: impl Fn(&Path) -> Arc<FileRead>) -> Self {
        let mut hash = Sha256::new();
        for path in files {
            hash.update(path.as_os_str().as_encoded_bytes());
            match &*read(path) {
                Ok(Some(FileText { text, owner })) => {
                    // The owner decides whether a file counts, and `chmod` does not change the text.
                    hash.update([1, u8::from(*owner == Ownership::Trusted)]);
                    hash.update((text.len() as u64).to_le_bytes());
                    hash.update(text);
                }
                Ok(None) => hash.update([0]),
                Err(_) => hash.update([2]),
            }
        }
        Self(hash.finalize().into())
    }
}
