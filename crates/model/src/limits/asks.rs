//! What servers may ask of a model, say in a log and have completed.

use std::time::Duration;

/// The most that one question to a model may hold, in bytes: more than the context of a model takes in.
pub const SAMPLE_BYTES: usize = 4 * 1024 * 1024;

/// How many messages one question to a model may have.
pub const SAMPLE_MESSAGES: usize = 256;

/// How many tools one question to a model may bring.
pub const SAMPLE_TOOLS: usize = 128;

/// How many questions of one server a model works on at the same time; the others wait.
pub const SAMPLES_AT_ONCE: usize = 4;

/// How many questions to a model one server may have a minute: each costs somebody money, and the clock of the call
/// that asks stands still (B114).
pub const SAMPLES_A_MINUTE: u32 = 60;

/// The minute of [`SAMPLES_A_MINUTE`].
pub const SAMPLES_EVERY: Duration = Duration::from_secs(60);

/// How many log messages one server may send within [`LOG_MESSAGES_EVERY`]; more are counted and left out.
pub const LOG_MESSAGES: u32 = 500;

/// The time of [`LOG_MESSAGES`].
pub const LOG_MESSAGES_EVERY: Duration = Duration::from_secs(5);

/// How many values a completion may have: as many as the protocol allows.
pub const COMPLETION_VALUES: usize = 100;

/// How long one of them may be.
pub const COMPLETION_CHARS: usize = 1024;

/// How long a completion may take, starting its server included: somebody waits at a key.
pub const COMPLETION_TIME: Duration = Duration::from_secs(10);

/// How long an id may be that a server gives a task.
pub const TASK_ID_BYTES: usize = 1024;

/// How much of what a server says about a task is kept.
pub const TASK_MESSAGE_CHARS: usize = 1024;

/// How long to wait before looking at a task again, when its server does not say.
pub const TASK_POLL: Duration = Duration::from_secs(1);

/// How long to wait at least, whatever its server says.
pub const TASK_POLL_LEAST: Duration = Duration::from_millis(100);

/// How long to wait at most, whatever its server says.
pub const TASK_POLL_MOST: Duration = Duration::from_secs(30);

/// How many looks at a task may be lost in a row before it is given up.
pub const TASK_LOSSES: u32 = 5;
