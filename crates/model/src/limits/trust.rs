//! Limits of the stored trust decisions about tools, and of displayed definition changes.

use std::time::Duration;

/// The maximum number of displayed lines of a definition change; the rest is counted.
pub const CHANGE_LINES: usize = 100;

/// The maximum length of one of these lines: enough for a description, which is the longest.
pub const CHANGE_LINE_CHARS: usize = 2200;

/// The maximum size of the trust record of one server: the largest tool list seen in the wild has 2 MB.
pub const TRUST_BYTES: u64 = 16 * 1024 * 1024;

/// The maximum number of servers with a trust record; the least recently used ones are deleted first.
pub const TRUST_SERVERS: usize = 1_000;

/// The maximum number of "always allow" rules kept with the definitions they are bound to.
pub const BOUND_RULES: usize = 10_000;

/// The maximum size of the file of calls that wait for permission: a thousand of them, the oldest are
/// dropped first.
pub const PENDING_BYTES: u64 = 256 * 1024;

/// The default timeout of the classifier command. The user waits meanwhile.
pub const CLASSIFIER_TIME: Duration = Duration::from_secs(10);
