//! What becomes of a result that a model cannot be given as it is: too long, or no text (R2–R6).
//!
//! | question | where |
//! |---|---|
//! | how much may a model be given | `room` |
//! | does it fit, and if not, what is stored and what is said | `spill`, `note` |
//! | what is JSON made of, in one line | `outline` |
//! | what becomes of images, sounds and files | `binary`, `picture` |
//! | where is it kept | `store`: `files`, `memory` |
//! | how does a model read on | `read` |
//!
//! A host that was told so hands results over whole; then nothing of this happens.

mod binary;
mod budget;
mod files;
mod memory;
mod note;
mod outline;
mod picture;
mod read;
mod spill;
mod store;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use mcparley_model::limits::{IMAGES_AT_ONCE, SESSION_RESULTS};
use serde::Serialize;
use tokio::sync::Semaphore;

use crate::call::Outcome;
use crate::paths::Paths;
use crate::task;
use files::FileStore;
use memory::MemoryStore;

pub(crate) use budget::ResultBudget;
pub use store::{Handle, Piece, ResultStore, StoreError};

/// A result, or a part of one, that was stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Stored {
    /// What `ReadResult` asks for it by.
    pub handle: Handle,
    /// Its file, if it has one on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// Its type.
    pub mime: String,
    /// Its length.
    pub bytes: u64,
}

/// The results of one host and of its agents.
pub(crate) struct Results {
    store: Arc<dyn ResultStore>,
    /// What can be read again: nobody reads what another host has stored.
    kept: Mutex<HashMap<Handle, Kept>>,
    /// Taken while images are unpacked: each may take up two hundred megabytes meanwhile.
    unpacking: Arc<Semaphore>,
}

/// What is known of what is stored.
#[derive(Clone, Debug)]
struct Kept {
    bytes: u64,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    Text {
        /// Where the JSON stands in it, if there is some.
        json: Option<Range<u64>>,
    },
    Binary,
}

impl Results {
    /// In files where there is a folder for them, else in memory.
    pub(crate) fn of(paths: &Paths) -> Self {
        match &paths.results {
            Some(folder) => Self::in_store(Arc::new(FileStore::new(folder.clone()))),
            None => Self::in_store(Arc::new(MemoryStore::default())),
        }
    }

    pub(crate) fn in_store(store: Arc<dyn ResultStore>) -> Self {
        Self { store, kept: Mutex::default(), unpacking: Arc::new(Semaphore::new(IMAGES_AT_ONCE)) }
    }

    /// Removes what earlier hosts left.
    pub(crate) fn tidy(&self) -> impl Future<Output = ()> + Send + 'static {
        let store = Arc::clone(&self.store);
        async move {
            // What could not be removed now is removed by the next.
            let _broken = task::aside(move || store.tidy()).await;
        }
    }

    /// The outcome as a model is given it, if it does not fit: short enough, with the rest stored. `origin` is whose it is.
    pub(crate) async fn fit(
        self: &Arc<Self>,
        outcome: Outcome,
        budget: ResultBudget,
        origin: &str,
    ) -> Outcome {
        let has_binaries = binary::is_in(&outcome);
        let unpacking = Arc::clone(&self.unpacking);
        // Nobody closes it, so there is always a turn to wait for.
        let turn = if has_binaries { unpacking.acquire_owned().await.ok() } else { None };
        let (raw, is_error) = (outcome.raw.clone(), outcome.is_error);
        let (this, origin) = (Arc::clone(self), origin.to_owned());
        let fitted = task::aside(move || {
            // Kept until the work is done, also when nobody waits for it any more.
            let _turn = turn;
            let outcome = if has_binaries { this.put_away(outcome, &origin) } else { outcome };
            match spill::excess(&outcome, budget) {
                Some(excess) => this.spill(outcome, excess, &origin),
                None => outcome,
            }
        });
        fitted.await.unwrap_or_else(|| note::lost(raw, is_error))
    }

    /// Stores a text.
    fn keep(
        &self,
        text: &str,
        json: Option<Range<u64>>,
        origin: &str,
    ) -> Result<(Handle, Option<PathBuf>), StoreError> {
        let is_json = json.as_ref().is_some_and(|json| json.start == 0);
        let extension = if is_json { "json" } else { "txt" };
        self.keep_as(Content::Text { json }, text.as_bytes(), extension, origin)
    }

    /// Stores something else.
    fn keep_binary(
        &self,
        bytes: &[u8],
        extension: &'static str,
        origin: &str,
    ) -> Result<(Handle, Option<PathBuf>), StoreError> {
        self.keep_as(Content::Binary, bytes, extension, origin)
    }

    fn keep_as(
        &self,
        content: Content,
        bytes: &[u8],
        extension: &'static str,
        origin: &str,
    ) -> Result<(Handle, Option<PathBuf>), StoreError> {
        if self.kept().len() >= SESSION_RESULTS {
            return Err(StoreError::TooMany { limit: SESSION_RESULTS });
        }
        let handle = Handle::new(origin);
        let path = self.store.keep(&Piece { handle: &handle, extension, bytes })?;
        self.kept().insert(handle.clone(), Kept { bytes: bytes.len() as u64, content });
        Ok((handle, path))
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, HashMap<Handle, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a model can be given the outcome as it is.
pub(crate) fn fits(outcome: &Outcome, budget: ResultBudget) -> bool {
    !binary::is_in(outcome) && spill::is_within(outcome, budget)
}

impl std::fmt::Debug for Results {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Results").field("kept", &self.kept().len()).finish_non_exhaustive()
    }
}
