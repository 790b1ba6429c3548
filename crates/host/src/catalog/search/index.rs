//! Ranks documents by words: BM25 over weighted fields (BM25F), where a match in a tool's name counts more than one in
//! the description of an argument, and long texts do not win by their length.

use std::collections::HashMap;

use super::synonyms;
use super::words;

/// The parts of a tool that are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
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

/// How much a word in a field counts, and how much the field's length counts against it.
///
/// These and the figures below were tuned with one half of the queries of the fleet's test; the other half does as well.
const WEIGHTS: [(f32, f32); FIELDS] =
    [(4.5, 1.0), (2.0, 0.5), (3.0, 0.5), (6.0, 0.0), (1.1, 0.8), (0.4, 0.75), (0.4, 0.5), (0.4, 0.3)];

/// How soon a word counts no more for standing there again, or in another field.
const SATURATION: f32 = 5.0;

/// How much a word counts that stands for the one that was asked for.
const SYNONYM: f32 = 0.85;

/// How much a word counts of which only the beginning was asked for, or that is the beginning of what was asked for; less
/// the more is missing.
const PREFIX: f32 = 0.75;

/// A shorter beginning is none.
const SHORTEST_PREFIX: usize = 3;

/// How many words with one beginning are looked at.
const PREFIXED: usize = 64;

/// How much two words that were asked for count as one: `time zone`.
const JOINED: f32 = 0.9;

/// What remains of the score of a document that has next to none of the words; the rest is for having them all.
const COVERAGE: f32 = 0.7;

/// Where a word stands, and how much it counts there.
#[derive(Clone, Copy, Debug)]
struct Posting {
    document: u32,
    weight: f32,
    in_name: bool,
}

/// The words of all documents.
#[derive(Debug, Default)]
pub(in crate::catalog) struct Index {
    documents: usize,
    /// In order, so that those with one beginning stand together.
    terms: Vec<Box<str>>,
    /// For each term.
    postings: Vec<Box<[Posting]>>,
}

/// A word that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) stem: String,
    /// Whether nothing counts that does not have it in its name.
    pub(super) is_required: bool,
}

/// What is put into an index, one document after the other.
#[derive(Debug, Default)]
pub(super) struct Builder {
    ids: HashMap<Box<str>, u32>,
    /// Term, document, field; in the order they came.
    seen: Vec<(u32, u32, Field)>,
    lengths: Vec<[u32; FIELDS]>,
}

impl Builder {
    /// Begins the next document.
    pub(super) fn next(&mut self) {
        self.lengths.push([0; FIELDS]);
    }

    /// Adds a text to the document.
    pub(super) fn add(&mut self, field: Field, text: &str) {
        let mut whole = String::new();
        let mut count = 0;
        words::each(text, |word| {
            count += 1;
            whole.push_str(word);
            self.word(field, word);
        });
        let is_name = matches!(field, Field::Name | Field::Argument | Field::Server);
        if is_name && count > 1 {
            self.word(field, &whole);
        }
    }

    fn word(&mut self, field: Field, word: &str) {
        let Some(document) = self.lengths.len().checked_sub(1) else { return };
        let mut word = word.to_owned();
        words::stem(&mut word);
        let next = self.ids.len() as u32;
        let id = *self.ids.entry(word.into_boxed_str()).or_insert(next);
        self.seen.push((id, document as u32, field));
        if let Some(length) = self.lengths.last_mut().and_then(|lengths| lengths.get_mut(field as usize)) {
            *length += 1;
        }
    }

    pub(super) fn finish(self) -> Index {
        let Self { ids, mut seen, lengths } = self;
        let averages = averages(&lengths);
        let mut terms: Vec<(Box<str>, u32)> = ids.into_iter().collect();
        terms.sort_unstable();
        seen.sort_unstable_by_key(|(term, document, _)| (*term, *document));
        let mut by_id: Vec<Box<[Posting]>> = Vec::with_capacity(terms.len());
        for of_term in seen.chunk_by(|one, other| one.0 == other.0) {
            let documents = of_term.chunk_by(|one, other| one.1 == other.1);
            by_id.push(documents.map(|found| posting(found, &lengths, &averages)).collect());
        }
        let take = |id: &u32| by_id.get_mut(*id as usize).map(std::mem::take).unwrap_or_default();
        let ids: Vec<u32> = terms.iter().map(|(_, id)| *id).collect();
        let postings = ids.iter().map(take).collect();
        let terms = terms.into_iter().map(|(term, _)| term).collect();
        Index { documents: lengths.len(), terms, postings }
    }
}

fn averages(lengths: &[[u32; FIELDS]]) -> [f32; FIELDS] {
    let of = |field: usize| {
        let lengths = lengths.iter().filter_map(|lengths| lengths.get(field)).filter(|length| **length > 0);
        let (sum, count) =
            lengths.fold((0_f32, 0_f32), |(sum, count), length| (sum + *length as f32, count + 1.0));
        if count > 0.0 { sum / count } else { 1.0 }
    };
    std::array::from_fn(of)
}

