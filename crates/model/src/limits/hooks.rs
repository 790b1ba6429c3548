//! Limits of hooks: programs of the user's own beside every call (P5).

use std::time::Duration;

/// How long a hook may take, unless its `timeout` says otherwise.
pub const HOOK_TIME: Duration = Duration::from_secs(60);

/// The longest `timeout` of a hook that counts: a call waits for it.
pub const HOOK_TIME_MOST: Duration = Duration::from_secs(10 * 60);

/// How much a hook may print; a larger answer is no answer.
pub const HOOK_OUTPUT_BYTES: usize = 1024 * 1024;

/// How much of what a hook says on its standard error is kept: the end, where the reason stands.
pub const HOOK_SAID_BYTES: usize = 8 * 1024;

/// How many characters of what a hook tells a model or a person are passed on.
pub const HOOK_TEXT_CHARS: usize = 10_000;

/// How many hooks all settings together may have; more are left out.
pub const HOOKS: usize = 256;

/// How many hooks run at the same time for one event; the next wait.
pub const HOOKS_AT_ONCE: usize = 16;

/// The longest `matcher`, in bytes.
pub const MATCHER_BYTES: usize = 1024;

/// How many things are remembered that hooks have told, or that went wrong with them.
pub const HOOK_NOTES: usize = 100;
