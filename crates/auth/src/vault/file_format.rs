//! The format of the vault's file, line by line.
//!
//! ```text
//! mcparley-vault 1
//! count 17
//! key <id of a data key> <its place>
//! entry <name> <generation> <id of its key> <nonce and ciphertext in base64>
//! end
//! ```
//!
//! A line format, so that damage costs one entry and not all of them: unknown lines are preserved byte for
//! byte and otherwise ignored. The last line shows that the file was not truncated.

use super::EntryId;
use super::cipher::KeyId;

const TITLE: &str = "mcparley-vault";
const VERSION: u64 = 1;
const END: &[u8] = b"end";

/// The content of the vault's file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct VaultFile {
    count: u64,
    keys: Vec<KeyLine>,
    lines: Vec<VaultLine>,
    is_truncated: bool,
}

/// A data key that the file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyLine {
    pub(super) id: KeyId,
    /// The name of its place; a place unknown to this version cannot be used.
    pub(super) keeper: String,
}

/// One encrypted entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SealedEntry {
    pub(super) id: EntryId,
    pub(super) generation: u64,
    pub(super) key: KeyId,
    pub(super) sealed: String,
}

/// The result of looking up an entry.
#[derive(Clone, Copy, Debug)]
pub(super) enum EntryLookup<'book> {
    Absent,
    Record(&'book SealedEntry),
    /// Its line is damaged.
    Damaged,
}

/// The reason why the file cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VaultFileError {
    /// The file is no vault, or its first line is damaged.
    NoVault,
    /// The file was written by a later version of the program.
    Newer(u64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum VaultLine {
    Record(SealedEntry),
    Damaged { id: EntryId, bytes: Vec<u8> },
    Unknown(Vec<u8>),
}

impl VaultFile {
    /// Parses the bytes of the file.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, VaultFileError> {
        let mut lines = bytes.split(|byte| *byte == b'\n');
        check_version(lines.next().unwrap_or_default())?;
        let mut book = Self { is_truncated: true, ..Self::default() };
        for line in lines.filter(|line| !line.is_empty()) {
            if line == END {
                book.is_truncated = false;
            } else {
                book.parse_line(line);
            }
        }
        Ok(book)
    }

    /// The bytes of the file.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = format!("{TITLE} {VERSION}\ncount {}\n", self.count).into_bytes();
        for KeyLine { id, keeper } in &self.keys {
            out.extend_from_slice(format!("key {id} {keeper}\n").as_bytes());
        }
        for line in &self.lines {
            match line {
                VaultLine::Record(record) => out.extend_from_slice(record.to_line().as_bytes()),
                VaultLine::Damaged { bytes, .. } | VaultLine::Unknown(bytes) => out.extend_from_slice(bytes),
            }
            out.push(b'\n');
        }
        out.extend_from_slice(END);
        out.push(b'\n');
        out
    }

    /// Whether the end of the file is missing.
    pub(super) fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// The keys the file names, the oldest first.
    pub(super) fn keys(&self) -> &[KeyLine] {
        &self.keys
    }

    /// Looks up the entry `id`.
    pub(super) fn find_entry(&self, id: &EntryId) -> EntryLookup<'_> {
        let of_id = |line: &&VaultLine| line.id() == Some(id);
        match self.lines.iter().find(of_id) {
            Some(VaultLine::Record(record)) => EntryLookup::Record(record),
            Some(VaultLine::Damaged { .. }) => EntryLookup::Damaged,
            Some(VaultLine::Unknown(_)) | None => EntryLookup::Absent,
        }
    }

    /// Every entry of `kind`.
    pub(super) fn entries_of_kind(&self, kind: &str) -> impl Iterator<Item = (&EntryId, EntryLookup<'_>)> {
        let ids = self.lines.iter().filter_map(VaultLine::id).filter(move |id| id.kind() == kind);
        ids.map(|id| (id, self.find_entry(id)))
    }

    /// The next generation: never one that was used before, even by an entry that is gone.
    pub(super) fn next_generation(&mut self) -> u64 {
        let given = self.lines.iter().filter_map(VaultLine::generation).max().unwrap_or(0);
        self.count = self.count.max(given).saturating_add(1);
        self.count
    }

    /// Puts an entry in the place of the one with its name.
    pub(super) fn put_entry(&mut self, record: SealedEntry) {
        let at = self.lines.iter().position(|line| line.id() == Some(&record.id));
        self.remove_entry(&record.id);
        let at = at.unwrap_or(self.lines.len());
        self.lines.insert(at, VaultLine::Record(record));
    }

    /// Removes every line of `id`; returns whether there was one.
    pub(super) fn remove_entry(&mut self, id: &EntryId) -> bool {
        let before = self.lines.len();
        self.lines.retain(|line| line.id() != Some(id));
        self.lines.len() < before
    }

    /// Adds the key if it is missing, and drops keys without entries when there are more than `most`.
    pub(super) fn remember_key(&mut self, key: &KeyLine, most: usize) {
        if !self.keys.iter().any(|known| known.id == key.id) {
            self.keys.push(key.clone());
        }
        let needed = |id: &KeyId| self.lines.iter().any(|line| line.key() == Some(id));
        if self.keys.len() > most {
            let kept = self.keys.iter().filter(|known| known.id == key.id || needed(&known.id));
            self.keys = kept.cloned().collect();
        }
    }

    fn parse_line(&mut self, line: &[u8]) {
        let words: Vec<Option<&str>> =
            line.split(|byte| *byte == b' ').map(|word| std::str::from_utf8(word).ok()).collect();
        let taken = match words.as_slice() {
            [Some("count"), Some(count)] => count.parse().ok().map(|count| self.count = count),
            [Some("key"), Some(id), Some(keeper)] => self.parse_key_line(id, keeper),
            [Some("entry"), Some(id), rest @ ..] => self.parse_entry_line(id, rest, line),
            _ => None,
        };
        if taken.is_none() {
            self.lines.push(VaultLine::Unknown(line.to_owned()));
        }
    }

    fn parse_key_line(&mut self, id: &str, keeper: &str) -> Option<()> {
        let id = KeyId::from_file(id)?;
        self.keys.push(KeyLine { id, keeper: keeper.to_owned() });
        Some(())
    }

    fn parse_entry_line(&mut self, id: &str, rest: &[Option<&str>], line: &[u8]) -> Option<()> {
        let id = EntryId::from_file(id)?;
        let record = SealedEntry::parse(&id, rest).map(VaultLine::Record);
        self.lines.push(record.unwrap_or_else(|| VaultLine::Damaged { id, bytes: line.to_owned() }));
        Some(())
    }
}

