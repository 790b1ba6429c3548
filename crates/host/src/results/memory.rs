//! The store where there is no folder: results live as long as there is room, the oldest go first.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use mcparley_model::limits::MEMORY_RESULTS_BYTES;

use super::store::{Handle, Piece, ResultStore, StoreError};

/// Keeps results in memory.
#[derive(Debug)]
pub(crate) struct MemoryStore {
    shelf: Mutex<VecDeque<(Handle, Arc<[u8]>)>>,
    limit: u64,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::with_limit(MEMORY_RESULTS_BYTES)
    }
}

impl MemoryStore {
    /// With another limit for all it keeps.
    pub(crate) fn with_limit(limit: u64) -> Self {
        Self { shelf: Mutex::default(), limit }
    }
}

impl ResultStore for MemoryStore {
    fn keep(&self, piece: &Piece<'_>) -> Result<Option<PathBuf>, StoreError> {
        let limit = self.limit;
        if piece.bytes.len() as u64 > limit {
            return Err(StoreError::Crowded { limit });
        }
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.push_back((piece.handle.clone(), Arc::from(piece.bytes)));
        while shelf.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>() > limit {
            shelf.pop_front();
        }
        Ok(None)
    }

    fn read(&self, handle: &Handle, from: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        let shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, bytes) = shelf.iter().find(|(kept, _)| kept == handle).ok_or(StoreError::Gone)?;
        let rest = usize::try_from(from).ok().and_then(|from| bytes.get(from..)).unwrap_or_default();
        let length = rest.len().min(buffer.len());
        if let (Some(to), Some(rest)) = (buffer.get_mut(..length), rest.get(..length)) {
            to.copy_from_slice(rest);
        }
        Ok(length)
    }
}
