//! Scores the documents of the index for the words of a query.
//!
//! Each word of the query counts once per document, by its best match: the word itself, another form of it, a
//! synonym, a prefix, or two adjacent words written as one.

use super::{QueryWord, SearchIndex, StemGroup, synonyms, words};

/// The weight of another form of the query word: `directed` for `directions` is weak evidence, `issue` for
/// `issues` is not, and the stemmer cannot tell the two.
const OTHER_FORM: f32 = 0.9;

/// The weight of a word that usually means the same as the query word.
const CLOSE_SYNONYM: f32 = 0.7;

/// The weight of a word that only some people use for the query word. A word has several of them.
const LOOSE_SYNONYM: f32 = 0.45;

/// The weight of a prefix match in either direction, reduced by the length of the missing part.
const PREFIX: f32 = 0.4;

/// The minimum length of a prefix.
const SHORTEST_PREFIX: usize = 3;

/// The maximum number of stems that are compared for one prefix.
const PREFIXED: usize = 64;

/// The weight of two adjacent query words that match as one: `time zone`.
const JOINED: f32 = 0.9;

/// The share of the score that does not depend on coverage; the rest rewards matching all query words.
const COVERAGE: f32 = 0.7;

/// The match of one query word in one document.
#[derive(Clone, Copy, Debug, Default)]
struct WordMatch {
    score: f32,
    /// 1 for the word itself, less for other matches.
    certainty: f32,
    /// Whether the word, or one that begins with it, is in the name.
    is_in_name: bool,
}

/// The score of one document.
#[derive(Clone, Copy, Debug, Default)]
struct DocumentScore {
    total: f32,
    /// The number of matched query words, each by its certainty.
    matched: f32,
    required: u32,
    /// The best match of the current query word.
    best: WordMatch,
}

impl DocumentScore {
    /// Adds the match of the current query word to the total.
    fn add_best_match(&mut self, word: &QueryWord) {
        let best = std::mem::take(&mut self.best);
        self.total += best.score;
        self.matched += best.certainty;
        self.required += u32::from(word.is_required && best.is_in_name);
    }
}

/// The scores of all documents.
struct ScoreTable {
    scores: Vec<DocumentScore>,
    /// The documents that the current query word matches.
    touched: Vec<u32>,
}

impl SearchIndex {
    /// Scores the documents that have any of these words and all required ones, in no particular order.
    pub(crate) fn score_documents(&self, wanted: &[QueryWord]) -> Vec<(u32, f32)> {
        let mut table =
            ScoreTable { scores: vec![DocumentScore::default(); self.documents], touched: Vec::new() };
        let required = wanted.iter().filter(|word| word.is_required).count() as u32;
        for (at, word) in wanted.iter().enumerate() {
            self.score_word(word, wanted.get(at + 1), &mut table);
            table.finish_word(word);
        }
        let all = wanted.len().max(1) as f32;
        let is_match = |(_, score): &(u32, &DocumentScore)| score.total > 0.0 && score.required == required;
        let covered = |score: &DocumentScore| COVERAGE + (1.0 - COVERAGE) * score.matched / all;
        let numbered = (0_u32..).zip(&table.scores).filter(is_match);
        let mut scores: Vec<(u32, f32)> =
            numbered.map(|(document, score)| (document, score.total * covered(score))).collect();
        self.lower_contradicted(wanted, &mut scores);
        scores
    }

    /// Records for each document the best match of one word.
    fn score_word(&self, word: &QueryWord, next: Option<&QueryWord>, table: &mut ScoreTable) {
        let mut take = |group: &StemGroup, certainty: f32, is_name: bool| {
            table.add_group(self, group, word, (certainty, is_name));
        };
        if let Some(group) = self.find_group(&word.stem) {
            take(group, OTHER_FORM, true);
        }
        self.groups_with_prefix(&word.stem).for_each(|(group, certainty)| take(group, certainty, true));
        self.groups_that_are_prefixes(&word.stem)
            .for_each(|(group, certainty)| take(group, certainty, false));
        for other in synonyms::synonyms_of(&word.stem) {
            let weight = if other.is_close { CLOSE_SYNONYM } else { LOOSE_SYNONYM };
            self.find_group(&other.stem).into_iter().for_each(|group| take(group, weight, false));
        }
        if let Some(next) = next
            && let Some(group) = self.find_group(&words::stem_of(&format!("{}{}", word.text, next.text)))
        {
            take(group, JOINED, false);
        }
    }

    /// The inverse document frequency of a word that this many documents have.
    fn inverse_document_frequency(&self, having: u32) -> f32 {
        let (all, having) = (self.documents as f32, having as f32);
        (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
    }

    /// The groups of longer stems that begin with this one.
    fn groups_with_prefix(&self, stem: &str) -> impl Iterator<Item = (&StemGroup, f32)> {
        let from = self.groups.partition_point(|group| group.stem.as_ref() <= stem);
        let most = if stem.len() >= SHORTEST_PREFIX { PREFIXED } else { 0 };
        let longer = self.groups.iter().skip(from).take(most);
        longer
            .take_while(move |group| group.stem.starts_with(stem))
            .map(move |group| (group, PREFIX * stem.len() as f32 / group.stem.len() as f32))
    }

    /// The groups of shorter stems that this one begins with.
    fn groups_that_are_prefixes(&self, stem: &str) -> impl Iterator<Item = (&StemGroup, f32)> {
        let shorter = (SHORTEST_PREFIX + 1..stem.len()).filter_map(move |end| stem.get(..end));
        shorter.filter_map(move |part| {
            Some((self.find_group(part)?, PREFIX * part.len() as f32 / stem.len() as f32))
        })
    }
}

impl ScoreTable {
    /// Records the words of a group: the query word itself with full weight, the others with this certainty.
    fn add_group(
        &mut self,
        index: &SearchIndex,
        group: &StemGroup,
        word: &QueryWord,
        (certainty, is_name): (f32, bool),
    ) {
        for form in &group.forms {
            let is_itself = *form.text == *word.text;
            let (certainty, having) =
                if is_itself { (1.0, form.postings.len() as u32) } else { (certainty, group.documents) };
            let rarity = index.inverse_document_frequency(having) * certainty;
            for posting in &form.postings {
                let Some(score) = self.scores.get_mut(posting.document as usize) else { continue };
                let best = &mut score.best;
                if best.certainty == 0.0 {
                    self.touched.push(posting.document);
                }
                if rarity * posting.weight > best.score {
                    best.score = rarity * posting.weight;
                    best.certainty = certainty;
                }
                best.is_in_name |= is_name && posting.in_name;
            }
        }
    }

    fn finish_word(&mut self, word: &QueryWord) {
        for document in self.touched.drain(..) {
            if let Some(score) = self.scores.get_mut(document as usize) {
                score.add_best_match(word);
            }
        }
    }
}
