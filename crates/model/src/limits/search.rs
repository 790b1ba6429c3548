//! What a search for tools gives and takes (N10).

use std::time::Duration;

/// How many tools a search gives unless more are asked for.
pub const SEARCH_RESULTS: usize = 5;

/// How many it gives at most: more would fill the context that deferring them has spared.
pub const SEARCH_RESULTS_MOST: usize = 50;

/// How many words of a query count. Nobody types more, and each costs time.
pub const SEARCH_WORDS: usize = 32;

/// How many tokens the definitions in the answer to a search may take; the tools after that come without their arguments.
pub const SEARCH_ANSWER_TOKENS: u64 = 10_000;

/// How many characters of a server's error a model is told.
pub const SEARCH_ERROR_CHARS: usize = 300;

/// How long a search waits for servers that are on their way: long enough for most to start, and short for a model.
pub const SEARCH_WAIT: Duration = Duration::from_secs(5);

/// How many arguments of one tool are searched; some APIs have hundreds, and the first say what it is for.
pub const SEARCHED_ARGUMENTS: usize = 100;

/// How deep in a tool's schema arguments are looked for.
pub const SEARCHED_DEPTH: usize = 3;

/// How many characters of one text of a tool are searched: as many as a description may have.
pub const SEARCHED_CHARS: usize = super::DESCRIPTION_CHARS;
