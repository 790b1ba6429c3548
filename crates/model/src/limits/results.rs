//! Limits of results: how much of a result a model sees, and how much is stored.

use std::time::Duration;

/// The maximum number of characters of one result for a model (`MCPARLEY_MAX_RESULT_CHARS`): at four per
/// token, as many as [`RESULT_TOKENS`].
pub const RESULT_CHARS: usize = 100_000;

/// The maximum number of estimated tokens of one result for a model (`MAX_MCP_OUTPUT_TOKENS`): an eighth of
/// a usual context.
pub const RESULT_TOKENS: usize = 25_000;

/// The largest size in characters that a tool may request for its results with
/// `anthropic/maxResultSizeChars`.
pub const RESULT_CHARS_CLAIMED: usize = 500_000;

/// The size in bytes of the note that a model sees instead of a stored result.
pub const STORED_NOTE_BYTES: usize = 2048;

/// The maximum length of the outline of stored JSON in characters.
pub const OUTLINE_CHARS: usize = 800;

/// The number of list elements the outline examines; the following ones are mostly alike.
pub const OUTLINE_ELEMENTS: usize = 200;

/// The time for which results of ended sessions are kept.
pub const RESULTS_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The maximum size of the stored results of all ended sessions; the oldest are deleted first.
pub const RESULTS_BYTES: u64 = 1024 * 1024 * 1024;

/// The maximum number of ended sessions that are examined when space is freed.
pub const RESULTS_SESSIONS: usize = 10_000;

/// The maximum size of the stored results of one session. Later results are truncated instead of stored: a
/// result that a model was told it can read must not vanish.
pub const SESSION_RESULTS_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// The maximum number of stored results of one session.
pub const SESSION_RESULTS: usize = 10_000;

/// The maximum size of results kept in memory when there is no folder to store them.
pub const MEMORY_RESULTS_BYTES: u64 = 64 * 1024 * 1024;

/// The number of bytes in one page of `ReadResult`.
pub const READ_BYTES: usize = 40_000;

/// The default maximum number of lines that a `ReadResult` search returns.
pub const READ_MATCHES: usize = 100;

/// The maximum number of context lines around a match.
pub const READ_CONTEXT: usize = 10;

/// The number of characters of a line shown around a match.
pub const READ_LINE_CHARS: usize = 400;

/// The longer edge of an image for a model, in pixels: providers scale larger ones down themselves, after
/// they have been sent and paid for.
pub const IMAGE_EDGE: u32 = 1568;

/// The maximum size of an image in base64 for a model: the limit of the strictest provider.
pub const IMAGE_BASE64_BYTES: usize = 5 * 1024 * 1024;

/// The maximum size of an image that is decoded; a larger one is stored.
pub const IMAGE_BYTES: usize = 10 * 1024 * 1024;

/// The maximum number of pixels, by its header, of an image that is decoded; each takes four bytes in
/// memory.
pub const IMAGE_PIXELS: u64 = 50_000_000;

/// The maximum number of images of one result: providers refuse a conversation with too many, and each
/// costs a thousand tokens.
pub const RESULT_IMAGES: usize = 20;

/// The maximum number of images decoded at the same time.
pub const IMAGES_AT_ONCE: usize = 2;

/// The smallest value for [`MESSAGE_BYTES`](super::MESSAGE_BYTES) (`MCPARLEY_MAX_MESSAGE_BYTES`): tool
/// lists have to fit.
pub const MESSAGE_BYTES_LEAST: usize = 1024 * 1024;

/// The largest value for [`MESSAGE_BYTES`](super::MESSAGE_BYTES): beyond it memory runs out before the
/// message ends.
pub const MESSAGE_BYTES_MOST: usize = 1024 * 1024 * 1024;
