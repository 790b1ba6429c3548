//! How much of what people have decided about tools is kept, and shown.

use std::time::Duration;

/// How many lines of a difference between two definitions are shown; the rest is counted.
pub const CHANGE_LINES: usize = 100;

/// How many characters one of these lines may have: enough for a description, which is the longest.
pub const CHANGE_LINE_CHARS: usize = 2200;

/// The most that is kept about the tools of one server: the largest list seen in the wild has 2 MB.
pub const TRUST_BYTES: u64 = 16 * 1024 * 1024;

/// How many servers something is kept about; those that were not met for longest go first.
pub const TRUST_SERVERS: usize = 1_000;

/// How many rules of "always allow" are kept with the definitions they hold for.
pub const BOUND_RULES: usize = 10_000;

/// The most that is kept of calls that wait for a person's permission: a thousand of them, the oldest go first.
pub const PENDING_BYTES: u64 = 256 * 1024;

/// How long a command that classifies a call may take, unless the settings say otherwise. A person waits meanwhile.
pub const CLASSIFIER_TIME: Duration = Duration::from_secs(10);
