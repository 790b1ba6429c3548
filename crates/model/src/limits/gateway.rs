//! Limits of the gateway, which serves clients.

use std::time::Duration;

/// The maximum number of concurrent requests of one client; more are refused. Agents make calls in
/// parallel, and each waits for a server.
pub const SERVED_REQUESTS: usize = 1024;

/// The maximum number of tools in one page of a list for a client. Some clients never request the second
/// page.
pub const SERVED_PAGE_TOOLS: usize = 1000;

/// The maximum length of a name that a model is given: clients add a prefix of their own and stop at 64.
pub const SERVED_MODEL_NAME_CHARS: usize = 48;

/// The maximum length of a name for other clients, as the protocol advises.
pub const SERVED_NAME_CHARS: usize = 128;

/// The time that a subscription waits for the servers before it is acknowledged with those that answered.
pub const LISTEN_ANSWER_TIME: Duration = Duration::from_secs(2);

/// The maximum number of resources that one client is subscribed to.
pub const SERVED_RESOURCE_SUBSCRIPTIONS: usize = 256;

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

/// The maximum number of parked calls of one client: calls of new-era clients that wait for the user's answer.
pub const PARKED_CALLS: usize = 64;

/// The maximum number of parked calls of one client at one server, which keeps each of them in flight.
pub const PARKED_SERVER_CALLS: usize = 16;

/// The maximum number of parked calls of all clients of a gateway, which keeps each of them in memory.
pub const PARKED_CALLS_IN_ALL: usize = 4096;

/// The maximum number of open questions that a gateway lists for other terminals.
pub const PENDING_QUESTIONS: usize = 1000;

/// The maximum number of connections to the control socket of a gateway; more wait.
pub const CONTROL_CONNECTIONS: usize = 16;

/// The time of a connection to the control socket, from its first byte to its last.
pub const CONTROL_TIME: Duration = Duration::from_secs(30);

/// The time in which a gateway has to answer a request on its control socket; one that does not is skipped.
pub const CONTROL_ANSWER_TIME: Duration = Duration::from_secs(2);

/// The maximum size of an answer on the control socket.
pub const CONTROL_ANSWER_BYTES: u64 = 16 * 1024 * 1024;

/// The maximum number of control sockets that are looked at.
pub const CONTROL_SOCKETS: usize = 4096;

/// The timeout of a parked call. Then it is canceled, at its server too.
pub const PARKED_TIME: Duration = Duration::from_secs(10 * 60);

/// The time within which a client may come back with the sealed state of a server.
pub const STATE_TIME: Duration = Duration::from_secs(60 * 60);

/// The maximum number of subscriptions (`subscriptions/listen`) of all clients of one principal.
pub const SERVED_SUBSCRIPTIONS: usize = 256;

/// The maximum number of tools found by search that stay in a client's list.
pub const FOUND_TOOLS: usize = 512;

/// The maximum length of the instructions for a client, those of all servers together: they become part of
/// a prompt.
pub const SERVED_INSTRUCTIONS_CHARS: usize = 16 * 1024;

/// The maximum size of the body of an HTTP request.
pub const DOOR_BODY_BYTES: usize = 16 * 1024 * 1024;

/// The maximum size of the header of an HTTP request.
pub const DOOR_HEADER_BYTES: usize = 32 * 1024;

/// The maximum number of headers of an HTTP request.
pub const DOOR_HEADERS: usize = 100;

/// The timeout for the header of an HTTP request.
pub const DOOR_HEADER_TIME: Duration = Duration::from_secs(10);

/// The timeout for the body of an HTTP request, from its first part to its last.
pub const DOOR_BODY_TIME: Duration = Duration::from_secs(30);

/// The time for which a client may stop reading; then its connection is closed.
pub const DOOR_STALL_TIME: Duration = Duration::from_secs(30);

/// The maximum number of connections of an HTTP listener.
pub const DOOR_CONNECTIONS: usize = 8192;

/// The maximum number of concurrent HTTP requests of all clients; more are refused with status 503.
pub const DOOR_REQUESTS: usize = 4096;

