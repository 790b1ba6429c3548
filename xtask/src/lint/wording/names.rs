//! Counts the names of types and functions that their author could choose.
//!
//! Reads lines, not syntax: rustfmt has put every item on a line of its own, and a count that is off by one changes
//! nothing.

use std::collections::BTreeMap;

/// Type names that may repeat, each in its own module.
const CONVENTIONAL_TYPES: [&str; 14] = [
    "Error", "Config", "State", "Builder", "Args", "Id", "Options", "Kind", "Event", "Request", "Response",
    "Result", "Inner", "Shared",
];
/// Function names that convention or a trait prescribes.
const CONVENTIONAL_FUNCTIONS: [&str; 22] = [
    "new",
    "default",
    "from",
    "into",
    "fmt",
    "drop",
    "next",
    "poll",
    "clone",
    "eq",
    "cmp",
    "hash",
    "deref",
    "serialize",
    "deserialize",
    "len",
    "main",
    "call",
    "source",
    "index",
    "borrow",
    "build",
];
/// Endings of participles that do not end in `ed`.
const PARTICIPLES: [&str; 17] = [
    "told", "said", "shown", "kept", "heard", "seen", "given", "taken", "written", "known", "meant", "made",
    "gone", "left", "held", "lost", "begun",
];
/// Words that look like participles, and adjectives that read as a state.
const NO_PARTICIPLES: [&str; 23] = [
    "feed",
    "need",
    "seed",
    "speed",
    "embed",
    "shed",
    "exceed",
    "proceed",
    "succeed",
    "connected",
    "closed",
    "cancelled",
    "changed",
    "notified",
    "elapsed",
    "sorted",
    "reversed",
    "was",
    "were",
    "is",
    "are",
    "has",
    "have",
];
/// Words after a participle that leave it one: `carried_out` is a participle, `allowed_tools` a noun phrase.
const PARTICLES: [&str; 23] = [
    "out", "up", "off", "away", "in", "on", "down", "apart", "after", "before", "by", "to", "for", "with",
    "from", "back", "again", "anew", "alone", "at", "of", "as", "over",
];
/// First and last words that fill a name up without saying more.
const FILLER_STARTS: [&str; 5] = ["do", "get", "perform", "the", "a"];
const FILLER_ENDS: [&str; 13] =
    ["it", "this", "that", "them", "one", "now", "anew", "alone", "thing", "things", "stuff", "what", "who"];

/// The names of a tree, counted.
#[derive(Debug, Default)]
pub(super) struct NameCount {
    types: BTreeMap<String, usize>,
    /// Functions whose name their author could choose.
    pub(super) functions: usize,
    pub(super) one_word: usize,
    one_words: BTreeMap<String, usize>,
    /// Functions named by a participle, with their file.
    pub(super) participles: Vec<String>,
    /// Functions with a filler in their name, with their file.
    pub(super) fillers: Vec<String>,
}

impl NameCount {
    pub(super) fn add_text(&mut self, place: &str, text: &str) {
        // Indentation of the `impl Trait for Type` that the line is inside of: its functions are prescribed.
        let mut prescribed: Option<usize> = None;
        for line in text.lines() {
            if let Some(name) = type_name(line) {
                *self.types.entry(name.to_owned()).or_default() += 1;
            }
            let indent = line.len() - line.trim_start().len();
            if let Some(header) = impl_header(line) {
                prescribed = header.contains(" for ").then_some(indent);
            } else if prescribed == Some(indent) && line.trim_start() == "}" {
                prescribed = None;
            }
            if prescribed.is_none()
                && let Some(name) = function_name(line)
            {
                self.add_function(place, name);
            }
        }
    }

    fn add_function(&mut self, place: &str, name: &str) {
        if CONVENTIONAL_FUNCTIONS.contains(&name) {
            return;
        }
        self.functions += 1;
        if !name.contains('_') {
            self.one_word += 1;
            *self.one_words.entry(name.to_owned()).or_default() += 1;
        }
        if is_participle(name) {
            self.participles.push(format!("`{name}` in {place}"));
        }
        if has_filler(name) {
            self.fillers.push(format!("`{name}` in {place}"));
        }
    }

    /// The number of types.
    pub(super) fn types(&self) -> usize {
        self.types.values().sum()
    }

    /// The number of types that share their name with another.
    pub(super) fn shared_types(&self) -> usize {
        self.shared().map(|(_, count)| count).sum()
    }

    /// The shared names, the most frequent first.
    pub(super) fn shared_type_names(&self) -> Vec<String> {
        most_frequent(self.shared().map(|(name, count)| (name.as_str(), *count)))
    }

    /// The names of one word, the most frequent first.
    pub(super) fn one_word_names(&self) -> Vec<String> {
        most_frequent(self.one_words.iter().map(|(name, count)| (name.as_str(), *count)))
    }

    fn shared(&self) -> impl Iterator<Item = (&String, &usize)> {
        let is_shared =
            |(name, count): &(&String, &usize)| **count > 1 && !CONVENTIONAL_TYPES.contains(&name.as_str());
        self.types.iter().filter(is_shared)
    }
}

fn most_frequent<'a>(counts: impl Iterator<Item = (&'a str, usize)>) -> Vec<String> {
    let mut counts: Vec<_> = counts.collect();
    counts.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    counts.into_iter().map(|(name, count)| format!("`{name}`, {count} times")).collect()
}

/// The rest of a line after its visibility: `pub(crate) fn x()` → `fn x()`.
fn after_visibility(line: &str) -> &str {
    let line = line.trim_start();
    let Some(rest) = line.strip_prefix("pub") else { return line };
    let rest = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(rest, |(_, rest)| rest);
    rest.strip_prefix(' ').unwrap_or(line)
}

fn type_name(line: &str) -> Option<&str> {
    let (keyword, rest) = after_visibility(line).split_once(' ')?;
    ["struct", "enum", "trait", "union"].contains(&keyword).then(|| first_word(rest))
}

fn function_name(line: &str) -> Option<&str> {
    let mut rest = after_visibility(line);
    for qualifier in ["const ", "async ", "unsafe "] {
        rest = rest.strip_prefix(qualifier).unwrap_or(rest);
    }
    rest.strip_prefix("fn ").map(first_word)
}

/// The part of an `impl` line before its body.
fn impl_header(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = line.strip_prefix("unsafe ").unwrap_or(line).strip_prefix("impl")?;
    rest.starts_with([' ', '<']).then(|| rest.split('{').next().unwrap_or(rest))
}

fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

fn is_participle(name: &str) -> bool {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default();
    if NO_PARTICIPLES.contains(&first) {
        return false;
    }
    let is_past = first.ends_with("ed")
        || first.ends_with("done")
        || PARTICIPLES.iter().any(|participle| first.ends_with(participle));
    is_past && words.next().is_none_or(|second| PARTICLES.contains(&second))
}

fn has_filler(name: &str) -> bool {
    let Some((first, _)) = name.split_once('_') else { return false };
    let last = name.rsplit('_').next().unwrap_or_default();
    FILLER_STARTS.contains(&first) || FILLER_ENDS.contains(&last)
}
