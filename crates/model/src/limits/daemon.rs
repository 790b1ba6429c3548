//! Limits of the daemon, and of the clients that attach to it.

use std::time::Duration;

/// The time in which the daemon has to answer the first line of a client; without an answer the client starts
/// its servers itself. A daemon answers in microseconds unless it hangs.
pub const ATTACH_ANSWER_TIME: Duration = Duration::from_millis(250);

/// The maximum size of one line of the daemon or its client before they speak MCP: it holds an environment.
pub const ATTACH_LINE_BYTES: u64 = 1024 * 1024;

/// The time for a daemon that is started on demand to listen.
pub const DAEMON_START_TIME: Duration = Duration::from_millis(300);

/// The time after which a client starts the daemon again that it has started before: a daemon that ends at once must
/// not be started for every server.
pub const DAEMON_RESTART_TIME: Duration = Duration::from_secs(2);

/// The time for which a client does not ask a daemon that did not answer or did not start, so that a daemon that hangs
/// delays it once and not with every server.
pub const DAEMON_SKIP_TIME: Duration = Duration::from_secs(5);

/// The maximum size of the file that names the socket of the running daemon.
pub const DAEMON_RECORD_BYTES: u64 = 4096;

/// The time after which a server that belongs to one session ends without clients: no other client can use it, and its
/// own one may only connect anew.
pub const DAEMON_SESSION_IDLE_TIME: Duration = Duration::from_secs(3);

/// The time after which the daemon ends without clients, and stops a server without clients.
pub const DAEMON_IDLE_TIME: Duration = Duration::from_secs(600);

/// The maximum number of connections to the daemon: every client has one for each server it uses.
pub const DAEMON_CONNECTIONS: usize = 16 * 1024;

/// The time for running calls to end when the daemon ends.
pub const DAEMON_DRAIN_TIME: Duration = Duration::from_secs(2);

/// The time for which a server that was never seen before belongs to its first client: in it the server shows
/// whether it reads roots.
pub const SHARE_PROBATION: Duration = Duration::from_secs(1);

/// The maximum number of durable calls that are kept. With one more, the oldest ended call of a gateway's client whose
/// result was read makes room, or one that was not read for [`DURABLE_UNREAD_TIME`]. Else it is refused, so that no
/// result is lost before its time.
pub const DURABLE_CALLS: usize = 1000;

/// The time for which the result of a gateway's client that was never read is kept, whatever else needs the room.
pub const DURABLE_UNREAD_TIME: Duration = Duration::from_hours(1);

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
