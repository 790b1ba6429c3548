//! The store that people have: one folder for each host, which others cannot look into (B99, B100).
//!
//! The folder is made when something is first kept in it, and held while the host lives, so that another host that
//! makes room leaves it alone.

use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use mcparley_model::limits::{RESULTS_AGE, RESULTS_BYTES, RESULTS_SESSIONS, SESSION_RESULTS_BYTES};
use mcparley_platform::file::{Allowance, Folder, FolderError, sweep};

use super::store::{Handle, Piece, ResultStore, StoreError};
use crate::chance;

/// Keeps results in files below a folder.
#[derive(Debug)]
pub(crate) struct FileStore {
    path: PathBuf,
    session: Mutex<Option<Session>>,
    limit: u64,
}

/// What one host keeps.
#[derive(Debug)]
struct Session {
    folder: Folder,
    /// The files, and how their names end.
    files: HashMap<Handle, &'static str>,
    used: u64,
}

impl FileStore {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, session: Mutex::default(), limit: SESSION_RESULTS_BYTES }
    }

    /// The same with another limit for all it keeps.
    #[cfg(test)]
    pub(crate) fn with_limit(path: PathBuf, limit: u64) -> Self {
        Self { limit, ..Self::new(path) }
    }
}

impl ResultStore for FileStore {
    fn keep(&self, piece: &Piece<'_>) -> Result<Option<PathBuf>, StoreError> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let known = match &mut *session {
            Some(known) => known,
            none => none.insert(Session::begin(&self.path)?),
        };
        if known.used.saturating_add(piece.bytes.len() as u64) > self.limit {
            return Err(StoreError::Crowded { limit: self.limit });
        }
        match known.keep(piece) {
            // A tidy person has removed the folder; what was in it is gone, what comes now need not be.
            Err(error) if error.is_missing() => session.insert(Session::begin(&self.path)?).keep(piece),
            kept => kept,
        }
        .map(Some)
        .map_err(StoreError::from)
    }

    fn read(&self, handle: &Handle, from: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        let mut file = {
            let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
            session.as_ref().ok_or(StoreError::Gone)?.open(handle)?
        };
        let read = file.seek(SeekFrom::Start(from)).and_then(|_| fill(&mut file, buffer));
        read.map_err(|error| StoreError::Other(Box::new(error)))
    }

    fn tidy(&self) {
        let allowed = Allowance { age: RESULTS_AGE, bytes: RESULTS_BYTES, folders: RESULTS_SESSIONS };
        sweep(&self.path, allowed);
    }
}

impl Session {
    fn begin(path: &Path) -> Result<Self, FolderError> {
        let above = Folder::open(path)?;
        let folder = above.make(&format!("session-{:016x}", chance::number()))?;
        // Nobody else can hold what was made a moment ago.
        folder.hold();
        Ok(Self { folder, files: HashMap::new(), used: 0 })
    }

    fn keep(&mut self, piece: &Piece<'_>) -> Result<PathBuf, FolderError> {
        let path = self.folder.write_new(&file_name(piece.handle, piece.extension), piece.bytes)?;
        self.files.insert(piece.handle.clone(), piece.extension);
        self.used += piece.bytes.len() as u64;
        Ok(path)
    }

    fn open(&self, handle: &Handle) -> Result<std::fs::File, StoreError> {
        let extension = self.files.get(handle).ok_or(StoreError::Gone)?;
        let opened = self.folder.read(&file_name(handle, extension)).map_err(FolderError::from);
        opened.map_err(|error| if error.is_missing() { StoreError::Gone } else { error.into() })
    }
}

fn file_name(handle: &Handle, extension: &str) -> String {
    format!("{handle}.{extension}")
}

/// Reads until the buffer is full or the file ends.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
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
