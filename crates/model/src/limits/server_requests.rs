//! Limits of server requests: sampling, log messages, completions and tasks.

use std::time::Duration;

/// The maximum size of one sampling request, in bytes: more than a model's context holds.
pub const SAMPLE_BYTES: usize = 4 * 1024 * 1024;

/// The maximum number of messages in one sampling request.
pub const SAMPLE_MESSAGES: usize = 256;

/// The maximum number of tools in one sampling request.
pub const SAMPLE_TOOLS: usize = 128;

/// The maximum number of concurrent sampling requests of one server; the others wait.
pub const SAMPLES_AT_ONCE: usize = 4;

/// The rate limit of sampling requests per server and minute: each costs the user money, and the deadline
/// of the calling request is suspended meanwhile.
pub const SAMPLES_A_MINUTE: u32 = 60;

/// The period of [`SAMPLES_A_MINUTE`].
pub const SAMPLES_EVERY: Duration = Duration::from_secs(60);

/// The rate limit of log messages per server within [`LOG_MESSAGES_EVERY`]; more are counted and dropped.
pub const LOG_MESSAGES: u32 = 500;

/// The period of [`LOG_MESSAGES`].
pub const LOG_MESSAGES_EVERY: Duration = Duration::from_secs(5);

/// The maximum number of values of a completion, as the protocol defines it.
pub const COMPLETION_VALUES: usize = 100;

/// The maximum length of one completion value in characters.
pub const COMPLETION_CHARS: usize = 1024;

/// The timeout of a completion, including the start of its server: the user waits at the keyboard.
pub const COMPLETION_TIME: Duration = Duration::from_secs(10);

/// The maximum size of a task id.
pub const TASK_ID_BYTES: usize = 1024;

/// The number of characters kept of a task's status message.
pub const TASK_MESSAGE_CHARS: usize = 1024;

/// The default polling interval of a task when the server does not name one.
pub const TASK_POLL: Duration = Duration::from_secs(1);

/// The shortest polling interval of a task, even if the server names a shorter one.
pub const TASK_POLL_LEAST: Duration = Duration::from_millis(100);

/// The longest polling interval of a task, even if the server names a longer one.
pub const TASK_POLL_MOST: Duration = Duration::from_secs(30);

/// The number of consecutive failed polls after which a task is given up.
pub const TASK_LOSSES: u32 = 5;
