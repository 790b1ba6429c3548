//! The index of stored results of one host.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use mcparley_model::limits::SESSION_RESULTS;
use serde::Serialize;

use crate::store::{ResultHandle, ResultPayload, ResultStore, StoreError};

/// A stored result, or a stored part of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StoredResult {
    /// The handle to pass to `ReadResult`.
    pub handle: ResultHandle,
    /// The file, if the store writes files on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// The MIME type.
    pub mime: String,
    /// The length in bytes.
    pub bytes: u64,
}

/// The stored results of one host and its agents. A host can read only results that it stored itself.
pub(crate) struct StoredResults {
    pub(crate) store: Arc<dyn ResultStore>,
    entries: Arc<Mutex<HashMap<ResultHandle, StoredEntry>>>,
    /// The account that stores and reads; of several, none can read results of another.
    owner: Option<Arc<str>>,
    /// Whether outcomes name the files of stored results.
    shows_paths: bool,
}

/// Index entry of one stored result.
#[derive(Clone, Debug)]
pub(crate) struct StoredEntry {
    pub(crate) bytes: u64,
    pub(crate) content: StoredContent,
    owner: Option<Arc<str>>,
}

/// The content type of a stored result: text or binary.
#[derive(Clone, Debug)]
pub(crate) enum StoredContent {
    Text {
        /// The byte range of the JSON in the text, if there is any.
        json: Option<Range<u64>>,
    },
    Binary,
}

impl StoredResults {
    pub(crate) fn new(store: Arc<dyn ResultStore>) -> Self {
        Self { store, entries: Arc::default(), owner: None, shows_paths: true }
    }

    /// The results of one account, in the same store and index.
    pub(crate) fn for_owner(&self, owner: Option<&Arc<str>>) -> Self {
        Self { owner: owner.cloned(), ..self.clone_index() }
    }

    /// The same results, without the paths of their files.
    pub(crate) fn without_paths(&self) -> Self {
        Self { shows_paths: false, ..self.clone_index() }
    }

    fn clone_index(&self) -> Self {
        let (store, entries) = (Arc::clone(&self.store), Arc::clone(&self.entries));
        Self { store, entries, owner: self.owner.clone(), shows_paths: self.shows_paths }
    }

    /// Finds the stored result with this handle, if it is the owner's.
    pub(crate) fn find_entry(&self, handle: &str) -> Option<(ResultHandle, StoredEntry)> {
        let entries = self.lock_entries();
        let (handle, entry) = entries.get_key_value(handle).filter(|(_, entry)| entry.owner == self.owner)?;
        Some((handle.clone(), entry.clone()))
    }

    /// Stores a text.
    pub(crate) fn store_text(
        &self,
        text: &str,
        json: Option<Range<u64>>,
        origin: &str,
    ) -> Result<(ResultHandle, Option<PathBuf>), StoreError> {
        let is_json = json.as_ref().is_some_and(|json| json.start == 0);
        let extension = if is_json { "json" } else { "txt" };
        self.store_bytes(StoredContent::Text { json }, text.as_bytes(), extension, origin)
    }

    /// Stores binary data.
    pub(crate) fn store_binary(
        &self,
        bytes: &[u8],
        extension: &'static str,
        origin: &str,
    ) -> Result<(ResultHandle, Option<PathBuf>), StoreError> {
        self.store_bytes(StoredContent::Binary, bytes, extension, origin)
    }

    /// Stores bytes under a new handle and adds them to the index.
    fn store_bytes(
        &self,
        content: StoredContent,
        bytes: &[u8],
        extension: &'static str,
        origin: &str,
    ) -> Result<(ResultHandle, Option<PathBuf>), StoreError> {
        if self.lock_entries().len() >= SESSION_RESULTS {
            return Err(StoreError::TooMany { limit: SESSION_RESULTS });
        }
        let handle = ResultHandle::new(origin);
        let path = self.store.store_result(&ResultPayload { handle: &handle, extension, bytes })?;
        let entry = StoredEntry { bytes: bytes.len() as u64, content, owner: self.owner.clone() };
        self.lock_entries().insert(handle.clone(), entry);
        Ok((handle, path.filter(|_| self.shows_paths)))
    }

    fn lock_entries(&self) -> std::sync::MutexGuard<'_, HashMap<ResultHandle, StoredEntry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for StoredResults {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredResults").field("entries", &self.lock_entries().len()).finish_non_exhaustive()
    }
}
