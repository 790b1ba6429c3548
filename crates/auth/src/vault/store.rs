//! One vault on the disk: what every question and every change does, blocking.
//!
//! Reading takes no lock: the file is replaced as a whole. Keychains are asked before the file is locked, never
//! while it is, so that a slow desktop holds up nobody else.

use std::path::PathBuf;
use std::sync::Arc;

use mcparley_model::hex::Hex;
use mcparley_model::limits;
use mcparley_model::secret::Secret;
use mcparley_platform::file::{
    Change, LOCK_LIMIT, LockFile, check_private_folder, lock, read_private_bytes, update_private,
};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::book::{Book, Found, Record, Unreadable};
use super::cipher::{Binding, DataKey};
use super::keeper::{Keeper, Notice, Notices};
use super::keys::{Chosen, Keys};
use super::{Entry, EntryId, Expected, VaultError};

/// The folder with the vault, its locks and perhaps its key.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) folder: PathBuf,
    pub(super) keys: Keys,
    pub(super) notices: Arc<Notices>,
}

impl Store {
    pub(super) fn read(&self, id: &EntryId) -> Result<Option<Entry>, VaultError> {
        let book = self.book()?;
        self.open(&book, id, book.find(id))
    }

    pub(super) fn list(&self, kind: &str) -> Result<Vec<(EntryId, Entry)>, VaultError> {
        let book = self.book()?;
        let mut entries = Vec::new();
        for (id, found) in book.of_kind(kind) {
            match self.open(&book, id, found) {
                Ok(Some(entry)) => entries.push((id.clone(), entry)),
                Ok(None) => {}
                Err(VaultError::Damaged { id }) => self.notices.tell(Notice::DamagedEntry { id }),
                Err(error) => return Err(error),
            }
        }
        Ok(entries)
    }

    pub(super) fn write(
        &self,
        id: &EntryId,
        value: Secret<Vec<u8>>,
        expected: Expected,
    ) -> Result<u64, VaultError> {
        let value = Zeroizing::new(value.into_exposed());
        let book = self.book()?;
        if let Some(chosen) = self.key_for(&book, id) {
            let expectation = self.expectation(&book, id, expected);
            return self.put(id, &value, &chosen, expectation);
        }
        // Held until the file names the new key: of two first writers the second finds it.
        let _making = lock(&self.lock_path("key"), LOCK_LIMIT)?;
        let book = self.book()?;
        let chosen = self.key_for(&book, id).map_or_else(|| self.keys.make(), Ok)?;
        self.put(id, &value, &chosen, self.expectation(&book, id, expected))
    }

    pub(super) fn remove(&self, id: &EntryId, expected: Expected) -> Result<bool, VaultError> {
        let seen = self.book()?;
        let expectation = self.expectation(&seen, id, expected);
        let mut removed = false;
        self.update(|book| {
            expectation.check(book, id)?;
            removed = book.remove(id);
            Ok(removed)
        })?;
        Ok(removed)
    }

    pub(super) fn keeper(&self) -> Result<Keeper, VaultError> {
        self.keys.keeper(self.book()?.keys())
    }

    /// The lock of an entry.
    pub(super) fn lock_file(&self, id: &EntryId) -> Result<LockFile, VaultError> {
        check_private_folder(&self.folder)?;
        Ok(LockFile::new(self.lock_path(id.as_str())))
    }

    /// What the file says; nothing if there is none, or if it makes no sense.
    fn book(&self) -> Result<Book, VaultError> {
        check_private_folder(&self.folder)?;
        match read_private_bytes(&self.path(), limits::VAULT_BYTES)? {
            Some(bytes) => Ok(self.parse(&bytes)?.unwrap_or_default()),
            None => Ok(Book::default()),
        }
    }

    /// `None` if the bytes make no sense, or not all of them.
    fn parse(&self, bytes: &[u8]) -> Result<Option<Book>, VaultError> {
        let path = self.path();
        let parsed = match Book::parse(bytes) {
            Ok(book) if !book.is_cut() => return Ok(Some(book)),
            Ok(book) => Some(book),
            Err(Unreadable::NoVault) => None,
            Err(Unreadable::Newer(version)) => return Err(VaultError::Newer { path, version }),
        };
        self.notices.tell(Notice::DamagedFile { path });
        Ok(parsed)
    }

    fn open(&self, book: &Book, id: &EntryId, found: Found<'_>) -> Result<Option<Entry>, VaultError> {
        let record = match found {
            Found::Nothing => return Ok(None),
            Found::Damaged => return Err(VaultError::Damaged { id: id.clone() }),
            Found::Record(record) => record,
        };
        // The key is told about when it cannot be had; the entry is then as good as none.
        let Some(key) = self.key_of(book, record) else { return Ok(None) };
        match key.open(record.binding(), &record.sealed) {
            Some(value) => Ok(Some(Entry { generation: record.generation, value: Secret::new(value) })),
            None => Err(VaultError::Damaged { id: id.clone() }),
        }
    }

