//! Meanings of documents: the mean of the vectors of their words, to compare with that of a query.

use super::{FIELDS, SearchField, SearchIndex};
use crate::word_vectors::{TextSum, TextVector, WordVectors};

/// The weight of each word of a field, by [`SearchField`].
///
/// A name, a title and a hint are chosen to say the purpose; descriptions of arguments are mostly about values. The
/// server's name and listed values are products and codes, of which such vectors know little. The results depend
/// little on these weights.
const MEANING_WEIGHTS: [f32; FIELDS] = [2.0, 2.0, 2.0, 0.0, 1.0, 1.0, 1.0, 0.5, 0.0];

/// The meanings of all documents, one byte per number.
#[derive(Debug)]
pub(super) struct ToolMeanings {
    dimensions: usize,
    numbers: Box<[i8]>,
    /// The factor of each document; 0 if its meaning is unknown.
    scales: Box<[f32]>,
}

/// Collects the meanings of documents, one after the other.
#[derive(Debug)]
pub(super) struct MeaningBuilder<'v> {
    vectors: &'v WordVectors,
    document: Option<TextSum<'v>>,
    numbers: Vec<i8>,
    scales: Vec<f32>,
}

impl<'v> MeaningBuilder<'v> {
    pub(super) fn new(vectors: &'v WordVectors) -> Self {
        Self { vectors, document: None, numbers: Vec::new(), scales: Vec::new() }
    }

    pub(super) fn begin_document(&mut self) {
        self.finish_document();
        self.document = Some(self.vectors.begin_text());
    }

    pub(super) fn add_text(&mut self, field: SearchField, text: &str) {
        let weight = MEANING_WEIGHTS.get(field as usize).copied().unwrap_or_default();
        if let Some(document) = self.document.as_mut().filter(|_| weight > 0.0) {
            document.add_text(text, weight);
        }
    }

    fn finish_document(&mut self) {
        let Some(document) = self.document.take() else { return };
        match document.into_vector() {
            Some(vector) => {
                self.numbers.extend_from_slice(&vector.numbers);
                self.scales.push(vector.scale);
            }
            None => {
                self.numbers.resize(self.numbers.len() + self.vectors.dimensions(), 0);
                self.scales.push(0.0);
            }
        }
    }

    pub(super) fn build_meanings(mut self) -> ToolMeanings {
        self.finish_document();
        ToolMeanings {
            dimensions: self.vectors.dimensions(),
            numbers: self.numbers.into_boxed_slice(),
            scales: self.scales.into_boxed_slice(),
        }
    }
}

impl SearchIndex {
    /// The cosine of the angle between the meanings of the query and each document; none without word vectors.
    pub(crate) fn compare_meanings(&self, query: &TextVector) -> Vec<f32> {
        let Some(meanings) = &self.meanings else { return Vec::new() };
        let documents = meanings.numbers.chunks_exact(meanings.dimensions).zip(&meanings.scales);
        documents.map(|(numbers, scale)| query.cosine(numbers, *scale)).collect()
    }
}
