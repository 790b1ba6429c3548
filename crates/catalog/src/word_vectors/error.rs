//! The faults of a file with word vectors.

use mcparley_model::limits::{VECTOR_DIMENSIONS, VECTOR_TABLE_BYTES, VECTOR_TOKENS};

/// The reason why word vectors cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WordVectorsError {
    /// The file cannot be read, or is too large.
    #[error("{0}")]
    Unreadable(String),
    /// The header of the tensors is not that of a safetensors file.
    #[error("this is not a safetensors file: {0}")]
    Header(String),
    /// A tensor is missing.
    #[error("there is no tensor `embeddings`")]
    NoEmbeddings,
    /// A tensor has a type that is not supported.
    #[error("tensor `{tensor}` has the type `{dtype}`")]
    Type {
        /// The name of the tensor.
        tensor: &'static str,
        /// Its type.
        dtype: String,
    },
    /// The shape of a tensor does not fit.
    #[error("tensor `{tensor}` has the shape {shape:?}")]
    Shape {
        /// The name of the tensor.
        tensor: &'static str,
        /// Its shape.
        shape: Vec<u64>,
    },
    /// A tensor is not where the header says.
    #[error("tensor `{tensor}` is cut off or has another size than its shape")]
    Size {
        /// The name of the tensor.
        tensor: &'static str,
    },
    /// A number is infinite or none at all, or an index points outside.
    #[error("tensor `{tensor}` has an unusable number in row {row}")]
    Number {
        /// The name of the tensor.
        tensor: &'static str,
        /// The row of the number.
        row: usize,
    },
    /// The tokenizer is not valid JSON of the expected form.
    #[error("this is not a tokenizer: {0}")]
    Tokenizer(String),
    /// The tokenizer is of another kind.
    #[error("the tokenizer is of the kind `{0}`, not `WordPiece`")]
    TokenizerKind(String),
    /// A token has no row.
    #[error("the tokenizer has a token {id}, but there are only {tokens} rows")]
    TokenId {
        /// The id of the token.
        id: u64,
        /// The number of rows.
        tokens: usize,
    },
    /// A limit is exceeded.
    #[error("{what} exceeds the limit of {limit}")]
    Limit {
        /// The thing that is too large.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}

impl WordVectorsError {
    pub(super) const TABLE: Self =
        Self::Limit { what: "the table of vectors, at a byte per number,", limit: VECTOR_TABLE_BYTES };
    pub(super) const DIMENSIONS: Self =
        Self::Limit { what: "the number of dimensions", limit: VECTOR_DIMENSIONS };
    pub(super) const TOKENS: Self = Self::Limit { what: "the number of tokens", limit: VECTOR_TOKENS };

    /// Advice for the user.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Limit { .. } => Some(
                "use a smaller model, or reduce its dimensions with model2vec's `dimensionality`".to_owned(),
            ),
            Self::Type { .. } => Some("use one of the types F32, F16, BF16 and I8".to_owned()),
            Self::NoEmbeddings | Self::TokenizerKind(_) | Self::Header(_) | Self::Tokenizer(_) => {
                Some("give the folder of a model2vec model with a WordPiece tokenizer".to_owned())
            }
            Self::Unreadable(_)
            | Self::Shape { .. }
            | Self::Size { .. }
            | Self::Number { .. }
            | Self::TokenId { .. } => None,
        }
    }
}
