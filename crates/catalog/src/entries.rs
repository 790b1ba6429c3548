//! Entry table: the entries of a catalog in order, with lookup by name and by tool.
//!
//! The hash tables store positions instead of names, because there may be thousands of entries.

use std::hash::{BuildHasher as _, RandomState};
use std::ops::Deref;
use std::sync::Arc;

use hashbrown::HashTable;
use mcparley_model::name::{ServerName, ToolName};

use crate::entry::CatalogEntry;

/// All entries, in the order of a model's list.
#[derive(Debug, Default)]
pub(crate) struct EntryTable {
    ordered: Vec<Arc<CatalogEntry>>,
    by_name: HashTable<u32>,
    /// The entries of servers' tools.
    by_tool: HashTable<u32>,
    /// The hasher has random keys: names are untrusted and must not be able to force collisions.
    hasher: RandomState,
}

impl EntryTable {
    pub(crate) fn new(mut ordered: Vec<Arc<CatalogEntry>>) -> Self {
        ordered.shrink_to_fit();
        let hasher = RandomState::new();
        let by_name = build_table(&ordered, |entry| Some(hasher.hash_one(entry.name.as_str())));
        let by_tool =
            build_table(&ordered, |entry| Some(hasher.hash_one((entry.server()?, &entry.tool.name))));
        Self { ordered, by_name, by_tool, hasher }
    }

    /// The entry of a public name.
    pub(crate) fn find_by_name(&self, name: &str) -> Option<&Arc<CatalogEntry>> {
        let is_it = |entry: &CatalogEntry| entry.name.as_str() == name;
        self.find_entry(&self.by_name, self.hasher.hash_one(name), is_it)
    }

    /// The entry of a server's tool.
    pub(crate) fn find_by_tool(&self, server: &ServerName, tool: &ToolName) -> Option<&Arc<CatalogEntry>> {
        let is_it = |entry: &CatalogEntry| entry.tool.name == *tool && entry.server() == Some(server);
        self.find_entry(&self.by_tool, self.hasher.hash_one((server, tool)), is_it)
    }

    fn find_entry(
        &self,
        table: &HashTable<u32>,
        hash: u64,
        is_it: impl Fn(&CatalogEntry) -> bool,
    ) -> Option<&Arc<CatalogEntry>> {
        let found =
            table.find(hash, |place| entry_at(&self.ordered, *place).is_some_and(|entry| is_it(entry)));
        entry_at(&self.ordered, *found?)
    }
}

impl Deref for EntryTable {
    type Target = [Arc<CatalogEntry>];

    fn deref(&self) -> &Self::Target {
        &self.ordered
    }
}

/// The positions of the entries that have a hash.
fn build_table(entries: &[Arc<CatalogEntry>], hash: impl Fn(&CatalogEntry) -> Option<u64>) -> HashTable<u32> {
    let mut table = HashTable::with_capacity(entries.len());
    for (place, entry) in (0..).zip(entries) {
        if let Some(hashed) = hash(entry) {
            let again =
                |place: &u32| entry_at(entries, *place).and_then(|entry| hash(entry)).unwrap_or_default();
            table.insert_unique(hashed, place, again);
        }
    }
    table
}

fn entry_at(entries: &[Arc<CatalogEntry>], place: u32) -> Option<&Arc<CatalogEntry>> {
    entries.get(usize::try_from(place).ok()?)
}