/// How much a term counts in the document it was seen in, before its rarity does.
fn posting(seen: &[(u32, u32, Field)], lengths: &[[u32; FIELDS]], averages: &[f32; FIELDS]) -> Posting {
    let document = seen.first().map_or(0, |(_, document, _)| *document);
    let lengths = lengths.get(document as usize).copied().unwrap_or_default();
    let count = |field: Field| {
        let at = field as usize;
        let (weight, by_length) = WEIGHTS.get(at).copied().unwrap_or_default();
        let length = lengths.get(at).copied().unwrap_or_default() as f32;
        let average = averages.get(at).copied().unwrap_or(1.0);
        weight / (1.0 - by_length + by_length * length / average)
    };
    let frequency: f32 = seen.iter().map(|(_, _, field)| count(*field)).sum();
    let in_name = seen.iter().any(|(_, _, field)| matches!(field, Field::Name | Field::Server));
    Posting { document, weight: frequency / (SATURATION + frequency), in_name }
}

impl Index {
    /// The documents that have any of these words and all that are required, with their scores, in no order.
    pub(super) fn scores(&self, wanted: &[Wanted]) -> Vec<(u32, f32)> {
        let mut scores = vec![Score::default(); self.documents];
        let required = wanted.iter().filter(|word| word.is_required).count() as u32;
        for (at, word) in wanted.iter().enumerate() {
            let joined = wanted.get(at + 1).map(|next| format!("{}{}", word.stem, next.stem));
            self.score(word, joined.as_deref(), &mut scores);
            scores.iter_mut().for_each(Score::settle);
        }
        let all = wanted.len().max(1) as f32;
        let numbered = (0_u32..).zip(&scores);
        let is_match = |(_, score): &(u32, &Score)| score.total > 0.0 && score.required == required;
        let covered = |score: &Score| COVERAGE + (1.0 - COVERAGE) * score.matched / all;
        numbered.filter(is_match).map(|(document, score)| (document, score.total * covered(score))).collect()
    }

    /// Notes for each document the best that stands for one word.
    fn score(&self, word: &Wanted, joined: Option<&str>, scores: &mut [Score]) {
        let mut take = |term: usize, certainty: f32, is_word: bool| {
            let postings = self.postings.get(term).map_or(&[][..], |postings| postings);
            let rarity = self.rarity(postings.len()) * certainty;
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
        self.find(&word.stem).into_iter().for_each(|term| take(term, 1.0, true));
        self.beginning_with(&word.stem).for_each(|(term, certainty)| take(term, certainty, true));
        self.beginnings_of(&word.stem).for_each(|(term, certainty)| take(term, certainty, false));
        let others = synonyms::of(&word.stem).iter().filter_map(|other| self.find(other));
        others.for_each(|term| take(term, SYNONYM, false));
        joined.and_then(|joined| self.find(joined)).into_iter().for_each(|term| take(term, JOINED, false));
    }

    /// How much a word says that so many documents have.
    fn rarity(&self, having: usize) -> f32 {
        let (all, having) = (self.documents as f32, having as f32);
        (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
    }

    fn find(&self, term: &str) -> Option<usize> {
        self.terms.binary_search_by(|known| known.as_ref().cmp(term)).ok()
    }

    /// Longer terms that begin with this one.
    fn beginning_with(&self, stem: &str) -> impl Iterator<Item = (usize, f32)> {
        let from = self.terms.partition_point(|known| known.as_ref() <= stem);
        let most = if stem.len() >= SHORTEST_PREFIX { PREFIXED } else { 0 };
        let longer = self.terms.iter().enumerate().skip(from).take(most);
        longer
            .take_while(move |(_, term)| term.starts_with(stem))
            .map(move |(at, term)| (at, PREFIX * stem.len() as f32 / term.len() as f32))
    }

    /// Shorter terms that this one begins with.
    fn beginnings_of(&self, stem: &str) -> impl Iterator<Item = (usize, f32)> {
        let shorter = (SHORTEST_PREFIX + 1..stem.len()).filter_map(move |end| stem.get(..end));
        shorter
            .filter_map(move |part| Some((self.find(part)?, PREFIX * part.len() as f32 / stem.len() as f32)))
    }
}

/// What one document has reached.
#[derive(Clone, Copy, Debug, Default)]
struct Score {
    total: f32,
    /// How many of the words it has; what only stands for one counts as a part of it.
    matched: f32,
    required: u32,
    /// For the word that is being looked for.
    word: f32,
    certainty: f32,
    has_required: bool,
}

impl Score {
    /// Adds what one word has brought.
    fn settle(&mut self) {
        self.total += self.word;
        self.matched += self.certainty;
        self.required += u32::from(self.has_required);
        (self.word, self.certainty, self.has_required) = (0.0, 0.0, false);
    }
}
