//! Limits of serving clients.

use std::time::Duration;

/// How many requests of one client are answered at the same time; more are refused. Agents make calls in parallel, and
/// each waits for a server.
pub const SERVED_REQUESTS: usize = 1024;

/// How many tools stand in one page of a list for a client. Some clients never ask for the second page.
pub const SERVED_PAGE_TOOLS: usize = 1000;

/// How much the tools of one page may take, unless one of them alone takes more.
pub const SERVED_PAGE_BYTES: usize = 4 * 1024 * 1024;

/// How long the first list of a client waits for servers that are on their way. Agents give up after ten seconds or more,
/// and some never ask again.
pub const FIRST_LIST_TIME: Duration = Duration::from_secs(5);

/// How long the catalogue must be quiet before a client is told that its list has changed: one word for many changes.
pub const LIST_CHANGED_QUIET: Duration = Duration::from_millis(100);

/// How long a client of the new era may take a list for what it is. Changes are told to who listens, so this is short.
pub const SERVED_LIST_FRESH: Duration = Duration::from_secs(30);

/// How many calls of clients of the new era wait for an answer of a person at the same time.
pub const PARKED_CALLS: usize = 64;

/// How long such a call waits. Then it is given up, at its server too.
pub const PARKED_TIME: Duration = Duration::from_secs(10 * 60);

/// How many subscriptions one client may hold.
pub const SERVED_SUBSCRIPTIONS: usize = 16;

/// How many tools that a client has found by searching are kept in its list.
pub const FOUND_TOOLS: usize = 512;

/// How long the instructions for a client may be, those of all servers together: they become part of a prompt.
pub const SERVED_INSTRUCTIONS_CHARS: usize = 16 * 1024;
