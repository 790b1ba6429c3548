//! What stands in the vault's file, line by line.
//!
//! ```text
//! mcparley-vault 1
//! count 17
//! key <id of a data key> <where it is kept>
//! entry <name> <generation> <id of its key> <nonce and ciphertext in base64>
//! end
//! ```
//!
//! Lines, so that damage costs one entry and not all of them: what cannot be understood is carried along,
//! byte for byte, and stands in nobody's way. The last line tells a whole file from one that was cut off.

use super::EntryId;
use super::cipher::KeyId;

const TITLE: &str = "mcparley-vault";
const VERSION: u64 = 1;
const END: &[u8] = b"end";

/// The content of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Book {
    count: u64,
    keys: Vec<KeyLine>,
    lines: Vec<Line>,
    is_cut: bool,
}

/// A data key the vault knows of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyLine {
    pub(super) id: KeyId,
    /// The name of its keeper; one this version does not know is out of reach.
    pub(super) keeper: String,
}

/// One sealed entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) id: EntryId,
    pub(super) generation: u64,
    pub(super) key: KeyId,
    pub(super) sealed: String,
}

/// What the file says about a name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found<'book> {
    Nothing,
    Record(&'book Record),
    /// There is a line for it that makes no sense.
    Damaged,
}

/// Why there is nothing to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It is no vault, or its first line is damaged.
    NoVault,
    /// It was written by a later version of the program.
    Newer(u64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Line {
    Record(Record),
    Damaged { id: EntryId, bytes: Vec<u8> },
    Strange(Vec<u8>),
}

impl Book {
    /// Reads the file's bytes.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Unreadable> {
        let mut lines = bytes.split(|byte| *byte == b'\n');
        version(lines.next().unwrap_or_default())?;
        let mut book = Self { is_cut: true, ..Self::default() };
        for line in lines.filter(|line| !line.is_empty()) {
            if line == END {
                book.is_cut = false;
            } else {
                book.take(line);
            }
        }
        Ok(book)
    }

    /// The file's bytes.
    pub(super) fn print(&self) -> Vec<u8> {
        let mut out = format!("{TITLE} {VERSION}\ncount {}\n", self.count).into_bytes();
        for KeyLine { id, keeper } in &self.keys {
            out.extend_from_slice(format!("key {id} {keeper}\n").as_bytes());
        }
        for line in &self.lines {
            match line {
                Line::Record(record) => out.extend_from_slice(record.print().as_bytes()),
                Line::Damaged { bytes, .. } | Line::Strange(bytes) => out.extend_from_slice(bytes),
            }
            out.push(b'\n');
        }
        out.extend_from_slice(END);
        out.push(b'\n');
        out
    }

    /// Whether the end of the file is missing.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The keys the file knows of, the first known first.
    pub(super) fn keys(&self) -> &[KeyLine] {
        &self.keys
    }

    /// What the file says about `id`.
    pub(super) fn find(&self, id: &EntryId) -> Found<'_> {
        let of_id = |line: &&Line| line.id() == Some(id);
        match self.lines.iter().find(of_id) {
            Some(Line::Record(record)) => Found::Record(record),
            Some(Line::Damaged { .. }) => Found::Damaged,
            Some(Line::Strange(_)) | None => Found::Nothing,
        }
    }

    /// Every name of `kind` and what the file says about it.
    pub(super) fn of_kind(&self, kind: &str) -> impl Iterator<Item = (&EntryId, Found<'_>)> {
        let ids = self.lines.iter().filter_map(Line::id).filter(move |id| id.kind() == kind);
        ids.map(|id| (id, self.find(id)))
    }

    /// The next generation: never one that was given before, not even to an entry that is gone.
    pub(super) fn next_generation(&mut self) -> u64 {
        let given = self.lines.iter().filter_map(Line::generation).max().unwrap_or(0);
        self.count = self.count.max(given).saturating_add(1);
        self.count
    }

    /// Puts the record in the place of what the file says about its name.
    pub(super) fn put(&mut self, record: Record) {
        let at = self.lines.iter().position(|line| line.id() == Some(&record.id));
        self.remove(&record.id);
        let at = at.unwrap_or(self.lines.len());
        self.lines.insert(at, Line::Record(record));
    }

    /// Forgets everything about `id`; whether there was something.
    pub(super) fn remove(&mut self, id: &EntryId) -> bool {
        let before = self.lines.len();
        self.lines.retain(|line| line.id() != Some(id));
        self.lines.len() < before
    }

    /// Sees to it that the key is known, and drops keys without entries when there are more than `most`.
    pub(super) fn know(&mut self, key: &KeyLine, most: usize) {
        if !self.keys.iter().any(|known| known.id == key.id) {
            self.keys.push(key.clone());
        }
        let needed = |id: &KeyId| self.lines.iter().any(|line| line.key() == Some(id));
        if self.keys.len() > most {
            let kept = self.keys.iter().filter(|known| known.id == key.id || needed(&known.id));
            self.keys = kept.cloned().collect();
        }
    }

    fn take(&mut self, line: &[u8]) {
        let words: Vec<Option<&str>> =
            line.split(|byte| *byte == b' ').map(|word| std::str::from_utf8(word).ok()).collect();
        let taken = match words.as_slice() {
            [Some("count"), Some(count)] => count.parse().ok().map(|count| self.count = count),
            [Some("key"), Some(id), Some(keeper)] => self.take_key(id, keeper),
            [Some("entry"), Some(id), rest @ ..] => self.take_entry(id, rest, line),
            _ => None,
        };
        if taken.is_none() {
            self.lines.push(Line::Strange(line.to_owned()));
        }
    }

    fn take_key(&mut self, id: &str, keeper: &str) -> Option<()> {
        let id = KeyId::from_file(id)?;
        self.keys.push(KeyLine { id, keeper: keeper.to_owned() });
        Some(())
    }

    fn take_entry(&mut self, id: &str, rest: &[Option<&str>], line: &[u8]) -> Option<()> {
        let id = EntryId::from_file(id)?;
        let record = Record::parse(&id, rest).map(Line::Record);
        self.lines.push(record.unwrap_or_else(|| Line::Damaged { id, bytes: line.to_owned() }));
        Some(())
    }
}

