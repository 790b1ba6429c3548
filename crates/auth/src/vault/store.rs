//! The files of one vault: all reads and changes, as blocking calls.
//!
//! Reading takes no lock: the file is replaced atomically. Keychains are asked before the file is locked,
//! never while it is, so that a slow desktop blocks no other process.

use std::path::PathBuf;
use std::sync::Arc;

use mcparley_model::hex::Hex;
use mcparley_model::limits;
use mcparley_model::secret::Secret;
use mcparley_platform::file::{
    LOCK_LIMIT, LockFile, PrivateChange, acquire_lock, check_private_folder, read_private_bytes,
    update_private,
};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::cipher::{DataKey, SealBinding};
use super::file_format::{EntryLookup, SealedEntry, VaultFile, VaultFileError};
use super::key_location::{KeyLocation, VaultNotice, VaultNotices};
use super::keys::{ChosenKey, VaultKeys};
use super::{EntryId, ExpectedEntry, VaultEntry, VaultError};

/// The folder with the vault, its locks and perhaps its key.
#[derive(Debug)]
pub(super) struct VaultStore {
    pub(super) folder: PathBuf,
    pub(super) keys: VaultKeys,
    pub(super) notices: Arc<VaultNotices>,
}

impl VaultStore {
    pub(super) fn read_entry(&self, id: &EntryId) -> Result<Option<VaultEntry>, VaultError> {
        let book = self.load_file()?;
        self.open_entry(&book, id, book.find_entry(id))
    }

    pub(super) fn list_entries(&self, kind: &str) -> Result<Vec<(EntryId, VaultEntry)>, VaultError> {
        let book = self.load_file()?;
        let mut entries = Vec::new();
        for (id, found) in book.entries_of_kind(kind) {
            match self.open_entry(&book, id, found) {
                Ok(Some(entry)) => entries.push((id.clone(), entry)),
                Ok(None) => {}
                Err(VaultError::Damaged { id }) => self.notices.add_notice(VaultNotice::DamagedEntry { id }),
                Err(error) => return Err(error),
            }
        }
        Ok(entries)
    }

    pub(super) fn write_entry(
        &self,
        id: &EntryId,
        value: Secret<Vec<u8>>,
        expected: ExpectedEntry,
    ) -> Result<u64, VaultError> {
        let value = Zeroizing::new(value.into_exposed());
        let book = self.load_file()?;
        if let Some(chosen) = self.key_for_writing(&book, id) {
            let expectation = self.prepare_condition(&book, id, expected);
            return self.put_entry(id, &value, &chosen, expectation);
        }
        // Held until the file names the new key: of two concurrent first writers, the second finds it.
        let _making = acquire_lock(&self.lock_path("key"), LOCK_LIMIT)?;
        let book = self.load_file()?;
        let chosen = self.key_for_writing(&book, id).map_or_else(|| self.keys.create_key(), Ok)?;
        self.put_entry(id, &value, &chosen, self.prepare_condition(&book, id, expected))
    }

    pub(super) fn remove_entry(&self, id: &EntryId, expected: ExpectedEntry) -> Result<bool, VaultError> {
        let seen = self.load_file()?;
        let expectation = self.prepare_condition(&seen, id, expected);
        let mut removed = false;
        self.update_file(|book| {
            expectation.check_entry(book, id)?;
            removed = book.remove_entry(id);
            Ok(removed)
        })?;
        Ok(removed)
    }

    pub(super) fn key_location(&self) -> Result<KeyLocation, VaultError> {
        self.keys.key_location(self.load_file()?.keys())
    }

    /// The lock file of an entry.
    pub(super) fn lock_file(&self, id: &EntryId) -> Result<LockFile, VaultError> {
        check_private_folder(&self.folder)?;
        Ok(LockFile::new(self.lock_path(id.as_str())))
    }

    /// Loads the file; empty if there is none, or if it cannot be parsed.
    fn load_file(&self) -> Result<VaultFile, VaultError> {
        check_private_folder(&self.folder)?;
        match read_private_bytes(&self.file_path(), limits::VAULT_BYTES)? {
            Some(bytes) => Ok(self.parse_file(&bytes)?.unwrap_or_default()),
            None => Ok(VaultFile::default()),
        }
    }

    /// Parses the file; `None` if it is no vault. A damaged or truncated file is reported by a notice.
    fn parse_file(&self, bytes: &[u8]) -> Result<Option<VaultFile>, VaultError> {
        let path = self.file_path();
        let parsed = match VaultFile::parse(bytes) {
            Ok(book) if !book.is_truncated() => return Ok(Some(book)),
            Ok(book) => Some(book),
            Err(VaultFileError::NoVault) => None,
            Err(VaultFileError::Newer(version)) => return Err(VaultError::Newer { path, version }),
        };
        self.notices.add_notice(VaultNotice::DamagedFile { path });
        Ok(parsed)
    }

    fn open_entry(
        &self,
        book: &VaultFile,
        id: &EntryId,
        found: EntryLookup<'_>,
    ) -> Result<Option<VaultEntry>, VaultError> {
        let record = match found {
            EntryLookup::Absent => return Ok(None),
            EntryLookup::Damaged => return Err(VaultError::Damaged { id: id.clone() }),
            EntryLookup::Record(record) => record,
        };
        // A missing key is reported by a notice; the entry then counts as absent.
        let Some(key) = self.key_of_entry(book, record) else { return Ok(None) };
        match key.open_value(record.binding(), &record.sealed) {
            Some(value) => Ok(Some(VaultEntry { generation: record.generation, value: Secret::new(value) })),
            None => Err(VaultError::Damaged { id: id.clone() }),
        }
    }

