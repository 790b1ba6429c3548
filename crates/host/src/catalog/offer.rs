//! Decides which tools a model is shown at once, and which it has to search for (N10).
//!
//! Pure: the same catalogue and the same budget give the same offer, byte for byte. What a conversation has been
//! shown before is handed in by whoever leads it ([`Offer::after`]), because one host serves many.

use std::collections::HashSet;
use std::sync::Arc;

use mcparley_model::tool::{Audience, Loading};

use super::{Budget, BuiltIn, Catalog, Entry, Provider};

/// What a model is shown of a catalogue.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Offer {
    /// What it is shown at once, in this order.
    pub listed: Vec<Arc<Entry>>,
    /// What it can find with `ToolSearch`, in the order of the catalogue. It can be called without a search too.
    pub deferred: Vec<Arc<Entry>>,
    /// What it never sees, because a rule denies it whatever its arguments are.
    pub denied: Vec<Arc<Entry>>,
    /// What its servers mean for apps only (`_meta.ui.visibility`): no model is shown it, a client with apps is.
    pub for_apps: Vec<Arc<Entry>>,
    /// The tool that finds the others, also when there is nothing to find.
    search: Option<Arc<Entry>>,
}

impl Catalog {
    /// What a model is shown of it, within a budget.
    ///
    /// If everything fits, everything is listed, except what asks to be deferred. If not, what says `alwaysLoad` and the
    /// host's own tools are listed, and the rest is deferred. Without a way to search (`ToolSearch` is denied) nothing is.
    #[must_use]
    pub fn offer(&self, budget: &Budget) -> Offer {
        let (denied, permitted): (Vec<_>, Vec<_>) =
            self.iter().cloned().partition(|entry| self.is_denied(entry));
        let (permitted, other): (Vec<_>, Vec<_>) =
            permitted.into_iter().partition(|entry| entry.tool.audience.includes_model());
        let for_apps = other.into_iter().filter(|entry| entry.tool.audience == Audience::Apps).collect();
        let (search, tools): (Vec<_>, Vec<_>) = permitted.into_iter().partition(|entry| is_search(entry));
        let search = search.into_iter().next();
        let at_once = tools.iter().filter(|entry| entry.tool.loading != Loading::Deferred);
        let all_fit = budget.holds(at_once.map(|entry| entry.tokens()).sum());
        let waits = |entry: &Arc<Entry>| search.is_some() && can_wait(entry, all_fit);
        let (deferred, mut listed): (Vec<_>, Vec<_>) = tools.into_iter().partition(waits);
        if !deferred.is_empty() {
            listed.extend(search.clone());
        }
        Offer { listed, deferred, denied, for_apps, search }
    }
}

impl Offer {
    /// The same, with `ToolSearch` listed though nothing waits for a search yet: tools of servers that are still being
    /// reached can be found with it.
    #[must_use]
    pub fn with_search(mut self) -> Self {
        let is_listed = self.listed.iter().any(|entry| is_search(entry));
        if !is_listed {
            self.listed.extend(self.search.clone());
        }
        self
    }

    /// The same, with these tools listed behind the others: a search found them. Names that are not deferred change
    /// nothing.
    #[must_use]
    pub fn with_found(mut self, names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        for name in names {
            let place = self.deferred.iter().position(|entry| entry.name.as_str() == name.as_ref());
            self.listed.extend(place.map(|place| self.deferred.remove(place)));
        }
        self
    }

    /// The same in a conversation that has been shown these tools before: they stay listed, first and in this order, and
    /// what has come since stands behind them (N11).
    #[must_use]
    pub fn after(self, earlier: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let Self { listed, deferred, denied, for_apps, search } = self;
        let all = || listed.iter().chain(&deferred).chain(&search);
        let find = |name: &str| all().find(|entry| entry.name.as_str() == name).cloned();
        let mut first: Vec<Arc<Entry>> = Vec::new();
        let mut seen: HashSet<String> = HashSet::new();
        for name in earlier {
            if seen.insert(name.as_ref().to_owned()) {
                first.extend(find(name.as_ref()));
            }
        }
        let is_new = |entry: &&Arc<Entry>| !seen.contains(entry.name.as_str());
        first.extend(listed.iter().filter(is_new).cloned());
        let deferred = deferred.iter().filter(is_new).cloned().collect();
        Self { listed: first, deferred, denied, for_apps, search }
    }

    /// Whether a model can get to see the tool, at once or by a search.
    #[must_use]
    pub fn shows(&self, entry: &Entry) -> bool {
        let mut shown = self.listed.iter().chain(&self.deferred);
        shown.any(|shown| shown.name == entry.name)
    }

    /// The tool that finds the others, if a model may use it.
    pub(super) fn search(&self) -> Option<&Arc<Entry>> {
        self.search.as_ref()
    }

    /// What the definitions of the listed tools take of a model's context, measured by [`Entry::tokens`].
    #[must_use]
    pub fn listed_tokens(&self) -> u64 {
        self.listed.iter().map(|entry| entry.tokens()).sum()
    }

    /// What those of the deferred tools would take.
    #[must_use]
    pub fn deferred_tokens(&self) -> u64 {
        self.deferred.iter().map(|entry| entry.tokens()).sum()
    }
}

fn is_search(entry: &Entry) -> bool {
    entry.provider == Provider::Host(BuiltIn::ToolSearch)
}

/// Whether a tool is left out. The host's own are few, and they are what a model gets on with.
fn can_wait(entry: &Entry, all_fit: bool) -> bool {
    match (&entry.provider, entry.tool.loading) {
        (Provider::Host(_) | Provider::SignIn { .. }, _) | (_, Loading::Always) => false,
        (Provider::Server(_), Loading::Deferred) => true,
        (Provider::Server(_), Loading::Normal) => !all_fit,
    }
}

#[cfg(test)]
mod tests;