impl Record {
    fn parse(id: &EntryId, words: &[Option<&str>]) -> Option<Self> {
        let [Some(generation), Some(key), Some(sealed)] = words else { return None };
        let (generation, key) = (generation.parse().ok()?, KeyId::from_file(key)?);
        Some(Self { id: id.clone(), generation, key, sealed: (*sealed).to_owned() })
    }

    fn print(&self) -> String {
        let Self { id, generation, key, sealed } = self;
        format!("entry {id} {generation} {key} {sealed}")
    }
}

impl Line {
    fn id(&self) -> Option<&EntryId> {
        match self {
            Self::Record(record) => Some(&record.id),
            Self::Damaged { id, .. } => Some(id),
            Self::Strange(_) => None,
        }
    }

    fn key(&self) -> Option<&KeyId> {
        match self {
            Self::Record(record) => Some(&record.key),
            Self::Damaged { .. } | Self::Strange(_) => None,
        }
    }

    fn generation(&self) -> Option<u64> {
        match self {
            Self::Record(record) => Some(record.generation),
            Self::Damaged { .. } | Self::Strange(_) => None,
        }
    }
}

fn version(line: &[u8]) -> Result<(), Unreadable> {
    let line = std::str::from_utf8(line).map_err(|_| Unreadable::NoVault)?;
    let version = line.strip_prefix(TITLE).and_then(|rest| rest.trim_start().parse().ok());
    match version {
        Some(VERSION) => Ok(()),
        Some(newer) if newer > VERSION => Err(Unreadable::Newer(newer)),
        Some(_) | None => Err(Unreadable::NoVault),
    }
}
