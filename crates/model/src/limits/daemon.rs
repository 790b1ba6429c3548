//! Limits of the daemon, and of the clients that attach to it.

use std::time::Duration;

/// The time in which the daemon has to answer the first line of a client; without an answer the client starts
/// its servers itself. A daemon answers in microseconds unless it hangs.
pub const ATTACH_ANSWER_TIME: Duration = Duration::from_millis(250);

/// The maximum size of one line of the daemon or its client before they speak MCP: it holds an environment.
pub const ATTACH_LINE_BYTES: u64 = 1024 * 1024;

/// The time for a daemon that is started on demand to listen.
pub const DAEMON_START_TIME: Duration = Duration::from_millis(300);

/// The time after which the daemon ends without clients, and stops a server without clients.
pub const DAEMON_IDLE_TIME: Duration = Duration::from_secs(600);

/// The maximum number of connections to the daemon: every client has one for each server it uses.
pub const DAEMON_CONNECTIONS: usize = 16 * 1024;

/// The time for running calls to end when the daemon ends.
pub const DAEMON_DRAIN_TIME: Duration = Duration::from_secs(2);

/// The time for which a server that was never seen before belongs to its first client: in it the server shows
/// whether it reads roots.
pub const SHARE_PROBATION: Duration = Duration::from_secs(1);

/// The maximum number of durable calls that are kept. One more is refused until another one is removed, so
/// that no result is lost before its time.
pub const DURABLE_CALLS: usize = 1000;

/// The maximum number of durable calls that run at once.
pub const DURABLE_CALLS_RUNNING: usize = 64;

/// The maximum size of the result of a durable call. Escaped as text it has to fit into an answer on the control
/// socket, where it is at most twice as long.
pub const DURABLE_RESULT_BYTES: usize = 6 * 1024 * 1024;

/// The maximum size of the description of a durable call, without its result.
pub const DURABLE_HEAD_BYTES: u64 = 64 * 1024;

/// The time for which the result of a durable call is kept after its end, unless the client wants another.
pub const DURABLE_TTL: Duration = Duration::from_hours(24);

/// The longest time for which the result of a durable call is kept after its end.
pub const DURABLE_TTL_MOST: Duration = Duration::from_hours(24 * 30);

/// The interval at which clients of the gateway are told to ask for a running task.
pub const DURABLE_POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The time for which a request for a running task waits for its end before it is answered.
pub const DURABLE_POLL_TIME: Duration = Duration::from_secs(1);
