//! In-memory result store, used where no folder is configured. When it is full, the oldest results are
//! evicted.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use mcparley_model::limits::MEMORY_RESULTS_BYTES;

use crate::store::{ResultHandle, ResultPayload, ResultStore, StoreError};

/// Stores results in memory and evicts the oldest ones above its limit.
#[derive(Debug)]
pub(crate) struct MemoryStore {
    entries: Mutex<VecDeque<(ResultHandle, Arc<[u8]>)>>,
    limit: u64,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::with_limit(MEMORY_RESULTS_BYTES)
    }
}

impl MemoryStore {
    /// A store with a limit for the bytes of all its results.
    pub(crate) fn with_limit(limit: u64) -> Self {
        Self { entries: Mutex::default(), limit }
    }
}

impl ResultStore for MemoryStore {
    fn store_result(&self, piece: &ResultPayload<'_>) -> Result<Option<PathBuf>, StoreError> {
        let limit = self.limit;
        if piece.bytes.len() as u64 > limit {
            return Err(StoreError::Full { limit });
        }
        let mut shelf = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.push_back((piece.handle.clone(), Arc::from(piece.bytes)));
        while shelf.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>() > limit {
            shelf.pop_front();
        }
        Ok(None)
    }

    fn read_bytes(&self, handle: &ResultHandle, from: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        let shelf = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, bytes) = shelf.iter().find(|(kept, _)| kept == handle).ok_or(StoreError::NotFound)?;
        let rest = usize::try_from(from).ok().and_then(|from| bytes.get(from..)).unwrap_or_default();
        let length = rest.len().min(buffer.len());
        if let (Some(to), Some(rest)) = (buffer.get_mut(..length), rest.get(..length)) {
            to.copy_from_slice(rest);
        }
        Ok(length)
    }
}
