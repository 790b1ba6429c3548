//! Full-text search index: ranks tools with BM25 over weighted fields (BM25F).
//!
//! A match in a tool's name counts more than one in the description of an argument, and long texts do not win
//! by their length.

mod document;
mod synonyms;
pub(crate) mod words;

use std::collections::HashMap;

pub(crate) use document::index_tools;

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
}

const FIELDS: usize = 8;

/// The weight of a word in a field, and the length normalization of the field (BM25F's `b`).
///
/// These weights and the constants below were tuned with one half of the queries in the fleet's search test;
/// the other half scores as well.
const WEIGHTS: [(f32, f32); FIELDS] =
    [(4.5, 1.0), (2.0, 0.5), (3.0, 0.5), (6.0, 0.0), (1.1, 0.8), (0.4, 0.75), (0.4, 0.5), (0.4, 0.3)];

/// BM25's `k1`: the saturation of repeated words, in one field or several.
const SATURATION: f32 = 5.0;

/// The weight of a synonym of the query word.
const SYNONYM: f32 = 0.85;

/// The weight of a prefix match in either direction, reduced by the length of the missing part.
const PREFIX: f32 = 0.75;

/// The minimum length of a prefix.
const SHORTEST_PREFIX: usize = 3;

/// The maximum number of words that are compared for one prefix.
const PREFIXED: usize = 64;

/// The weight of two adjacent query words that match as one: `time zone`.
const JOINED: f32 = 0.9;

/// The share of the score that does not depend on coverage; the rest rewards matching all query words.
const COVERAGE: f32 = 0.7;

/// A word's weight in one document.
#[derive(Clone, Copy, Debug)]
struct Posting {
    document: u32,
    weight: f32,
    in_name: bool,
}

/// The inverted index over all documents.
#[derive(Debug, Default)]
pub(crate) struct SearchIndex {
    documents: usize,
    /// The words in sorted order, so that those with one prefix are adjacent.
    terms: Vec<Box<str>>,
    /// The postings of each term.
    postings: Vec<Box<[Posting]>>,
}

/// A word of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QueryWord {
    pub(crate) stem: String,
    /// Whether a document must have it in its name.
    pub(crate) is_required: bool,
}

/// Builder of an index, filled one document after the other.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    ids: HashMap<Box<str>, u32>,
    /// Term, document and field, in the order of insertion.
    seen: Vec<(u32, u32, SearchField)>,
    lengths: Vec<[u32; FIELDS]>,
}

impl Builder {
    /// Begins the next document.
    pub(crate) fn begin_document(&mut self) {
        self.lengths.push([0; FIELDS]);
    }

    /// Adds a text to the current document.
    pub(crate) fn add_text(&mut self, field: SearchField, text: &str) {
        let mut whole = String::new();
        let mut count = 0;
        words::for_each_word(text, |word| {
            count += 1;
            whole.push_str(word);
            self.add_word(field, word);
        });
        let is_name = matches!(field, SearchField::Name | SearchField::Argument | SearchField::Server);
        if is_name && count > 1 {
            self.add_word(field, &whole);
        }
    }

    fn add_word(&mut self, field: SearchField, word: &str) {
        let Some(document) = self.lengths.len().checked_sub(1) else { return };
        let mut word = word.to_owned();
        words::stem_word(&mut word);
        let next = self.ids.len() as u32;
        let id = *self.ids.entry(word.into_boxed_str()).or_insert(next);
        self.seen.push((id, document as u32, field));
        if let Some(length) = self.lengths.last_mut().and_then(|lengths| lengths.get_mut(field as usize)) {
            *length += 1;
        }
    }

    pub(crate) fn build_index(self) -> SearchIndex {
        let Self { ids, mut seen, lengths } = self;
        let averages = average_lengths(&lengths);
        let mut terms: Vec<(Box<str>, u32)> = ids.into_iter().collect();
        terms.sort_unstable();
        seen.sort_unstable_by_key(|(term, document, _)| (*term, *document));
        let mut by_id: Vec<Box<[Posting]>> = Vec::with_capacity(terms.len());
        for of_term in seen.chunk_by(|one, other| one.0 == other.0) {
            let documents = of_term.chunk_by(|one, other| one.1 == other.1);
            by_id.push(documents.map(|found| weigh_posting(found, &lengths, &averages)).collect());
        }
        let take = |id: &u32| by_id.get_mut(*id as usize).map(std::mem::take).unwrap_or_default();
        let ids: Vec<u32> = terms.iter().map(|(_, id)| *id).collect();
        let postings = ids.iter().map(take).collect();
        let terms = terms.into_iter().map(|(term, _)| term).collect();
        SearchIndex { documents: lengths.len(), terms, postings }
    }
}

fn average_lengths(lengths: &[[u32; FIELDS]]) -> [f32; FIELDS] {
    let of = |field: usize| {
        let lengths = lengths.iter().filter_map(|lengths| lengths.get(field)).filter(|length| **length > 0);
        let (sum, count) =
            lengths.fold((0_f32, 0_f32), |(sum, count), length| (sum + *length as f32, count + 1.0));
        if count > 0.0 { sum / count } else { 1.0 }
    };
    std::array::from_fn(of)
}

