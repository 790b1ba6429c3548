//! Limits of the gateway, which serves clients.

use std::time::Duration;

/// The maximum number of concurrent requests of one client; more are refused. Agents make calls in
/// parallel, and each waits for a server.
pub const SERVED_REQUESTS: usize = 1024;

/// The maximum number of tools in one page of a list for a client. Some clients never request the second
/// page.
pub const SERVED_PAGE_TOOLS: usize = 1000;

/// The maximum size of the tools in one page, unless a single tool is larger.
pub const SERVED_PAGE_BYTES: usize = 4 * 1024 * 1024;

/// The time the first list of a client waits for servers that are still connecting. Agents give up after
/// ten seconds or more, and some never ask again.
pub const FIRST_LIST_TIME: Duration = Duration::from_secs(5);

/// The debounce time of `list_changed` notifications to a client: one notification for many changes.
pub const LIST_CHANGED_QUIET: Duration = Duration::from_millis(100);

/// The time for which a client of the new era may cache a list. Subscribed clients are notified of changes,
/// so this is short.
pub const SERVED_LIST_FRESH: Duration = Duration::from_secs(30);

/// The maximum number of parked calls: calls of new-era clients that wait for the user's answer.
pub const PARKED_CALLS: usize = 64;

/// The timeout of a parked call. Then it is canceled, at its server too.
pub const PARKED_TIME: Duration = Duration::from_secs(10 * 60);

/// The maximum number of subscriptions of one client.
pub const SERVED_SUBSCRIPTIONS: usize = 16;

/// The maximum number of tools found by search that stay in a client's list.
pub const FOUND_TOOLS: usize = 512;

/// The maximum length of the instructions for a client, those of all servers together: they become part of
/// a prompt.
pub const SERVED_INSTRUCTIONS_CHARS: usize = 16 * 1024;