impl SealedEntry {
    fn parse(id: &EntryId, words: &[Option<&str>]) -> Option<Self> {
        let [Some(generation), Some(key), Some(sealed)] = words else { return None };
        let (generation, key) = (generation.parse().ok()?, KeyId::from_file(key)?);
        Some(Self { id: id.clone(), generation, key, sealed: (*sealed).to_owned() })
    }

    fn to_line(&self) -> String {
        let Self { id, generation, key, sealed } = self;
        format!("entry {id} {generation} {key} {sealed}")
    }
}

impl VaultLine {
    fn id(&self) -> Option<&EntryId> {
        match self {
            Self::Record(record) => Some(&record.id),
            Self::Damaged { id, .. } => Some(id),
            Self::Unknown(_) => None,
        }
    }

    fn key(&self) -> Option<&KeyId> {
        match self {
            Self::Record(record) => Some(&record.key),
            Self::Damaged { .. } | Self::Unknown(_) => None,
        }
    }

    fn generation(&self) -> Option<u64> {
        match self {
            Self::Record(record) => Some(record.generation),
            Self::Damaged { .. } | Self::Unknown(_) => None,
        }
    }
}

fn check_version(line: &[u8]) -> Result<(), VaultFileError> {
    let line = std::str::from_utf8(line).map_err(|_| VaultFileError::NoVault)?;
    let version = line.strip_prefix(TITLE).and_then(|rest| rest.trim_start().parse().ok());
    match version {
        Some(VERSION) => Ok(()),
        Some(newer) if newer > VERSION => Err(VaultFileError::Newer(newer)),
        Some(_) | None => Err(VaultFileError::NoVault),
    }
}