/// Computes the weight of a term in one document, without its inverse document frequency.
fn weigh_posting(
    seen: &[(u32, u32, SearchField)],
    lengths: &[[u32; FIELDS]],
    averages: &[f32; FIELDS],
) -> Posting {
    let document = seen.first().map_or(0, |(_, document, _)| *document);
    let lengths = lengths.get(document as usize).copied().unwrap_or_default();
    let count = |field: SearchField| {
        let at = field as usize;
        let (weight, by_length) = WEIGHTS.get(at).copied().unwrap_or_default();
        let length = lengths.get(at).copied().unwrap_or_default() as f32;
        let average = averages.get(at).copied().unwrap_or(1.0);
        weight / (1.0 - by_length + by_length * length / average)
    };
    let frequency: f32 = seen.iter().map(|(_, _, field)| count(*field)).sum();
    let in_name = seen.iter().any(|(_, _, field)| matches!(field, SearchField::Name | SearchField::Server));
    Posting { document, weight: frequency / (SATURATION + frequency), in_name }
}

impl SearchIndex {
    /// Scores the documents that have any of these words and all required ones, in no particular order.
    pub(crate) fn score_documents(&self, wanted: &[QueryWord]) -> Vec<(u32, f32)> {
        let mut scores = vec![DocumentScore::default(); self.documents];
        let required = wanted.iter().filter(|word| word.is_required).count() as u32;
        for (at, word) in wanted.iter().enumerate() {
            let joined = wanted.get(at + 1).map(|next| format!("{}{}", word.stem, next.stem));
            self.score_word(word, joined.as_deref(), &mut scores);
            scores.iter_mut().for_each(DocumentScore::add_word_score);
        }
        let all = wanted.len().max(1) as f32;
        let numbered = (0_u32..).zip(&scores);
        let is_match = |(_, score): &(u32, &DocumentScore)| score.total > 0.0 && score.required == required;
        let covered = |score: &DocumentScore| COVERAGE + (1.0 - COVERAGE) * score.matched / all;
        numbered.filter(is_match).map(|(document, score)| (document, score.total * covered(score))).collect()
    }

    /// Records for each document the best match of one word.
    fn score_word(&self, word: &QueryWord, joined: Option<&str>, scores: &mut [DocumentScore]) {
        let mut take = |term: usize, certainty: f32, is_word: bool| {
            let postings = self.postings.get(term).map_or(&[][..], |postings| postings);
            let rarity = self.inverse_document_frequency(postings.len()) * certainty;
            for posting in postings {
                let Some(score) = scores.get_mut(posting.document as usize) else { continue };
                if word.is_required && is_word && posting.in_name {
                    score.has_required = true;
                }
                if rarity * posting.weight > score.word {
                    score.word = rarity * posting.weight;
                    score.certainty = certainty;
                }
            }
        };
        self.find_term(&word.stem).into_iter().for_each(|term| take(term, 1.0, true));
        self.terms_with_prefix(&word.stem).for_each(|(term, certainty)| take(term, certainty, true));
        self.terms_that_are_prefixes(&word.stem).for_each(|(term, certainty)| take(term, certainty, false));
        let others = synonyms::synonyms_of(&word.stem).iter().filter_map(|other| self.find_term(other));
        others.for_each(|term| take(term, SYNONYM, false));
        joined
            .and_then(|joined| self.find_term(joined))
            .into_iter()
            .for_each(|term| take(term, JOINED, false));
    }

    /// The inverse document frequency of a word that this many documents have.
    fn inverse_document_frequency(&self, having: usize) -> f32 {
        let (all, having) = (self.documents as f32, having as f32);
        (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
    }

    fn find_term(&self, term: &str) -> Option<usize> {
        self.terms.binary_search_by(|known| known.as_ref().cmp(term)).ok()
    }

    /// The longer terms that begin with this one.
    fn terms_with_prefix(&self, stem: &str) -> impl Iterator<Item = (usize, f32)> {
        let from = self.terms.partition_point(|known| known.as_ref() <= stem);
        let most = if stem.len() >= SHORTEST_PREFIX { PREFIXED } else { 0 };
        let longer = self.terms.iter().enumerate().skip(from).take(most);
        longer
            .take_while(move |(_, term)| term.starts_with(stem))
            .map(move |(at, term)| (at, PREFIX * stem.len() as f32 / term.len() as f32))
    }

    /// The shorter terms that this one begins with.
    fn terms_that_are_prefixes(&self, stem: &str) -> impl Iterator<Item = (usize, f32)> {
        let shorter = (SHORTEST_PREFIX + 1..stem.len()).filter_map(move |end| stem.get(..end));
        shorter.filter_map(move |part| {
            Some((self.find_term(part)?, PREFIX * part.len() as f32 / stem.len() as f32))
        })
    }
}

/// The score of one document.
#[derive(Clone, Copy, Debug, Default)]
struct DocumentScore {
    total: f32,
    /// The number of matched query words; a synonym or prefix counts as a fraction.
    matched: f32,
    required: u32,
    /// The best match of the current query word.
    word: f32,
    certainty: f32,
    has_required: bool,
}

impl DocumentScore {
    /// Adds the match of the current query word to the total.
    fn add_word_score(&mut self) {
        self.total += self.word;
        self.matched += self.certainty;
        self.required += u32::from(self.has_required);
        (self.word, self.certainty, self.has_required) = (0.0, 0.0, false);
    }
}
