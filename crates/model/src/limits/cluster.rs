//! Limits of state that several gateways share.

use std::time::Duration;

/// The interval at which a gateway renews its heartbeat.
pub const CLUSTER_BEAT: Duration = Duration::from_secs(5);

/// The time after which a gateway without a heartbeat counts as gone.
pub const CLUSTER_BEAT_TTL: Duration = Duration::from_secs(15);

/// The time for which the store must have been reachable before a missing heartbeat counts: after a restart of
/// the store the other gateways need a moment to renew theirs.
pub const CLUSTER_GRACE: Duration = Duration::from_secs(5);

/// The timeout of one command of the store. Requests wait for the store at most this long, once.
pub const CLUSTER_COMMAND_TIME: Duration = Duration::from_secs(1);

/// The time within which a gateway must reach the store at its start.
pub const CLUSTER_JOIN_TIME: Duration = Duration::from_secs(10);

/// The longest pause between two attempts to reach the store.
pub const CLUSTER_RECONNECT_MOST: Duration = Duration::from_secs(2);

/// The maximum number of writes that wait for the store; further ones are dropped and counted.
pub const CLUSTER_WRITES: usize = 10_000;

/// The maximum size of all writes that wait for the store; further ones are dropped and counted.
pub const CLUSTER_WRITE_BYTES: usize = 64 * 1024 * 1024;

/// The maximum number of messages in the mailbox of a gateway; the oldest are dropped.
pub const CLUSTER_MAILBOX_ENTRIES: usize = 10_000;

/// The time for which a mailbox stays after the last message to it.
pub const CLUSTER_MAILBOX_TIME: Duration = Duration::from_secs(60);

/// The maximum number of entries in the news of all gateways; the oldest are dropped.
pub const CLUSTER_NEWS_ENTRIES: usize = 10_000;

/// The maximum number of messages that are read at once.
pub const CLUSTER_READ_ENTRIES: usize = 256;

/// The time in which the owner of a request confirms that it has received it: longer than the heartbeat of an owner
/// that has just ended.
pub const CLUSTER_ACCEPT_TIME: Duration = Duration::from_secs(25);

/// The interval at which a gateway that waits for another one looks for the other's heartbeat.
pub const CLUSTER_WATCH: Duration = Duration::from_secs(1);

/// The maximum number of requests that wait for other gateways.
pub const CLUSTER_FORWARDS: usize = 4096;

/// The time for which the claims of a parked call stay: a little longer than the call itself.
pub const CLUSTER_CALL_TIME: Duration = Duration::from_secs(11 * 60);

/// The maximum size of a value of a session that gateways share, such as the roots of its client; larger ones stay at
/// their gateway.
pub const CLUSTER_VALUE_BYTES: usize = 64 * 1024;

/// The maximum size of a client's answer to a question of another gateway: the shared state holds it for a moment, and
/// any client can send one.
pub const CLUSTER_ANSWER_BYTES: usize = 4 * 1024 * 1024;

/// The interval at which gateways exchange the request counts of principals, if their rate is limited.
pub const CLUSTER_RATE_INTERVAL: Duration = Duration::from_millis(100);

/// The time for which the request count of one second stays.
pub const CLUSTER_RATE_TIME: Duration = Duration::from_secs(2);
