//! Builder of the search index, filled one document after the other.

use std::collections::HashMap;

use super::exact_name::ExactNames;
use super::meaning::MeaningBuilder;
use super::{FIELDS, Posting, SATURATION, SearchField, SearchIndex, StemGroup, WEIGHTS, WordForm, words};
use crate::word_vectors::WordVectors;

/// Collects the words of all documents.
#[derive(Debug, Default)]
pub(super) struct Builder<'v> {
    ids: HashMap<Box<str>, u32>,
    /// Word, document and field, in the order of insertion.
    seen: Vec<(u32, u32, SearchField)>,
    lengths: Vec<[u32; FIELDS]>,
    names: ExactNames,
    meanings: Option<MeaningBuilder<'v>>,
}

impl<'v> Builder<'v> {
    /// A builder that also collects the meanings of documents, if there are word vectors.
    pub(super) fn new(vectors: Option<&'v WordVectors>) -> Self {
        Self { meanings: vectors.map(MeaningBuilder::new), ..Self::default() }
    }

    /// Begins the next document.
    pub(super) fn begin_document(&mut self) {
        self.lengths.push([0; FIELDS]);
        if let Some(meanings) = &mut self.meanings {
            meanings.begin_document();
        }
    }

    /// Adds the exact names of the current document.
    pub(super) fn add_exact_names(&mut self, name: &str, title: &str, server: &str) {
        if let Some(document) = self.lengths.len().checked_sub(1) {
            self.names.add_tool(document as u32, name, title, server);
        }
    }

    /// Adds a text to the current document.
    pub(super) fn add_text(&mut self, field: SearchField, text: &str) {
        if let Some(meanings) = &mut self.meanings {
            meanings.add_text(field, text);
        }
        let mut whole = String::new();
        let mut count = 0;
        words::for_each_word(text, |word| {
            count += 1;
            whole.push_str(word);
            self.add_word(field, word);
        });
        if let Some(length) = self.lengths.last_mut().and_then(|lengths| lengths.get_mut(field as usize)) {
            *length += count;
        }
        let is_name = matches!(field, SearchField::Name | SearchField::Argument | SearchField::Server);
        if is_name && count > 1 {
            self.add_word(field, &whole);
        }
    }

    fn add_word(&mut self, field: SearchField, word: &str) {
        let Some(document) = self.lengths.len().checked_sub(1) else { return };
        let id = match self.ids.get(word) {
            Some(id) => *id,
            None => {
                let next = self.ids.len() as u32;
                self.ids.insert(word.into(), next);
                next
            }
        };
        self.seen.push((id, document as u32, field));
    }

    pub(super) fn build_index(self) -> SearchIndex {
        let Self { ids, mut seen, lengths, names, meanings } = self;
        let averages = average_lengths(&lengths);
        seen.sort_unstable_by_key(|(word, document, _)| (*word, *document));
        let mut by_id: Vec<Box<[Posting]>> = Vec::with_capacity(ids.len());
        for of_word in seen.chunk_by(|one, other| one.0 == other.0) {
            let documents = of_word.chunk_by(|one, other| one.1 == other.1);
            by_id.push(documents.map(|found| weigh_posting(found, &lengths, &averages)).collect());
        }
        let mut take = |id: u32| by_id.get_mut(id as usize).map(std::mem::take).unwrap_or_default();
        let mut forms: Vec<(String, WordForm)> = ids
            .into_iter()
            .map(|(text, id)| (words::stem_of(&text), WordForm { text, postings: take(id) }))
            .collect();
        forms.sort_unstable_by(|(stem, form), (other_stem, other)| {
            stem.cmp(other_stem).then_with(|| form.text.cmp(&other.text))
        });
        SearchIndex {
            documents: lengths.len(),
            groups: group_forms(forms),
            names: names.into_sorted(),
            meanings: meanings.map(MeaningBuilder::build_meanings),
        }
    }
}

/// Groups words that are sorted by stem.
fn group_forms(forms: Vec<(String, WordForm)>) -> Box<[StemGroup]> {
    let mut groups: Vec<(String, Vec<WordForm>)> = Vec::new();
    for (stem, form) in forms {
        match groups.last_mut() {
            Some((last, forms)) if *last == stem => forms.push(form),
            _ => groups.push((stem, vec![form])),
        }
    }
    let to_group = |(stem, forms): (String, Vec<WordForm>)| StemGroup {
        documents: count_documents(&forms),
        stem: stem.into_boxed_str(),
        forms: forms.into_boxed_slice(),
    };
    groups.into_iter().map(to_group).collect()
}

fn count_documents(forms: &[WordForm]) -> u32 {
    let [form] = forms else {
        let postings = forms.iter().flat_map(|form| &form.postings);
        let mut documents: Vec<u32> = postings.map(|posting| posting.document).collect();
        documents.sort_unstable();
        documents.dedup();
        return documents.len() as u32;
    };
    form.postings.len() as u32
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

/// Computes the weight of a word in one document, without its inverse document frequency.
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
