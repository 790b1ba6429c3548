//! The entries of a catalogue in their order, found by name and by tool.
//!
//! The tables hold places and no names: the entries have those already, and there may be thousands.

use std::hash::{BuildHasher as _, RandomState};
use std::ops::Deref;
use std::sync::Arc;

use hashbrown::HashTable;
use mcparley_model::name::{ServerName, ToolName};

use super::Entry;

/// All entries, in the order a model is shown them.
#[derive(Debug, Default)]
pub(super) struct Entries {
    ordered: Vec<Arc<Entry>>,
    by_name: HashTable<u32>,
    /// Those that a server answers.
    by_tool: HashTable<u32>,
    /// Names are strangers' words: nobody shall know which of them meet in a table.
    hasher: RandomState,
}

impl Entries {
    pub(super) fn new(mut ordered: Vec<Arc<Entry>>) -> Self {
        ordered.shrink_to_fit();
        let hasher = RandomState::new();
        let by_name = table(&ordered, |entry| Some(hasher.hash_one(entry.name.as_str())));
        let by_tool = table(&ordered, |entry| Some(hasher.hash_one((entry.server()?, &entry.tool.name))));
        Self { ordered, by_name, by_tool, hasher }
    }

    /// The entry of a public name.
    pub(super) fn named(&self, name: &str) -> Option<&Arc<Entry>> {
        let is_it = |entry: &Entry| entry.name.as_str() == name;
        self.find(&self.by_name, self.hasher.hash_one(name), is_it)
    }

    /// The entry of a server's tool.
    pub(super) fn of(&self, server: &ServerName, tool: &ToolName) -> Option<&Arc<Entry>> {
        let is_it = |entry: &Entry| entry.tool.name == *tool && entry.server() == Some(server);
        self.find(&self.by_tool, self.hasher.hash_one((server, tool)), is_it)
    }

    fn find(&self, table: &HashTable<u32>, hash: u64, is_it: impl Fn(&Entry) -> bool) -> Option<&Arc<Entry>> {
        let found = table.find(hash, |place| at(&self.ordered, *place).is_some_and(|entry| is_it(entry)));
        at(&self.ordered, *found?)
    }
}

impl Deref for Entries {
    type Target = [Arc<Entry>];

    fn deref(&self) -> &Self::Target {
        &self.ordered
    }
}

/// The places of the entries that have a hash.
fn table(entries: &[Arc<Entry>], hash: impl Fn(&Entry) -> Option<u64>) -> HashTable<u32> {
    let mut table = HashTable::with_capacity(entries.len());
    for (place, entry) in (0..).zip(entries) {
        if let Some(hashed) = hash(entry) {
            let again = |place: &u32| at(entries, *place).and_then(|entry| hash(entry)).unwrap_or_default();
            table.insert_unique(hashed, place, again);
        }
    }
    table
}

fn at(entries: &[Arc<Entry>], place: u32) -> Option<&Arc<Entry>> {
    entries.get(usize::try_from(place).ok()?)
}
