//! How much of a result a model is given, and what becomes of the rest.

use std::time::Duration;

/// How many characters of text one result may give a model (`MCPARLEY_MAX_RESULT_CHARS`): with four of them to a token,
/// as many as [`RESULT_TOKENS`].
pub const RESULT_CHARS: usize = 100_000;

/// How many tokens, by estimate, one result may give a model (`MAX_MCP_OUTPUT_TOKENS`): an eighth of a usual window.
pub const RESULT_TOKENS: usize = 25_000;

/// How many characters a tool may claim for its results with `anthropic/maxResultSizeChars`.
pub const RESULT_CHARS_CLAIMED: usize = 500_000;

/// How many bytes a model is given in place of a result that was stored.
pub const STORED_NOTE_BYTES: usize = 2048;

/// How many characters the outline of stored JSON may have.
pub const OUTLINE_CHARS: usize = 800;

/// How many elements of a list the outline looks at; what follows is mostly the same.
pub const OUTLINE_ELEMENTS: usize = 200;

/// How long the results of a session that has ended are kept.
pub const RESULTS_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// How many bytes the results of all sessions that have ended may take up; the oldest go first.
pub const RESULTS_BYTES: u64 = 1024 * 1024 * 1024;

/// How many sessions that have ended are looked at when room is made.
pub const RESULTS_SESSIONS: usize = 10_000;

/// How many bytes the results of one session may take up. What comes after is cut instead of stored: nothing that a model
/// was told it can read may vanish.
pub const SESSION_RESULTS_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// How many results one session may store.
pub const SESSION_RESULTS: usize = 10_000;

/// How many bytes of results are kept where there is no folder for them, and memory has to do.
pub const MEMORY_RESULTS_BYTES: u64 = 64 * 1024 * 1024;

/// How many bytes `ReadResult` gives at once.
pub const READ_BYTES: usize = 40_000;

/// How many lines `ReadResult` finds at once with a pattern, unless asked for fewer.
pub const READ_MATCHES: usize = 100;

/// How many lines around one that was found are shown at most.
pub const READ_CONTEXT: usize = 10;

/// How many characters of a line are shown around what was found in it.
pub const READ_LINE_CHARS: usize = 400;

/// How long the longer edge of an image may be for a model: providers make larger ones smaller themselves, after they have
/// been sent and paid for.
pub const IMAGE_EDGE: u32 = 1568;

/// How many bytes an image may have in base64 for a model: what the strictest provider takes.
pub const IMAGE_BASE64_BYTES: usize = 5 * 1024 * 1024;

/// How many bytes an image may have to be looked at (H40); a larger one is stored.
pub const IMAGE_BYTES: usize = 10 * 1024 * 1024;

/// How many pixels an image may have to be looked at, by what its first bytes say (B102); unpacked each takes four bytes.
pub const IMAGE_PIXELS: u64 = 50_000_000;

/// How many images one result may show: providers refuse a conversation with too many, and each costs a thousand tokens.
pub const RESULT_IMAGES: usize = 20;

/// How many images are unpacked at the same time.
pub const IMAGES_AT_ONCE: usize = 2;

/// The least that [`MESSAGE_BYTES`](super::MESSAGE_BYTES) can be set to (`MCPARLEY_MAX_MESSAGE_BYTES`): lists of tools have
/// to come through.
pub const MESSAGE_BYTES_LEAST: usize = 1024 * 1024;

/// The most that it can be set to: beyond it memory ends before the message.
pub const MESSAGE_BYTES_MOST: usize = 1024 * 1024 * 1024;
