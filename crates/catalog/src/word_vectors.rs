//! Static word vectors: the meaning of a text as the mean of the vectors of its tokens.
//!
//! The form is that of model2vec: a table with one row per token, and the vocabulary of the tokenizer that splits
//! words into tokens. Both come from outside, so every number of them is checked. The table is held with one byte
//! per number; a row of another type is quantized when it is read.

mod error;
mod source;
mod tensors;
mod vocabulary;

use std::fmt;

use mcparley_model::limits::VECTOR_TEXT_TOKENS;

pub use error::WordVectorsError;
pub use source::{WordVectorsReader, WordVectorsSource};

use crate::words;
use tensors::EmbeddingTable;
use vocabulary::Vocabulary;

/// The static vectors of all tokens.
pub struct WordVectors {
    vocabulary: Vocabulary,
    table: EmbeddingTable,
}

/// The sum of token vectors that becomes the meaning of a text.
#[derive(Debug)]
pub(crate) struct TextSum<'v> {
    vectors: &'v WordVectors,
    sum: Vec<f32>,
    /// The number of tokens that may still be added.
    room: usize,
}

/// The meaning of a text: a vector of length 1, with one byte per number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TextVector {
    pub(crate) numbers: Box<[i8]>,
    /// The factor that turns the bytes into numbers.
    pub(crate) scale: f32,
}

impl WordVectors {
    /// Parses the two files of a model: `model.safetensors` and `tokenizer.json`.
    ///
    /// # Errors
    /// The first fault of either.
    pub fn parse(safetensors: &[u8], tokenizer: &[u8]) -> Result<Self, WordVectorsError> {
        let table = EmbeddingTable::parse(safetensors)?;
        let vocabulary = Vocabulary::parse(tokenizer, table.tokens())?;
        Ok(Self { vocabulary, table })
    }

    /// The number of dimensions.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.table.dimensions()
    }

    pub(crate) fn begin_text(&self) -> TextSum<'_> {
        TextSum { vectors: self, sum: vec![0.0; self.dimensions()], room: VECTOR_TEXT_TOKENS }
    }

    /// The meaning of a text; `None` if no token of it is known.
    pub(crate) fn embed_text(&self, text: &str) -> Option<TextVector> {
        let mut sum = self.begin_text();
        sum.add_text(text, 1.0);
        sum.into_vector()
    }
}

impl fmt::Debug for WordVectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WordVectors").field("dimensions", &self.dimensions()).finish_non_exhaustive()
    }
}

impl TextSum<'_> {
    /// Adds the words of a text, each with this weight. Words that the vocabulary cannot spell are left out.
    pub(crate) fn add_text(&mut self, text: &str, weight: f32) {
        words::for_each_word(text, |word| {
            if self.room == 0 {
                return;
            }
            self.vectors.vocabulary.split_word(word, |token| {
                if let Some(room) = self.room.checked_sub(1) {
                    self.room = room;
                    self.vectors.table.add_row(token, weight, &mut self.sum);
                }
            });
        });
    }

    /// The mean, scaled to length 1; `None` if no token was known, or if their vectors cancel out.
    pub(crate) fn into_vector(self) -> Option<TextVector> {
        let length = self.sum.iter().map(|number| number * number).sum::<f32>().sqrt();
        if !length.is_finite() || length < f32::MIN_POSITIVE {
            return None;
        }
        let most = self.sum.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
        let numbers = self.sum.iter().map(|number| (number / most * 127.0).round() as i8).collect();
        Some(TextVector { numbers, scale: most / 127.0 / length })
    }
}

impl TextVector {
    /// The cosine of the angle between this vector and another one.
    pub(crate) fn cosine(&self, numbers: &[i8], scale: f32) -> f32 {
        let product: i32 =
            self.numbers.iter().zip(numbers).map(|(one, other)| i32::from(*one) * i32::from(*other)).sum();
        product as f32 * self.scale * scale
    }
}

#[cfg(test)]
pub(crate) mod tests;