    fn key_of(&self, book: &Book, record: &Record) -> Option<DataKey> {
        let line = book.keys().iter().find(|line| line.id == record.key);
        // Should the key's own line be damaged, it is worth looking in every place.
        let unnamed = || self.keys.anywhere(&record.key);
        line.map_or_else(unnamed, |line| self.keys.find(line))
    }

    /// The key an entry has, or else the best of the vault's.
    fn key_for(&self, book: &Book, id: &EntryId) -> Option<Chosen> {
        if let Found::Record(record) = book.find(id)
            && let Some(line) = book.keys().iter().find(|line| line.id == record.key)
            && let Some(key) = self.keys.find(line)
        {
            return Some(Chosen { line: line.clone(), key });
        }
        self.keys.best(book.keys())
    }

    /// What must hold under the lock; whether an entry can be opened matters only to who expects none.
    fn expectation(&self, book: &Book, id: &EntryId, expected: Expected) -> Expectation {
        let found = book.find(id);
        let is_dead = || !matches!(self.open(book, id, found), Ok(Some(_)));
        let dead = (expected == Expected::Nothing && is_dead()).then(|| found.generation()).flatten();
        Expectation { expected, dead }
    }

    fn put(
        &self,
        id: &EntryId,
        value: &[u8],
        chosen: &Chosen,
        expectation: Expectation,
    ) -> Result<u64, VaultError> {
        let mut written = 0;
        self.update(|book| {
            expectation.check(book, id)?;
            let generation = book.next_generation();
            let sealed = chosen.key.seal(Binding { id, generation }, value)?;
            book.put(Record { id: id.clone(), generation, key: chosen.line.id.clone(), sealed });
            book.know(&chosen.line, limits::VAULT_KEYS);
            written = generation;
            Ok(true)
        })?;
        Ok(written)
    }

    /// Changes the file under its lock; `change` says whether it did something.
    fn update(&self, change: impl FnOnce(&mut Book) -> Result<bool, VaultError>) -> Result<(), VaultError> {
        let aside = update_private(&self.path(), limits::VAULT_BYTES, |old| {
            let parsed = old.map(|old| self.parse(old)).transpose()?.flatten();
            let is_damaged = old.is_some() && parsed.as_ref().is_none_or(Book::is_cut);
            let mut book = parsed.unwrap_or_default();
            if !change(&mut book)? {
                return Ok(Change::Keep);
            }
            let content = book.print();
            Ok(match old.filter(|_| is_damaged) {
                Some(old) => Change::SetAside { ending: format!(".damaged-{}", short_hash(old)), content },
                None => Change::Replace(content),
            })
        })
        .map_err(VaultError::from)?;
        if let Some(path) = aside {
            self.notices.tell(Notice::SetAside { path });
        }
        Ok(())
    }

    fn path(&self) -> PathBuf {
        self.folder.join("vault")
    }

    fn lock_path(&self, name: &str) -> PathBuf {
        self.folder.join("locks").join(short_hash(name.as_bytes()))
    }
}

/// What must hold for a change, made before the file is locked.
#[derive(Clone, Copy, Debug)]
struct Expectation {
    expected: Expected,
    /// The generation of an entry that could not be opened: to its reader there was nothing.
    dead: Option<u64>,
}

impl Expectation {
    fn check(self, book: &Book, id: &EntryId) -> Result<(), VaultError> {
        let found = book.find(id);
        let generation = found.generation();
        let holds = match (self.expected, found) {
            (Expected::Anything, _) | (Expected::Nothing, Found::Nothing | Found::Damaged) => true,
            (Expected::Nothing, Found::Record(record)) => self.dead == Some(record.generation),
            (Expected::Generation(wanted), _) => generation == Some(wanted),
        };
        holds.then_some(()).ok_or_else(|| VaultError::Changed { id: id.clone(), found: generation })
    }
}

impl Found<'_> {
    fn generation(&self) -> Option<u64> {
        match self {
            Self::Record(record) => Some(record.generation),
            Self::Nothing | Self::Damaged => None,
        }
    }
}

impl Record {
    fn binding(&self) -> Binding<'_> {
        Binding { id: &self.id, generation: self.generation }
    }
}

fn short_hash(bytes: &[u8]) -> String {
    Hex(Sha256::digest(bytes).get(..16).unwrap_or_default()).to_string()
}
