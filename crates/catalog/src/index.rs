//! Full-text search index: ranks tools with BM25 over weighted fields (BM25F).
//!
//! A match in a tool's name counts more than one in the description of an argument, and long texts do not win
//! by their length. Words are indexed as they are written and grouped by stem: the very word of a query counts
//! more than another form of it. The index is filled by [`Builder`]; a query is scored in `score`.

mod builder;
mod contradictions;
mod document;
mod exact_name;
mod meaning;
mod score;
mod synonyms;

use exact_name::ExactNames;
use meaning::ToolMeanings;

pub(crate) use document::index_tools;
pub(crate) use exact_name::NameMatch;

use crate::words;

/// The searched fields of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchField {
    Name,
    Title,
    Hint,
    Server,
    Summary,
    Description,
    Argument,
    ArgumentDescription,
    /// The values that an argument lists: `enum`, `examples` and `default`.
    ArgumentValue,
}

const FIELDS: usize = 9;

/// The weight of a word in a field, and the length normalization of the field (BM25F's `b`).
///
/// A name is chosen to say what the tool does, so it weighs several times a description, and a long name shares
/// its weight among its words. Titles and hints are as deliberate, but longer. The server's name tells products
/// apart. After the first sentence a description is about usage. Texts about the values of arguments are
/// weak evidence too. Halving or doubling any of them changes the results of `bench retrieval` little.
const WEIGHTS: [(f32, f32); FIELDS] = [
    (4.0, 1.0),
    (2.0, 0.5),
    (2.0, 0.5),
    (2.5, 0.0),
    (1.0, 0.25),
    (0.4, 0.25),
    (1.0, 0.5),
    (0.5, 0.5),
    (0.5, 0.5),
];

/// BM25's `k1`: the saturation of repeated words, in one field or several. Above the usual 1.2, because the
/// weights of fields add up.
const SATURATION: f32 = 2.0;

/// A word's weight in one document.
#[derive(Clone, Copy, Debug)]
struct Posting {
    document: u32,
    weight: f32,
    in_name: bool,
}

/// A word as tools write it, with its documents.
#[derive(Debug)]
struct WordForm {
    text: Box<str>,
    postings: Box<[Posting]>,
}

/// The words that have one stem.
#[derive(Debug)]
struct StemGroup {
    stem: Box<str>,
    forms: Box<[WordForm]>,
    /// The number of documents that have any of the words.
    documents: u32,
}

/// The inverted index over all documents.
#[derive(Debug, Default)]
pub(crate) struct SearchIndex {
    documents: usize,
    /// Sorted by stem, so that stems with one prefix are adjacent.
    groups: Box<[StemGroup]>,
    names: ExactNames,
    /// The meanings of the documents, if there are word vectors.
    meanings: Option<ToolMeanings>,
}

/// A word of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QueryWord {
    pub(crate) text: String,
    pub(crate) stem: String,
    /// Whether a document must have it in its name.
    pub(crate) is_required: bool,
}

impl QueryWord {
    pub(crate) fn new(text: String, is_required: bool) -> Self {
        let stem = words::stem_of(&text);
        Self { text, stem, is_required }
    }
}

impl SearchIndex {
    /// The documents with exactly this name, title, or server and name, word by word.
    pub(crate) fn find_exact(&self, text: &str) -> impl Iterator<Item = (u32, NameMatch)> {
        self.names.find_text(text)
    }

    fn find_group(&self, stem: &str) -> Option<&StemGroup> {
        let place = self.groups.binary_search_by(|group| group.stem.as_ref().cmp(stem)).ok()?;
        self.groups.get(place)
    }
}
