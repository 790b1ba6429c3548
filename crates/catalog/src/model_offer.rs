//! Model offer: decides which tools are listed for a model at once, and which are deferred to a search.
//!
//! Pure: the same catalog and budget give the same offer, byte for byte. The tools that a conversation was
//! shown before are passed in by the caller ([`ModelOffer::with_earlier`]), because one host serves many
//! conversations.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mcparley_model::tool::{Audience, ToolLoading};

use crate::budget::Budget;
use crate::built_in::BuiltIn;
use crate::catalog::Catalog;
use crate::entry::{CatalogEntry, ToolProvider};

/// The tools of a catalog that a model is offered.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ModelOffer {
    /// The tools that are listed at once, in this order.
    pub listed: Vec<Arc<CatalogEntry>>,
    /// The tools that `ToolSearch` finds, in the order of the catalog. They can be called without a search
    /// too.
    pub deferred: Vec<Arc<CatalogEntry>>,
    /// The tools that are never shown, because a permission rule denies them for any arguments.
    pub denied: Vec<Arc<CatalogEntry>>,
    /// The tools for apps only (`_meta.ui.visibility`), shown to a client with apps and to no model.
    pub for_apps: Vec<Arc<CatalogEntry>>,
    /// The tool `ToolSearch`, also when no tool is deferred.
    search: Option<Arc<CatalogEntry>>,
}

impl Catalog {
    /// The offer of this catalog to a model, within a budget.
    ///
    /// If all tools fit, all are listed, except those that ask to be deferred. Otherwise tools with
    /// `alwaysLoad` and built-in tools are listed, and the rest is deferred. If `ToolSearch` is denied, no
    /// tool is deferred.
    #[must_use]
    pub fn model_offer(&self, budget: &Budget) -> ModelOffer {
        let (denied, permitted): (Vec<_>, Vec<_>) =
            self.iter().cloned().partition(|entry| self.is_denied(entry));
        let (permitted, other): (Vec<_>, Vec<_>) =
            permitted.into_iter().partition(|entry| entry.tool.audience.includes_model());
        let for_apps = other.into_iter().filter(|entry| entry.tool.audience == Audience::Apps).collect();
        let (search, tools): (Vec<_>, Vec<_>) = permitted.into_iter().partition(|entry| is_search(entry));
        let search = search.into_iter().next();
        let at_once = tools.iter().filter(|entry| entry.tool.loading != ToolLoading::Deferred);
        let all_fit = budget.has_room_for(at_once.map(|entry| entry.tokens()).sum());
        let waits = |entry: &Arc<CatalogEntry>| search.is_some() && can_wait(entry, all_fit);
        let (deferred, mut listed): (Vec<_>, Vec<_>) = tools.into_iter().partition(waits);
        if !deferred.is_empty() {
            listed.extend(search.clone());
        }
        ModelOffer { listed, deferred, denied, for_apps, search }
    }
}

impl ModelOffer {
    /// Lists `ToolSearch` even if no tool is deferred yet: it also finds tools of servers that are still
    /// connecting.
    #[must_use]
    pub fn with_search(mut self) -> Self {
        let is_listed = self.listed.iter().any(|entry| is_search(entry));
        if !is_listed {
            self.listed.extend(self.search.clone());
        }
        self
    }

    /// Lists these deferred tools behind the others, because a search found them. Other names have no effect.
    #[must_use]
    pub fn with_found(mut self, names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let mut deferred: HashMap<&str, &Arc<CatalogEntry>> =
            self.deferred.iter().map(|entry| (entry.name.as_str(), entry)).collect();
        let found: Vec<Arc<CatalogEntry>> =
            names.into_iter().filter_map(|name| deferred.remove(name.as_ref()).cloned()).collect();
        if !found.is_empty() {
            let found_names: HashSet<&str> = found.iter().map(|entry| entry.name.as_str()).collect();
            self.deferred.retain(|entry| !found_names.contains(entry.name.as_str()));
            self.listed.extend(found);
        }
        self
    }

    /// Continues a conversation that was shown these tools before: they stay listed, first and in this order,
    /// and newer tools are listed behind them.
    #[must_use]
    pub fn with_earlier(self, earlier: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let Self { listed, deferred, denied, for_apps, search } = self;
        // The first entry of a name counts, so the map is filled from the end.
        let all = listed.iter().chain(&deferred).chain(&search).collect::<Vec<_>>().into_iter().rev();
        let by_name: HashMap<&str, &Arc<CatalogEntry>> =
            all.map(|entry| (entry.name.as_str(), entry)).collect();
        let mut first: Vec<Arc<CatalogEntry>> = Vec::new();
        let mut seen: HashSet<String> = HashSet::new();
        for name in earlier {
            if seen.insert(name.as_ref().to_owned()) {
                first.extend(by_name.get(name.as_ref()).map(|entry| Arc::clone(entry)));
            }
        }
        let is_new = |entry: &&Arc<CatalogEntry>| !seen.contains(entry.name.as_str());
        first.extend(listed.iter().filter(is_new).cloned());
        let deferred = deferred.iter().filter(is_new).cloned().collect();
        Self { listed: first, deferred, denied, for_apps, search }
    }

    /// Whether a model can see the tool, at once or by a search.
    #[must_use]
    pub fn can_show(&self, entry: &CatalogEntry) -> bool {
        let mut shown = self.listed.iter().chain(&self.deferred);
        shown.any(|shown| shown.name == entry.name)
    }

    /// The tool `ToolSearch`, if a model may use it.
    pub(crate) fn search_tool(&self) -> Option<&Arc<CatalogEntry>> {
        self.search.as_ref()
    }

    /// The estimated tokens of the listed definitions, the sum of [`CatalogEntry::tokens`].
    #[must_use]
    pub fn listed_tokens(&self) -> u64 {
        self.listed.iter().map(|entry| entry.tokens()).sum()
    }

    /// The estimated tokens of the deferred definitions.
    #[must_use]
    pub fn deferred_tokens(&self) -> u64 {
        self.deferred.iter().map(|entry| entry.tokens()).sum()
    }
}

fn is_search(entry: &CatalogEntry) -> bool {
    entry.provider == ToolProvider::Host(BuiltIn::ToolSearch)
}

/// Whether a tool is deferred. Built-in tools are few and always listed.
fn can_wait(entry: &CatalogEntry, all_fit: bool) -> bool {
    match (&entry.provider, entry.tool.loading) {
        (ToolProvider::Host(_) | ToolProvider::SignIn { .. }, _) | (_, ToolLoading::Always) => false,
        (ToolProvider::Server(_), ToolLoading::Deferred) => true,
        (ToolProvider::Server(_), ToolLoading::Normal) => !all_fit,
    }
}

#[cfg(test)]
mod tests;
