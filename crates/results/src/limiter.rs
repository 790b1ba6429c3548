//! Limits results to the size a model can take: long text is shortened, binary data replaced, the rest
//! stored.
//!
//! A host that is configured to return results whole does not use the limiter.

use std::path::Path;
use std::sync::Arc;

use mcparley_model::limits::IMAGES_AT_ONCE;
use mcparley_platform::thread::run_blocking;
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::budget::ResultBudget;
use crate::files::FileStore;
use crate::memory::MemoryStore;
use crate::outcome::CallOutcome;
use crate::read::{ReadResultError, read_stored_result};
use crate::store::ResultStore;
use crate::stored::StoredResults;
use crate::{binary, note, spill};

/// Limits the size of results of one host and its agents, and stores the parts that do not fit.
#[derive(Debug)]
pub struct ResultLimiter {
    stored: Arc<StoredResults>,
    /// Semaphore for decoding images: each may take two hundred megabytes of memory meanwhile.
    unpacking: Arc<Semaphore>,
}

impl ResultLimiter {
    /// A limiter that stores results in files below `folder`, or in memory if there is none.
    #[must_use]
    pub fn with_folder(folder: Option<&Path>) -> Self {
        match folder {
            Some(folder) => Self::with_store(Arc::new(FileStore::new(folder.to_owned()))),
            None => Self::with_store(Arc::new(MemoryStore::default())),
        }
    }

    /// A limiter with a [`ResultStore`] of the embedding program.
    #[must_use]
    pub fn with_store(store: Arc<dyn ResultStore>) -> Self {
        let stored = Arc::new(StoredResults::new(store));
        Self { stored, unpacking: Arc::new(Semaphore::new(IMAGES_AT_ONCE)) }
    }

    /// The limiter for the calls of one account, such as a client of a gateway: it reads only results that it
    /// stored itself.
    #[must_use]
    pub fn for_owner(&self, owner: Option<&Arc<str>>) -> Self {
        Self { stored: Arc::new(self.stored.for_owner(owner)), unpacking: Arc::clone(&self.unpacking) }
    }

    /// This limiter without the paths of stored results, for callers on other machines: they read them by handle.
    #[must_use]
    pub fn without_paths(&self) -> Self {
        Self { stored: Arc::new(self.stored.without_paths()), unpacking: Arc::clone(&self.unpacking) }
    }

    /// Removes stored results that earlier hosts left behind.
    pub fn remove_old_results(&self) -> impl Future<Output = ()> + Send + 'static {
        let store = Arc::clone(&self.stored.store);
        async move {
            // A failure does not matter: the next host tries again.
            let _broken = run_blocking(move || store.remove_old_results()).await;
        }
    }

    /// Shortens an outcome to the budget and stores the rest. `origin` names the tool it came from.
    pub async fn fit_outcome(&self, outcome: CallOutcome, budget: ResultBudget, origin: &str) -> CallOutcome {
        let has_binaries = binary::has_binary_parts(&outcome);
        let unpacking = Arc::clone(&self.unpacking);
        // `acquire_owned` fails only on a closed semaphore, and this one is never closed.
        let turn = if has_binaries { unpacking.acquire_owned().await.ok() } else { None };
        let (raw, is_error) = (outcome.raw.clone(), outcome.is_error);
        let (stored, origin) = (Arc::clone(&self.stored), origin.to_owned());
        let fitted = run_blocking(move || {
            // The permit is held until the work is done, even if the caller has given up: the memory is still
            // in use.
            let _turn = turn;
            let outcome = if has_binaries { stored.extract_binary_parts(outcome, &origin) } else { outcome };
            match spill::measure_excess(&outcome, budget) {
                Some(excess) => stored.spill_text(outcome, excess, &origin),
                None => outcome,
            }
        });
        fitted.await.unwrap_or_else(|| note::lost_outcome(raw, is_error))
    }

    /// Reads a part of a stored result for a call of the `ReadResult` tool; the text has at most `most`
    /// bytes.
    ///
    /// # Errors
    /// A [`ReadResultError`]; its message is meant for the model.
    pub async fn read_result(&self, arguments: &Value, most: usize) -> Result<String, ReadResultError> {
        read_stored_result(&self.stored, arguments, most).await
    }
}

/// Whether the outcome fits the budget as it is, without binary parts and without shortening.
#[must_use]
pub fn fits_budget(outcome: &CallOutcome, budget: ResultBudget) -> bool {
    !binary::has_binary_parts(outcome) && spill::is_within_budget(outcome, budget)
}

#[cfg(test)]
mod tests;
