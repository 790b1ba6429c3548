//! Every tool there is, under one roof: an immutable snapshot with stable names and a stable order.
//!
//! What a model was once shown does not move: a server that reconnects, comes late or goes changes nothing
//! about the entries of the others, in name, place or bytes (N11).

mod assemble;
mod budget;
mod built_in;
mod cache;
mod changed;
mod denial;
mod dialect;
mod entries;
mod entry;
mod mention;
mod naming;
mod offer;
mod search;
mod sign_in;
mod tokens;

use std::sync::{Arc, OnceLock};

use mcparley_model::name::{Names, ServerName, ToolName};

pub(crate) use assemble::{Assembler, Seen, SignIn};
pub use budget::{Budget, BudgetError};
pub use built_in::BuiltIn;
pub(crate) use cache::{Cache, Known};
pub use changed::ChangedTool;
pub(crate) use denial::Denials;
pub use dialect::{Dialect, ModelCallError, ModelTools, UnknownDialect, Withholding};
use entries::Entries;
pub use entry::{Entry, Provider};
pub use mention::Mention;
pub(crate) use naming::name_all;
pub use offer::Offer;
pub use search::{Found, SearchQuery, Unfound};
pub use sign_in::SignInTool;

/// All tools of all servers and of the host itself, as they are now.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    revision: u64,
    entries: Arc<Entries>,
    names: Names,
    denials: Denials,
    changed: Vec<ChangedTool>,
    /// Shared with the catalogues before that had the same entries.
    index: Arc<OnceLock<search::Index>>,
}

impl Catalog {
    /// Grows with every change.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Every entry, in the order a model is shown them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<Entry>> {
        self.entries.iter()
    }

    /// The entry of a public name. Names are looked up, never taken apart.
    #[must_use]
    pub fn get(&self, public: &str) -> Option<&Arc<Entry>> {
        self.entries.named(public)
    }

    /// The entry of a server's tool.
    #[must_use]
    pub fn of(&self, server: &ServerName, tool: &ToolName) -> Option<&Arc<Entry>> {
        self.entries.of(server, tool)
    }

    /// The public names given so far, and the way back (N2).
    #[must_use]
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The tools that have changed since they were first met or last reviewed, those that are withheld among them.
    #[must_use]
    pub fn changed(&self) -> &[ChangedTool] {
        &self.changed
    }

    /// Public names that look like `name`, the nearest first; none that no model is shown.
    #[must_use]
    pub fn similar(&self, name: &str) -> Vec<String> {
        let shown = self.iter().filter(|entry| !self.is_denied(entry));
        crate::sources::similar_names(name, shown.map(|entry| entry.name.as_str()))
    }

    /// Whether a rule denies every call of the tool, so that no model is shown it.
    pub(crate) fn is_denied(&self, entry: &Entry) -> bool {
        entry.is_denied(|| self.denials.cover(entry))
    }
}
