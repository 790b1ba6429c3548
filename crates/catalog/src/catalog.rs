//! Catalog: an immutable snapshot of every tool, with stable names and a stable order.
//!
//! Entries that a model was shown do not move: a server that reconnects, comes late or leaves does not change
//! the name, place or bytes of the other servers' entries. Otherwise a model's prompt cache would be lost.

use std::sync::{Arc, OnceLock};

use mcparley_model::name::{PublicNames, ServerName, ToolName};
use mcparley_model::similar::similar_names;

use crate::changed_tools::ChangedTool;
use crate::denial::CatalogDenials;
use crate::entries::EntryTable;
use crate::entry::CatalogEntry;
use crate::index::SearchIndex;
use crate::word_vectors::WordVectorsSource;

/// All tools of all servers and of the host itself, as they are now.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    pub(crate) revision: u64,
    pub(crate) entries: Arc<EntryTable>,
    pub(crate) names: PublicNames,
    pub(crate) denials: CatalogDenials,
    pub(crate) changed: Vec<ChangedTool>,
    /// The word vectors that the search index uses, if there are any.
    pub(crate) vectors: Option<Arc<WordVectorsSource>>,
    /// The search index, shared with earlier catalogs that had the same entries.
    pub(crate) index: Arc<OnceLock<SearchIndex>>,
}

impl Catalog {
    /// The revision number, which grows with every change.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Every entry, in the order of a model's list.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<CatalogEntry>> {
        self.entries.iter()
    }

    /// Whether both catalogs have the very same entries in the same order.
    #[must_use]
    pub fn has_same_entries(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.entries, &other.entries)
    }

    /// The entry of a public name. Names are looked up, never split.
    #[must_use]
    pub fn get(&self, public: &str) -> Option<&Arc<CatalogEntry>> {
        self.entries.find_by_name(public)
    }

    /// The entry of a server's tool.
    #[must_use]
    pub fn find_tool(&self, server: &ServerName, tool: &ToolName) -> Option<&Arc<CatalogEntry>> {
        self.entries.find_by_tool(server, tool)
    }

    /// The mapping between tools and the public names given so far.
    #[must_use]
    pub fn names(&self) -> &PublicNames {
        &self.names
    }

    /// The tools that have changed since they were first seen or last reviewed, including withheld ones.
    #[must_use]
    pub fn changed_tools(&self) -> &[ChangedTool] {
        &self.changed
    }

    /// Public names similar to `name`, the nearest first, without denied tools.
    #[must_use]
    pub fn similar_tool_names(&self, name: &str) -> Vec<String> {
        let shown = self.iter().filter(|entry| !self.is_denied(entry));
        similar_names(name, shown.map(|entry| entry.name.as_str()))
    }

    /// Whether a permission rule denies the whole server, so that nothing of it is shown.
    #[must_use]
    pub fn is_server_denied(&self, server: &ServerName) -> bool {
        self.denials.denies_server(server)
    }

    /// Whether a permission rule denies every call of the tool, so that no model is shown it.
    #[must_use]
    pub fn is_denied(&self, entry: &CatalogEntry) -> bool {
        entry.is_denied(|| self.denials.denies_entry(entry))
    }
}