/// The maximum number of concurrent HTTP requests of one principal; more are refused with status 429.
pub const DOOR_PRINCIPAL_REQUESTS: usize = 1024;

/// The maximum number of failed sign-ins of one address in a minute; more are refused with status 429.
pub const DOOR_FAILED_TOKENS: u32 = 30;

/// The time after which an HTTP answer becomes an event stream, so that proxies see a response in time.
pub const DOOR_STREAM_AFTER: Duration = Duration::from_secs(2);

/// The interval of comments that keep an event stream alive.
pub const DOOR_KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The maximum number of unread messages of one event stream.
pub const DOOR_UNREAD_EVENTS: usize = 64;

/// The maximum size of the unread notifications of one event stream.
pub const DOOR_UNREAD_BYTES: usize = 1024 * 1024;

/// The maximum number of sent events that are kept for a client that lost its connection.
pub const DOOR_LOG_EVENTS: usize = 256;

/// The maximum size of the sent events that one stream keeps.
pub const DOOR_LOG_BYTES: usize = 1024 * 1024;

/// The maximum size of the events that all streams of one session keep.
pub const DOOR_SESSION_LOG_BYTES: usize = 4 * 1024 * 1024;

/// The maximum size of the events that the streams of all sessions keep.
pub const DOOR_ALL_LOG_BYTES: usize = 256 * 1024 * 1024;

/// The maximum number of streams that one session keeps for resumption, besides those that are read.
pub const DOOR_SESSION_STREAMS: usize = 4096;

/// The time for which a finished stream can be resumed.
pub const DOOR_LOG_TIME: Duration = Duration::from_secs(5 * 60);

/// The time for which a call goes on after its connection was lost, if the client can resume its stream.
pub const DOOR_RESUME_TIME: Duration = Duration::from_secs(60);

/// The maximum length of a request id in an event id; a stream with a longer one cannot be resumed.
pub const DOOR_EVENT_REQUEST_BYTES: usize = 64;

/// The maximum number of sessions in memory. The session that was idle for the longest time is removed, and
/// restored from its id when it is used again.
pub const DOOR_SESSIONS: usize = 10_000;

/// The maximum number of deleted sessions whose ids are known; beyond it the one deleted first is forgotten.
pub const DOOR_DELETED_SESSIONS: usize = 100_000;

/// The time for which an unused session is kept, and for which a session can be restored from its id.
pub const DOOR_SESSION_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// The time for which an unused session of a principal of the new era is kept; longer than a parked call.
pub const DOOR_PRINCIPAL_TIME: Duration = Duration::from_secs(15 * 60);

/// The maximum length of a session id. A session with more capabilities cannot be restored.
pub const DOOR_SESSION_ID_BYTES: usize = 4096;

/// The time for which a question outside of requests waits for the GET stream of the client.
pub const DOOR_CHANNEL_TIME: Duration = Duration::from_secs(2);

/// The time for requests in progress to finish after a signal.
pub const DOOR_DRAIN_TIME: Duration = Duration::from_secs(10);

/// The maximum size of a file of tokens.
pub const DOOR_TOKEN_FILE_BYTES: u64 = 64 * 1024;

/// The maximum size of the body of a request of the web page: arguments of a call, or the answer to a question.
pub const PAGE_BODY_BYTES: usize = 1024 * 1024;

/// The maximum number of browsers that use one web page; the one that came first has to sign in again.
pub const PAGE_SESSIONS: usize = 32;

/// The maximum number of event streams of one web page; more are refused with status 429.
pub const PAGE_STREAMS: usize = 64;

/// The time for which a web page that was changed is quiet before the next change is sent.
pub const PAGE_QUIET: Duration = Duration::from_millis(40);

/// The interval at which an open web page looks for questions of other gateways.
pub const PAGE_SURVEY: Duration = Duration::from_secs(2);

/// The time after which `mcparley ui` ends while no page is connected.
pub const PAGE_IDLE: Duration = Duration::from_secs(10 * 60);

/// The maximum number of finished calls that a host keeps for display.
pub const FINISHED_CALLS: usize = 500;

/// The maximum size of an image in a result that the web page shows.
pub const PAGE_IMAGE_BYTES: usize = 8 * 1024 * 1024;
