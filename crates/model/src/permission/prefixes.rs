//! A prefix map: finds, among many texts, those that are a prefix of another text, without comparing each.
//!
//! The texts are sorted, and each knows its longest proper prefix in the map. All texts between a prefix
//! and a text that begins with it begin with that prefix too; so the prefixes of a wanted text are the last
//! entry not after it and that entry's own prefixes, as far as they match.

use std::iter;

/// A map from texts to values, looked up by prefix.
#[derive(Clone, Debug)]
pub(super) struct PrefixMap<T> {
    entries: Vec<PrefixEntry<T>>,
}

#[derive(Clone, Debug)]
struct PrefixEntry<T> {
    text: Box<str>,
    /// The index of the longest other text that is a prefix of this one.
    shorter: Option<usize>,
    kept: T,
}

impl<T> PrefixMap<T> {
    /// Adds a text that sorts after all present ones.
    pub(super) fn push_prefix(&mut self, text: &str, kept: T) {
        debug_assert!(self.entries.last().is_none_or(|last| *last.text < *text), "texts come in order");
        let shorter = self.matching_entries(text).next().map(|(at, _)| at);
        self.entries.push(PrefixEntry { text: Box::from(text), shorter, kept });
    }

    /// The values of the texts that are prefixes of `wanted`.
    pub(super) fn find_values<'p>(&'p self, wanted: &'p str) -> impl Iterator<Item = &'p T> {
        self.matching_entries(wanted).map(|(_, entry)| &entry.kept)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries that are prefixes of `wanted`, the longest first.
    fn matching_entries<'p>(&'p self, wanted: &'p str) -> impl Iterator<Item = (usize, &'p PrefixEntry<T>)> {
        let after = self.entries.partition_point(|entry| *entry.text <= *wanted);
        let at = |place: usize| Some((place, self.entries.get(place)?));
        let nearest = after.checked_sub(1).and_then(at);
        iter::successors(nearest, move |(_, entry)| entry.shorter.and_then(at))
            .filter(|(_, entry)| wanted.starts_with(&*entry.text))
    }
}

impl<T> Default for PrefixMap<T> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}
