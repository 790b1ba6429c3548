//! Finds, among many texts, those that another begins with, without comparing each.
//!
//! The texts are sorted, and each knows the longest other one it begins with. Everything that stands between a
//! text and something that begins with it begins with it too; so all that begin a wanted text are the last one
//! not after it and what that one begins with in turn, as far as they fit.

use std::iter;

/// Texts with what is kept under each.
#[derive(Clone, Debug)]
pub(super) struct Prefixes<T> {
    entries: Vec<Entry<T>>,
}

#[derive(Clone, Debug)]
struct Entry<T> {
    text: Box<str>,
    /// Where the longest other text stands that this one begins with.
    shorter: Option<usize>,
    kept: T,
}

impl<T> Prefixes<T> {
    /// Adds a text that comes after all that are there.
    pub(super) fn push(&mut self, text: &str, kept: T) {
        debug_assert!(self.entries.last().is_none_or(|last| *last.text < *text), "texts come in order");
        let shorter = self.that_begin(text).next().map(|(at, _)| at);
        self.entries.push(Entry { text: Box::from(text), shorter, kept });
    }

    /// What is kept under the texts that `wanted` begins with.
    pub(super) fn of<'p>(&'p self, wanted: &'p str) -> impl Iterator<Item = &'p T> {
        self.that_begin(wanted).map(|(_, entry)| &entry.kept)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The longest first.
    fn that_begin<'p>(&'p self, wanted: &'p str) -> impl Iterator<Item = (usize, &'p Entry<T>)> {
        let after = self.entries.partition_point(|entry| *entry.text <= *wanted);
        let at = |place: usize| Some((place, self.entries.get(place)?));
        let nearest = after.checked_sub(1).and_then(at);
        iter::successors(nearest, move |(_, entry)| entry.shorter.and_then(at))
            .filter(|(_, entry)| wanted.starts_with(&*entry.text))
    }
}

impl<T> Default for Prefixes<T> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}
