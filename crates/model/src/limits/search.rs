//! Limits of tool search.

use std::time::Duration;

/// The default number of tools in a search result.
pub const SEARCH_RESULTS: usize = 5;

/// The maximum number of tools in a search result: more would fill the context that deferring them has
/// spared.
pub const SEARCH_RESULTS_MOST: usize = 50;

/// The maximum number of words of a query. Each costs time, and real queries are shorter.
pub const SEARCH_WORDS: usize = 32;

/// The token budget of the definitions in a search result; further tools come without their arguments.
pub const SEARCH_ANSWER_TOKENS: u64 = 10_000;

/// The number of characters of a server's error that a model sees.
pub const SEARCH_ERROR_CHARS: usize = 300;

/// The time a search waits for servers that are still connecting: long enough for most to start, and short
/// for a model.
pub const SEARCH_WAIT: Duration = Duration::from_secs(5);

/// The maximum number of searched arguments of one tool; some APIs have hundreds, and the first describe
/// its purpose.
pub const SEARCHED_ARGUMENTS: usize = 100;

/// The maximum depth in a tool's schema at which arguments are searched.
pub const SEARCHED_DEPTH: usize = 3;

/// The maximum number of searched characters of one text of a tool: the length of a description.
pub const SEARCHED_CHARS: usize = super::DESCRIPTION_CHARS;
