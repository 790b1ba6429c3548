//! Limits of starting servers, and of what is remembered of those that do not start.

use std::time::Duration;

/// How long a server that failed once is left alone by commands that only list: long enough for a row of commands, short
/// enough for a person who is mending it.
pub const FAILURE_FIRST: Duration = Duration::from_secs(60);

/// The pause after a failure is at least so many times as long as the failed attempt: a server that hangs for 30 s takes
/// at most a twentieth of anybody's time.
pub const FAILURE_SHARE: u32 = 20;

/// The longest pause after any number of failures.
pub const FAILURE_LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// How many characters of a failed server's standard error are remembered; the reason stands at the end.
pub const FAILURE_STDERR_CHARS: usize = 2_000;

/// The most that is read of one remembered failure.
pub const FAILURE_BYTES: u64 = 64 * 1024;

/// How long connecting may take in all where a package runner still downloads the server: as long as a large package
/// takes on a slow line.
pub const DOWNLOAD_TIME: Duration = Duration::from_secs(120);

/// How long a package runner may take before it is looked at whether it downloads: one that has its package at hand starts
/// the server sooner.
pub const DOWNLOAD_NOTICED_AFTER: Duration = Duration::from_secs(2);

/// How often a package runner is looked at after that.
pub const DOWNLOAD_LOOKED_AT: Duration = Duration::from_millis(500);

/// How long servers that are being reached may still take when the host ends, so that the next one knows them.
pub const FETCH_GRACE: Duration = Duration::from_secs(3);

/// How many requests to reconnect a server are kept: a running host sees each within seconds, and needs none afterwards.
pub const RECONNECT_REQUESTS: usize = 32;

/// The most that is read of them: each names a server and a folder.
pub const RECONNECT_REQUEST_BYTES: u64 = 1024 * 1024;

/// How long `add` waits for the new server.
pub const ADD_CHECK_TIME: Duration = Duration::from_secs(5);