    fn key_of_entry(&self, book: &VaultFile, record: &SealedEntry) -> Option<DataKey> {
        let line = book.keys().iter().find(|line| line.id == record.key);
        // If the key's own line is damaged, all places are searched.
        let unnamed = || self.keys.search_everywhere(&record.key);
        line.map_or_else(unnamed, |line| self.keys.find_key(line))
    }

    /// The key of an existing entry, or else the best key of the vault.
    fn key_for_writing(&self, book: &VaultFile, id: &EntryId) -> Option<ChosenKey> {
        if let EntryLookup::Record(record) = book.find_entry(id)
            && let Some(line) = book.keys().iter().find(|line| line.id == record.key)
            && let Some(key) = self.keys.find_key(line)
        {
            return Some(ChosenKey { line: line.clone(), key });
        }
        self.keys.best_key(book.keys())
    }

    /// Prepares the check to be made under the lock; whether an entry can be decrypted matters only to a
    /// caller that expects none.
    fn prepare_condition(&self, book: &VaultFile, id: &EntryId, expected: ExpectedEntry) -> EntryCondition {
        let found = book.find_entry(id);
        let is_dead = || !matches!(self.open_entry(book, id, found), Ok(Some(_)));
        let dead = (expected == ExpectedEntry::Absent && is_dead()).then(|| found.generation()).flatten();
        EntryCondition { expected, unreadable_generation: dead }
    }

    fn put_entry(
        &self,
        id: &EntryId,
        value: &[u8],
        chosen: &ChosenKey,
        expectation: EntryCondition,
    ) -> Result<u64, VaultError> {
        let mut written = 0;
        self.update_file(|book| {
            expectation.check_entry(book, id)?;
            let generation = book.next_generation();
            let sealed = chosen.key.seal_value(SealBinding { id, generation }, value)?;
            book.put_entry(SealedEntry { id: id.clone(), generation, key: chosen.line.id.clone(), sealed });
            book.remember_key(&chosen.line, limits::VAULT_KEYS);
            written = generation;
            Ok(true)
        })?;
        Ok(written)
    }

    /// Changes the file under its lock; `change` returns whether it changed anything.
    fn update_file(
        &self,
        change: impl FnOnce(&mut VaultFile) -> Result<bool, VaultError>,
    ) -> Result<(), VaultError> {
        let aside = update_private(&self.file_path(), limits::VAULT_BYTES, |old| {
            let parsed = old.map(|old| self.parse_file(old)).transpose()?.flatten();
            let is_damaged = old.is_some() && parsed.as_ref().is_none_or(VaultFile::is_truncated);
            let mut book = parsed.unwrap_or_default();
            if !change(&mut book)? {
                return Ok(PrivateChange::Keep);
            }
            let content = book.to_bytes();
            Ok(match old.filter(|_| is_damaged) {
                Some(old) => {
                    PrivateChange::SetAside { ending: format!(".damaged-{}", short_hash(old)), content }
                }
                None => PrivateChange::Replace(content),
            })
        })
        .map_err(VaultError::from)?;
        if let Some(path) = aside {
            self.notices.add_notice(VaultNotice::SetAside { path });
        }
        Ok(())
    }

    fn file_path(&self) -> PathBuf {
        self.folder.join("vault")
    }

    fn lock_path(&self, name: &str) -> PathBuf {
        self.folder.join("locks").join(short_hash(name.as_bytes()))
    }
}

/// The condition of a change, prepared before the file is locked.
#[derive(Clone, Copy, Debug)]
struct EntryCondition {
    expected: ExpectedEntry,
    /// The generation of an entry that could not be decrypted: its reader saw no entry.
    unreadable_generation: Option<u64>,
}

impl EntryCondition {
    fn check_entry(self, book: &VaultFile, id: &EntryId) -> Result<(), VaultError> {
        let found = book.find_entry(id);
        let generation = found.generation();
        let holds = match (self.expected, found) {
            (ExpectedEntry::Any, _) | (ExpectedEntry::Absent, EntryLookup::Absent | EntryLookup::Damaged) => {
                true
            }
            (ExpectedEntry::Absent, EntryLookup::Record(record)) => {
                self.unreadable_generation == Some(record.generation)
            }
            (ExpectedEntry::Generation(wanted), _) => generation == Some(wanted),
        };
        holds.then_some(()).ok_or_else(|| VaultError::Changed { id: id.clone(), found: generation })
    }
}

impl EntryLookup<'_> {
    fn generation(&self) -> Option<u64> {
        match self {
            Self::Record(record) => Some(record.generation),
            Self::Absent | Self::Damaged => None,
        }
    }
}

impl SealedEntry {
    fn binding(&self) -> SealBinding<'_> {
        SealBinding { id: &self.id, generation: self.generation }
    }
}

fn short_hash(bytes: &[u8]) -> String {
    Hex(Sha256::digest(bytes).get(..16).unwrap_or_default()).to_string()
}
