//! Exact names: finds the tools with the name or title that a query is, written in any way.
//!
//! Spaces, signs and capitals do not count: `get user`, `get_user` and `getUser` are one name. A query that is
//! the name of a tool asks for that tool, even if other tools say more about the same words.

use crate::words;

/// How a query names a tool, the strongest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NameMatch {
    /// The words of the tool's title.
    Title,
    /// The words of the tool's name, alone or after those of its server.
    Name,
    /// The name as it is written, or the public name.
    Literal,
}

/// The names of all documents.
#[derive(Debug, Default)]
pub(super) struct ExactNames {
    /// The words of a name, written as one; sorted.
    names: Vec<(Box<str>, NameMatch, u32)>,
}

impl ExactNames {
    pub(super) fn add_tool(&mut self, document: u32, name: &str, title: &str, server: &str) {
        let name = join_words(name);
        let of_server = format!("{}{name}", join_words(server));
        let names =
            [(join_words(title), NameMatch::Title), (of_server, NameMatch::Name), (name, NameMatch::Name)];
        for (text, kind) in names {
            if !text.is_empty() {
                self.names.push((text.into_boxed_str(), kind, document));
            }
        }
    }

    pub(super) fn into_sorted(mut self) -> Self {
        self.names.sort_unstable();
        self.names.dedup();
        self.names.shrink_to_fit();
        self
    }

    /// The documents that have this name, and how. A public name is found without its `mcp`, too.
    pub(super) fn find_text(&self, text: &str) -> impl Iterator<Item = (u32, NameMatch)> {
        let text = text.strip_prefix("mcp__").unwrap_or(text);
        let wanted = join_words(text);
        let from = self.names.partition_point(|(name, ..)| **name < *wanted);
        let same = self.names.iter().skip(from).take_while(move |(name, ..)| **name == *wanted);
        same.map(|(_, kind, document)| (*document, *kind))
    }
}

/// The words of a text, written as one.
fn join_words(text: &str) -> String {
    let mut joined = String::new();
    words::for_each_word(text, |word| joined.push_str(word));
    joined
}
