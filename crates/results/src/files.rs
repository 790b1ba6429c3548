//! File-based result store, the default: one private folder per host, readable only by its owner.
//!
//! The folder is created with the first stored result and locked while the host lives, so that another host
//! that removes old results does not delete it.

use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use mcparley_model::limits::{RESULTS_AGE, RESULTS_BYTES, RESULTS_SESSIONS, SESSION_RESULTS_BYTES};
use mcparley_platform::file::{PrivateFolder, PrivateFolderError, SweepLimits, sweep_leftover_folders};
use mcparley_platform::random::random_number;

use crate::store::{ResultHandle, ResultPayload, ResultStore, StoreError};

/// Stores results as files below a folder.
#[derive(Debug)]
pub(crate) struct FileStore {
    path: PathBuf,
    session: Mutex<Option<SessionFolder>>,
    limit: u64,
}

/// The folder with the stored results of one host.
#[derive(Debug)]
struct SessionFolder {
    folder: PrivateFolder,
    /// The stored files and their extensions.
    files: HashMap<ResultHandle, &'static str>,
    used: u64,
}

impl FileStore {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, session: Mutex::default(), limit: SESSION_RESULTS_BYTES }
    }

    /// A store with another limit for the bytes of one session.
    #[cfg(test)]
    pub(crate) fn with_limit(path: PathBuf, limit: u64) -> Self {
        Self { limit, ..Self::new(path) }
    }
}

impl ResultStore for FileStore {
    fn store_result(&self, piece: &ResultPayload<'_>) -> Result<Option<PathBuf>, StoreError> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let known = match &mut *session {
            Some(known) => known,
            none => none.insert(SessionFolder::create_below(&self.path)?),
        };
        if known.used.saturating_add(piece.bytes.len() as u64) > self.limit {
            return Err(StoreError::Full { limit: self.limit });
        }
        match known.write_result(piece) {
            // The user has deleted the folder: its results are lost, but new ones can go to a new folder.
            Err(error) if error.is_missing() => {
                session.insert(SessionFolder::create_below(&self.path)?).write_result(piece)
            }
            kept => kept,
        }
        .map(Some)
        .map_err(StoreError::from)
    }

    fn read_bytes(&self, handle: &ResultHandle, from: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        let mut file = {
            let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
            session.as_ref().ok_or(StoreError::NotFound)?.open_result(handle)?
        };
        let read = file.seek(SeekFrom::Start(from)).and_then(|_| fill_buffer(&mut file, buffer));
        read.map_err(|error| StoreError::Other(Box::new(error)))
    }

    fn remove_old_results(&self) {
        let allowed = SweepLimits { age: RESULTS_AGE, bytes: RESULTS_BYTES, folders: RESULTS_SESSIONS };
        sweep_leftover_folders(&self.path, allowed);
    }
}

impl SessionFolder {
    /// Creates and locks a session folder with a random name below `path`.
    fn create_below(path: &Path) -> Result<Self, PrivateFolderError> {
        let above = PrivateFolder::open(path)?;
        let folder = above.create_subfolder(&format!("session-{:016x}", random_number()))?;
        // The lock cannot be taken already: no other process knows the new folder.
        folder.try_lock();
        Ok(Self { folder, files: HashMap::new(), used: 0 })
    }

    /// Writes a result to a new file and counts its bytes.
    fn write_result(&mut self, piece: &ResultPayload<'_>) -> Result<PathBuf, PrivateFolderError> {
        let path = self.folder.write_new(&file_name(piece.handle, piece.extension), piece.bytes)?;
        self.files.insert(piece.handle.clone(), piece.extension);
        self.used += piece.bytes.len() as u64;
        Ok(path)
    }

    /// Opens the file of a stored result for reading.
    fn open_result(&self, handle: &ResultHandle) -> Result<std::fs::File, StoreError> {
        let extension = self.files.get(handle).ok_or(StoreError::NotFound)?;
        let opened = self.folder.open_file(&file_name(handle, extension)).map_err(PrivateFolderError::from);
        opened.map_err(|error| if error.is_missing() { StoreError::NotFound } else { error.into() })
    }
}

fn file_name(handle: &ResultHandle, extension: &str) -> String {
    format!("{handle}.{extension}")
}

/// Reads until the buffer is full or the file ends.
fn fill_buffer(file: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest)? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests;
