//! A cache of facts about tools that their calls need, computed once per catalog entry.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use mcparley_catalog::{ArgumentChecker, CatalogEntry};
use mcparley_model::name::PublicName;
use mcparley_model::permission::Decision;
use mcparley_model::tool::ToolDigest;

use super::Consent;

/// Facts about one tool, each computed on first use.
#[derive(Debug, Default)]
pub(crate) struct ToolFacts {
    checker: OnceLock<ArgumentChecker>,
    definition: OnceLock<ToolDigest>,
    /// The decisions about its calls, without and with the user's consent, where arguments do not matter.
    decisions: [OnceLock<Decision>; 2],
}

impl ToolFacts {
    /// The compiled schema of the tool's arguments.
    pub(crate) fn argument_checker(&self, entry: &CatalogEntry) -> &ArgumentChecker {
        self.checker.get_or_init(|| ArgumentChecker::new(&entry.tool.input_schema))
    }

    /// The digest of the tool's definition.
    pub(crate) fn definition_digest(&self, entry: &CatalogEntry) -> &ToolDigest {
        self.definition.get_or_init(|| entry.tool.definition_digest())
    }

    /// The cached decision about the tool's calls; `decide` runs once.
    pub(crate) fn cached_decision(&self, consent: Consent, decide: impl FnOnce() -> Decision) -> &Decision {
        let [open, given] = &self.decisions;
        let slot = match consent {
            Consent::Open => open,
            Consent::Given | Consent::Typed => given,
        };
        slot.get_or_init(decide)
    }
}

/// The facts of every tool that was called since the rules last changed.
#[derive(Debug, Default)]
pub(crate) struct ToolFactsCache(Mutex<HashMap<PublicName, CachedFacts>>);

/// The facts of one tool, and the catalog entry that they belong to.
#[derive(Debug)]
struct CachedFacts {
    entry: Weak<CatalogEntry>,
    facts: Arc<ToolFacts>,
}

impl ToolFactsCache {
    /// The facts of this entry. Those of an earlier entry with its name are dropped.
    pub(crate) fn facts_for(&self, entry: &Arc<CatalogEntry>) -> Arc<ToolFacts> {
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = cache.get(&entry.name)
            && std::ptr::eq(cached.entry.as_ptr(), Arc::as_ptr(entry))
        {
            return Arc::clone(&cached.facts);
        }
        let facts = Arc::new(ToolFacts::default());
        let cached = CachedFacts { entry: Arc::downgrade(entry), facts: Arc::clone(&facts) };
        cache.insert(entry.name.clone(), cached);
        facts
    }
}
