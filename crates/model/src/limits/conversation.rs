//! Limits of conversations with a model: requests, answers and rounds.

use std::time::Duration;

/// The maximum number of requests to the model for one message of the user. A task of a person rarely takes
/// more than twenty; a model that repeats itself would go on for ever.
pub const CONVERSATION_ROUNDS: usize = 50;

/// The maximum number of tokens of one answer, where the API demands a number.
pub const ANSWER_TOKENS: u64 = 16_000;

/// The maximum size of one event of an answer stream: a whole call with its arguments may be one event.
pub const ANSWER_EVENT_BYTES: usize = 4 * 1024 * 1024;

/// The maximum size of an answer stream. Its framing is several times as long as the text in it.
pub const ANSWER_STREAM_BYTES: usize = 32 * 1024 * 1024;

/// The maximum size of the text and the arguments of one answer.
pub const ANSWER_BYTES: usize = 4 * 1024 * 1024;

/// The maximum number of tool calls in one answer.
pub const ANSWER_CALLS: usize = 128;

/// The time an answer stream may be silent: models think for minutes before the first word.
pub const ANSWER_SILENCE: Duration = Duration::from_secs(300);

/// The maximum number of attempts for one request to a model.
pub const MODEL_TRIES: u32 = 4;

/// The pause before the second attempt; it doubles with each further one.
pub const MODEL_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause that a model's API may request; beyond it the request fails at once.
pub const MODEL_PAUSE_LONGEST: Duration = Duration::from_secs(60);

/// The maximum number of characters of an API's error message.
pub const MODEL_ERROR_CHARS: usize = 500;
