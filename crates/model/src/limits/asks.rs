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
