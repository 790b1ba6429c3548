//! Limits of tool search.

use std::time::Duration;

/// The default number of tools in a search result.
pub const SEARCH_RESULTS: usize = 8;

/// The maximum number of tools in a search result: more would fill the context that deferring them has
/// spared.
pub const SEARCH_RESULTS_MOST: usize = 50;

/// The maximum number of different words of a query. Each costs time; only a user's whole message has more.
pub const SEARCH_WORDS: usize = 64;

/// The token budget of the definitions that are selected by name; further tools come with their signature only.
pub const SEARCH_ANSWER_TOKENS: u64 = 10_000;

/// The bytes of input schemas in the answer to a search by words. The best matches come with their schema, so
/// that clients that do not refresh their list can call them; a usual answer stays below 6 kB.
pub const SEARCH_SCHEMA_BYTES: usize = 700;

/// The number of characters of a found tool's description: its first line, enough to choose by.
pub const SEARCH_SUMMARY_CHARS: usize = 120;

/// The number of characters of a found tool's signature. Few tools have more arguments than fit.
pub const SEARCH_SIGNATURE_CHARS: usize = 240;

/// The number of characters of a server's error that a model sees.
pub const SEARCH_ERROR_CHARS: usize = 300;

/// The time a search waits for servers that are still connecting: long enough for most to start, and short
/// for a model.
pub const SEARCH_WAIT: Duration = Duration::from_secs(5);

/// The maximum number of searched arguments of one tool; some APIs have hundreds, and the first describe
/// its purpose.
pub const SEARCHED_ARGUMENTS: usize = 100;

/// The maximum number of searched values that the arguments of one tool list; some list every country.
pub const SEARCHED_VALUES: usize = 200;

/// The maximum depth in a tool's schema at which arguments are searched.
pub const SEARCHED_DEPTH: usize = 3;

/// The maximum number of searched characters of one text of a tool: the length of a description.
pub const SEARCHED_CHARS: usize = super::DESCRIPTION_CHARS;

/// The maximum size of a file with word vectors: a model of 30,000 tokens and 256 dimensions has 31 MB in F32.
pub const VECTOR_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// The maximum size of the tokenizer of word vectors.
pub const VECTOR_TOKENIZER_BYTES: u64 = 16 * 1024 * 1024;

/// The maximum size of the header of a file with word vectors, which describes a few tensors.
pub const VECTOR_HEADER_BYTES: usize = 1024 * 1024;

/// The maximum number of numbers in a table of word vectors, which is held with a byte for each.
pub const VECTOR_TABLE_BYTES: usize = 10 * 1024 * 1024;

/// The maximum number of dimensions of word vectors. Static vectors gain little beyond 256.
pub const VECTOR_DIMENSIONS: usize = 1024;

/// The maximum number of tokens that have a vector.
pub const VECTOR_TOKENS: usize = 300_000;

/// The maximum length of a token, in bytes: that of a word in a search.
pub const VECTOR_TOKEN_BYTES: usize = 52;

/// The maximum number of tokens of one text that count for its meaning; more change the mean little.
pub const VECTOR_TEXT_TOKENS: usize = 1024;
