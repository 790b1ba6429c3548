//! Limits of starting servers, and of the cache of failed starts.

use std::time::Duration;

/// The pause after the first failed start, during which listing commands do not retry the server: long
/// enough for a series of commands, short enough while the user is fixing it.
pub const FAILURE_FIRST: Duration = Duration::from_secs(60);

/// The minimum pause after a failure as a multiple of the failed attempt's duration: a server that hangs
/// for 30 s takes at most a twentieth of the user's time.
pub const FAILURE_SHARE: u32 = 20;

/// The longest pause after any number of failures.
pub const FAILURE_LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// The number of characters remembered of a failed server's standard error; the reason is at the end.
pub const FAILURE_STDERR_CHARS: usize = 2_000;

/// The maximum size of one cached failure.
pub const FAILURE_BYTES: u64 = 64 * 1024;

/// The timeout for connecting in total while a package runner downloads the server: as long as a large
/// package takes on a slow line.
pub const DOWNLOAD_TIME: Duration = Duration::from_secs(120);

/// The time after which a package runner is checked for a download: one with a cached package starts the
/// server sooner.
pub const DOWNLOAD_NOTICED_AFTER: Duration = Duration::from_secs(2);

/// The interval of the checks for a download.
pub const DOWNLOAD_LOOKED_AT: Duration = Duration::from_millis(500);

/// The grace period for servers that are still connecting when the host stops, so that their lists get
/// cached for the next run.
pub const FETCH_GRACE: Duration = Duration::from_secs(3);

/// The maximum number of kept reconnect requests: a running host sees each within seconds, and needs none
/// afterwards.
pub const RECONNECT_REQUESTS: usize = 32;

/// The maximum size of the file of reconnect requests; each names a server and a folder.
pub const RECONNECT_REQUEST_BYTES: u64 = 1024 * 1024;

/// The time `add` waits for the new server.
pub const ADD_CHECK_TIME: Duration = Duration::from_secs(5);

/// The maximum number of servers with stored traits: many more than a user has entries.
pub const SERVER_TRAITS: usize = 1_000;

/// The maximum size of the file of observed traits; each server takes about 150 bytes.
pub const SERVER_TRAITS_BYTES: u64 = 1024 * 1024;
