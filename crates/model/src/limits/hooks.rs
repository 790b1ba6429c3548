//! Limits of hooks: the user's own programs that run beside calls.

use std::time::Duration;

/// The default timeout of a hook.
pub const HOOK_TIME: Duration = Duration::from_secs(60);

/// The longest accepted `timeout` of a hook: a call waits for it.
pub const HOOK_TIME_MOST: Duration = Duration::from_secs(10 * 60);

/// The maximum output of a hook; a larger output is ignored.
pub const HOOK_OUTPUT_BYTES: usize = 1024 * 1024;

/// The number of bytes kept of a hook's standard error: the end, which has the reason.
pub const HOOK_SAID_BYTES: usize = 8 * 1024;

/// The number of characters of a hook's message that are passed on to a model or the user.
pub const HOOK_TEXT_CHARS: usize = 10_000;

/// The maximum number of hooks in all settings together; more are ignored.
pub const HOOKS: usize = 256;

/// The maximum number of concurrent hooks for one event; the others wait.
pub const HOOKS_AT_ONCE: usize = 16;

/// The longest `matcher`, in bytes.
pub const MATCHER_BYTES: usize = 1024;

/// The number of hook messages and failures that are remembered.
pub const HOOK_NOTES: usize = 100;
