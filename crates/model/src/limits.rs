//! The limits of the product that a user may meet, each a constant with its reason.
//!
//! The environment reference page is generated from [`VARIABLES`].

mod audit;
mod cluster;
pub mod conversation;
mod daemon;
mod dialects;
mod gateway;
mod hooks;
mod identity;
mod offers;
mod results;
mod search;
mod server_requests;
mod sign_in;
mod start;
mod telemetry;
mod tool_budget;
mod trust;
mod variables;

use std::time::Duration;

pub use audit::{AUDIT_FILE_BYTES, AUDIT_FILES, AUDIT_NAME_CHARS, AUDIT_PAUSE, AUDIT_QUEUE};
pub use cluster::{
    CLUSTER_ACCEPT_TIME, CLUSTER_ANSWER_BYTES, CLUSTER_BEAT, CLUSTER_BEAT_TTL, CLUSTER_CALL_TIME,
    CLUSTER_COMMAND_TIME, CLUSTER_FORWARDS, CLUSTER_GRACE, CLUSTER_JOIN_TIME, CLUSTER_MAILBOX_ENTRIES,
    CLUSTER_MAILBOX_TIME, CLUSTER_NEWS_ENTRIES, CLUSTER_RATE_INTERVAL, CLUSTER_RATE_TIME,
    CLUSTER_READ_ENTRIES, CLUSTER_RECONNECT_MOST, CLUSTER_VALUE_BYTES, CLUSTER_WATCH, CLUSTER_WRITE_BYTES,
    CLUSTER_WRITES,
};
pub use daemon::{
    ATTACH_ANSWER_TIME, ATTACH_LINE_BYTES, DAEMON_CONNECTIONS, DAEMON_DRAIN_TIME, DAEMON_IDLE_TIME,
    DAEMON_RECORD_BYTES, DAEMON_RESTART_TIME, DAEMON_SESSION_IDLE_TIME, DAEMON_SKIP_TIME, DAEMON_START_TIME,
    DURABLE_CALLS, DURABLE_CALLS_RUNNING, DURABLE_HEAD_BYTES, DURABLE_POLL_INTERVAL, DURABLE_POLL_TIME,
    DURABLE_RESULT_BYTES, DURABLE_TTL, DURABLE_TTL_MOST, DURABLE_UNREAD_TIME, SHARE_PROBATION,
};
pub use dialects::{
    ARGUMENT_NAME_LIMIT, GEMINI_SCHEMA_DEPTH, MODEL_ALTERNATIVES, MODEL_CHOICES, MODEL_SCHEMA_DEPTH,
    MODEL_SCHEMA_PARTS, OPENAI_DESCRIPTION_CHARS, REMARK_CHARS, TOOLS_PER_REQUEST,
};
pub use gateway::{
    CONTROL_ANSWER_BYTES, CONTROL_ANSWER_TIME, CONTROL_CONNECTIONS, CONTROL_SOCKETS, CONTROL_TIME,
    DOOR_ALL_LOG_BYTES, DOOR_BODY_BYTES, DOOR_BODY_TIME, DOOR_CHANNEL_TIME, DOOR_CONNECTIONS,
    DOOR_DELETED_SESSIONS, DOOR_DRAIN_TIME, DOOR_EVENT_REQUEST_BYTES, DOOR_FAILED_TOKENS, DOOR_HEADER_BYTES,
    DOOR_HEADER_TIME, DOOR_HEADERS, DOOR_KEEP_ALIVE, DOOR_LOG_BYTES, DOOR_LOG_EVENTS, DOOR_LOG_TIME,
    DOOR_PRINCIPAL_REQUESTS, DOOR_PRINCIPAL_TIME, DOOR_REQUESTS, DOOR_RESUME_TIME, DOOR_SESSION_ID_BYTES,
    DOOR_SESSION_LOG_BYTES, DOOR_SESSION_STREAMS, DOOR_SESSION_TIME, DOOR_SESSIONS, DOOR_STALL_TIME,
    DOOR_STREAM_AFTER, DOOR_TOKEN_FILE_BYTES, DOOR_UNREAD_BYTES, DOOR_UNREAD_EVENTS, FINISHED_CALLS,
    FIRST_LIST_TIME, FOUND_TOOLS, LIST_CHANGED_QUIET, LISTEN_ANSWER_TIME, PAGE_BODY_BYTES, PAGE_IDLE,
    PAGE_IMAGE_BYTES, PAGE_QUIET, PAGE_SESSIONS, PAGE_STREAMS, PAGE_SURVEY, PARKED_CALLS,
    PARKED_CALLS_IN_ALL, PARKED_SERVER_CALLS, PARKED_TIME, PENDING_QUESTIONS, SERVED_INSTRUCTIONS_CHARS,
    SERVED_LIST_FRESH, SERVED_MODEL_NAME_CHARS, SERVED_NAME_CHARS, SERVED_PAGE_BYTES, SERVED_PAGE_TOOLS,
    SERVED_REQUESTS, SERVED_RESOURCE_SUBSCRIPTIONS, SERVED_SUBSCRIPTIONS, STATE_TIME,
};
pub use hooks::{
    HOOK_NOTES, HOOK_OUTPUT_BYTES, HOOK_SAID_BYTES, HOOK_TEXT_CHARS, HOOK_TIME, HOOK_TIME_MOST, HOOKS,
    HOOKS_AT_ONCE, MATCHER_BYTES,
};
pub use identity::{
    CLIENT_NAME_CHARS, CLIENT_TOKEN_BYTES, CLOCK_SKEW, FIRST_KEYS_INTERVAL, ISSUER_KEYS, KEYS_INTERVAL,
    KEYS_STALE_TIME, KEYS_TIME_LEAST, KEYS_TIME_MOST, KEYS_WAIT, TOKEN_GRANTS, VERIFIED_TOKENS,
};
pub use offers::{
    MENTION_CHARS, MENTIONS, PROMPT_ARGUMENTS, PROMPT_MESSAGES, RESOURCE_LINE_CHARS, RESOURCES_SHOWN,
    SKILL_BYTES, SKILL_FILES, TEMPLATE_VARIABLES, URI_BYTES, WATCHED_RESOURCES,
};
pub use results::{
    IMAGE_BASE64_BYTES, IMAGE_BYTES, IMAGE_EDGE, IMAGE_PIXELS, IMAGES_AT_ONCE, MEMORY_RESULTS_BYTES,
    MESSAGE_BYTES_LEAST, MESSAGE_BYTES_MOST, OUTLINE_CHARS, OUTLINE_ELEMENTS, READ_BYTES, READ_CONTEXT,
    READ_LINE_CHARS, READ_MATCHES, RESULT_CHARS, RESULT_CHARS_CLAIMED, RESULT_IMAGES, RESULT_TOKENS,
    RESULTS_AGE, RESULTS_BYTES, RESULTS_SESSIONS, SESSION_RESULTS, SESSION_RESULTS_BYTES, STORED_NOTE_BYTES,
};
pub use search::{
    SEARCH_ANSWER_TOKENS, SEARCH_ERROR_CHARS, SEARCH_RESULTS, SEARCH_RESULTS_MOST, SEARCH_SCHEMA_BYTES,
    SEARCH_SIGNATURE_CHARS, SEARCH_SUMMARY_CHARS, SEARCH_WAIT, SEARCH_WORDS, SEARCHED_ARGUMENTS,
    SEARCHED_CHARS, SEARCHED_DEPTH, SEARCHED_VALUES, VECTOR_DIMENSIONS, VECTOR_FILE_BYTES,
    VECTOR_HEADER_BYTES, VECTOR_TABLE_BYTES, VECTOR_TEXT_TOKENS, VECTOR_TOKEN_BYTES, VECTOR_TOKENIZER_BYTES,
    VECTOR_TOKENS,
};
pub use server_requests::{
    COMPLETION_CHARS, COMPLETION_TIME, COMPLETION_VALUES, LOG_MESSAGES, LOG_MESSAGES_EVERY, SAMPLE_BYTES,
    SAMPLE_MESSAGES, SAMPLE_TOOLS, SAMPLES_A_MINUTE, SAMPLES_AT_ONCE, SAMPLES_EVERY, TASK_ID_BYTES,
    TASK_LOSSES, TASK_MESSAGE_CHARS, TASK_POLL, TASK_POLL_LEAST, TASK_POLL_MOST,
};
pub use sign_in::{
    BROWSER_TIME, CALLBACK_BACKLOG, CALLBACK_CONNECTIONS, CALLBACK_HEAD_BYTES, CALLBACK_LAST_PAGE,
    CALLBACK_PORTS, CALLBACK_TIME, CLIENT_ASSERTION_TIME, CLIENT_SECRET_BYTES, DEVICE_INTERVAL,
    DEVICE_INTERVAL_MOST, DEVICE_SLOWER, DEVICE_TIME, DPOP_NONCE_BYTES, DPOP_NONCES, GATEWAY_SIGN_IN_TIME,
    HEADERS_HELPER_BYTES, HEADERS_HELPER_SAID_BYTES, HEADERS_HELPER_TIME, KEY_FILE_BYTES,
    KEYCHAIN_MESSAGE_BYTES, KEYCHAIN_MESSAGES, KEYCHAIN_TIME, KEYRING_RENEWED, NEEDS_AUTH_BYTES,
    NEEDS_AUTH_TIME, OAUTH_BYTES, OAUTH_NAMES, OAUTH_REDIRECTS, OAUTH_TIME, PAGE_ADDRESS_BYTES,
    REFUSAL_CHARS, RENEWAL_AHEAD, RENEWAL_PAUSE, RENEWAL_TIME, SIGN_IN_LOOKED_FOR, SIGN_IN_TIME, TOKEN_BYTES,
    TOKEN_LIFE, VAULT_BYTES, VAULT_KEY_BYTES, VAULT_KEYS,
};
pub use start::{
    ADD_CHECK_TIME, DOWNLOAD_LOOKED_AT, DOWNLOAD_NOTICED_AFTER, DOWNLOAD_TIME, FAILURE_BYTES, FAILURE_FIRST,
    FAILURE_LONGEST, FAILURE_SHARE, FAILURE_STDERR_CHARS, FETCH_GRACE, RECONNECT_REQUEST_BYTES,
    RECONNECT_REQUESTS, SERVER_TRAITS, SERVER_TRAITS_BYTES,
};
pub use telemetry::{
    METRIC_PRINCIPALS, TRACE_ATTEMPTS, TRACE_ATTRIBUTE_CHARS, TRACE_BATCH, TRACE_EXPORT_TIME,
    TRACE_FLUSH_TIME, TRACE_LINGER, TRACE_OPEN_SPANS, TRACE_PAUSE, TRACE_QUEUE, TRACE_STATE_BYTES,
    TRACE_WARNING_INTERVAL,
};
pub use tool_budget::{OFFER_PERCENT, OFFER_TOKENS};
pub use trust::{
    BOUND_RULES, CHANGE_LINE_CHARS, CHANGE_LINES, CLASSIFIER_TIME, PENDING_BYTES, TRUST_BYTES, TRUST_SERVERS,
};
pub use variables::{EnvVariable, VARIABLES};

/// The maximum number of servers that may have started one another before this process starts no more.
///
/// A server that runs mcparley on purpose is one level; no use for more than two is known.
pub const ANCESTRY_LEVELS: usize = 3;

/// The maximum size of a configuration file.
///
/// The largest seen in the wild is a `~/.claude.json` of a few megabytes; a hundred is a mistake or an
/// attack.
pub const CONFIG_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// The maximum length of an expanded text: beyond it kernels refuse to start a program and servers refuse a
/// header.
pub const EXPANDED_BYTES: usize = 1024 * 1024;

/// The longest public name of a tool or of a new server: the smallest limit among the model providers.
pub const PUBLIC_NAME_LIMIT: usize = 64;

/// The longest name in a permission rule, in bytes; a longer one could be split in too many ways.
pub const RULE_NAME_LIMIT: usize = 512;

/// The maximum number of parent folders searched for `.mcp.json`, so that a looping mount ends.
pub const WALK_UP_FOLDERS: usize = 256;

/// The maximum size of an agent file, most of which is the prompt.
pub const AGENT_FILE_BYTES: u64 = 1024 * 1024;

/// The maximum number of files in a folder of agents.
pub const AGENT_FILES: usize = 256;

/// The maximum nesting of lists and maps in front matter; entries have three levels.
pub const FRONT_MATTER_DEPTH: usize = 32;

/// The maximum number of files in `managed-settings.d`.
pub const MANAGED_FILES: usize = 256;

/// The maximum size of a message on any transport, in bytes, after decompression.
///
/// The largest list seen in the wild has 2 MB; the SDKs' own limits are 8 to 16 MiB.
pub const MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// The maximum nesting of arrays and objects in a result: the limit of the JSON parser.
pub const JSON_DEPTH: usize = 128;

/// The maximum number of messages in one batch (2025-03-26 has batches). The smallest message takes two
/// bytes, and a thousand times that once it is parsed.
pub const BATCH_MESSAGES: usize = 10_000;

/// The maximum number of messages in the send queue of one server.
pub const QUEUE_MESSAGES: usize = 256;

/// The maximum number of bytes in the send queue of one server.
pub const QUEUE_BYTES: usize = 32 * 1024 * 1024;

/// The maximum number of fragments of one WebSocket message: the largest message in pieces of 168 bytes.
///
/// An empty fragment adds nothing to a message and never ends it, so the size limit of the message would
/// let them come for ever.
pub const WEBSOCKET_FRAGMENTS: usize = 100_000;

/// The time without incoming data on a WebSocket after which a ping is sent: shorter than the minute after
/// which many proxies drop a silent connection.
pub const PING_AFTER: Duration = Duration::from_secs(15);

/// The timeout for the pong. After it the connection is closed.
pub const PONG_WITHIN: Duration = Duration::from_secs(30);

/// The maximum number of concurrent requests from one server; more are refused.
pub const INBOUND_REQUESTS: usize = 64;

/// The maximum number of inputs that a server may request at once before it answers a call.
pub const INPUT_REQUESTS: usize = 16;

/// The maximum number of retries of a call because its server requests input first, and of retries because
/// the user has to visit a page.
pub const ROUNDS: u32 = 3;

/// The maximum number of questions that a server of the old era may ask the user during one call.
pub const QUESTIONS_PER_CALL: u32 = 10;

/// The timeout for the user's answer to a question that could belong to several calls: others wait behind
/// it.
pub const QUESTION_TIME: Duration = Duration::from_secs(5 * 60);

/// The time that a call of a tool that was never called to the end waits for another principal's call of such
/// a tool, on a channel that does not say which of the two a question belongs to.
pub const UNKNOWN_TOOL_TIME: Duration = Duration::from_secs(1);

/// The time that a call of a tool that asks waits for calls of the same principal that have not asked yet, if
/// their questions must be told apart.
pub const SIBLING_TIME: Duration = Duration::from_secs(30);

/// The time for which messages of a canceled call may still come on a shared channel: the server has to read
/// the cancellation first.
pub const CANCELED_CALL_TIME: Duration = Duration::from_secs(5);

/// The maximum number of canceled calls of one server whose messages may still come.
pub const CANCELED_CALLS: usize = 1024;

/// The pause before the second retry of a call that waits for a visited page. Exponential backoff doubles
/// it, up to [`PAGE_PAUSE_LONGEST`].
pub const PAGE_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause between two retries of a call that waits for a visited page.
pub const PAGE_PAUSE_LONGEST: Duration = Duration::from_secs(15);

/// The maximum number of fields in a server's form; users do not fill in more for a tool.
pub const FORM_FIELDS: usize = 64;

/// The maximum number of choices of one field.
pub const FORM_CHOICES: usize = 256;

/// The maximum number of displayed characters of a server's question.
pub const QUESTION_CHARS: usize = 4096;

/// The longest URL of a page that the user is asked to visit: it is shown in full.
pub const PAGE_URL_BYTES: usize = 4096;

/// The time during which a call is retried after the user agreed to visit a page, while its server still
/// asks for the visit.
pub const PAGE_TIME: Duration = Duration::from_secs(5 * 60);

/// The maximum number of remembered pages that a server reported as completed.
pub const PAGES_DONE: usize = 64;

/// The number of bytes kept of a server's standard error.
pub const STDERR_BYTES: usize = 64 * 1024;

/// The timeout for connecting and for the response headers over HTTP; a running tool is not bound by it.
pub const REQUEST_LIMIT: Duration = Duration::from_secs(60);

/// The TCP keep-alive idle time: the silence on a connection after which the system sends a probe. Streams
/// and running tools have no other limit that would detect a dead connection.
pub const KEEP_ALIVE_AFTER: Duration = Duration::from_secs(30);

/// The interval between TCP keep-alive probes without an answer.
pub const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(10);

/// The number of TCP keep-alive probes before the connection is considered broken: a minute after the last
/// data, so that a change of network does not end a call.
pub const KEEP_ALIVE_TRIES: u32 = 3;

/// The time that sent data may stay unacknowledged, on systems with such an option.
pub const UNACKNOWLEDGED: Duration = Duration::from_secs(60);

/// The number of attempts for a handshake or a list when the server answers with a transient status.
pub const REQUEST_TRIES: u32 = 3;

/// The pause before the second attempt, unless the server names a longer one. Exponential backoff doubles
/// it.
pub const REQUEST_PAUSE: Duration = Duration::from_millis(500);

/// The longest `Retry-After` that is waited for. A server that names a longer one gets no second request.
pub const RETRY_AFTER_LONGEST: Duration = Duration::from_secs(60);

/// The number of bytes read of an HTTP error's body; longer ones contain no more information.
pub const ERROR_BODY_BYTES: usize = 64 * 1024;

/// The maximum size of one page of the organization's connectors.
pub const CATALOG_BYTES: usize = 1024 * 1024;

/// The maximum number of pages of connectors that are read.
pub const CATALOG_PAGES: usize = 16;

/// The maximum number of connectors; more cannot be meant for one user.
pub const CONNECTORS: usize = 1000;

/// The timeout for fetching the connectors, which does not delay the start of the host.
pub const CATALOG_TIME: Duration = Duration::from_secs(10);

/// The time that a short-lived command, such as `list`, waits for the connectors.
pub const CATALOG_WAIT: Duration = Duration::from_secs(3);

/// The maximum length of a connector's name in characters.
pub const CONNECTOR_NAME_CHARS: usize = 100;

/// The maximum size of a credentials file.
pub const CREDENTIALS_BYTES: u64 = 1024 * 1024;

/// The maximum size of an editor's lock file; real ones have a few hundred bytes.
pub const LOCK_FILE_BYTES: u64 = 64 * 1024;

/// The maximum number of lock files that are read.
pub const LOCK_FILES: usize = 256;

/// The maximum size of a certificate file: the whole bundle of a system has some hundred kilobytes.
pub const CERTIFICATE_BYTES: u64 = 4 * 1024 * 1024;

/// The number of displayed characters of a foreign page or error body.
pub const EXCERPT_CHARS: usize = 200;

/// The number of characters of a tool's description or a server's instructions that a model sees.
///
/// Generated servers have been seen with 15 to 60 kB of documentation per tool.
pub const DESCRIPTION_CHARS: usize = 2048;

/// The largest schema that arguments are validated against; with a larger one they are passed on unchecked.
///
/// The largest tool seen in the wild has 85 kB, almost all of it schema; parsing this much takes a
/// millisecond.
pub const SCHEMA_BYTES: usize = 256 * 1024;

/// The maximum nesting of a schema used for validation, limited by the validator's stack.
pub const SCHEMA_DEPTH: usize = 64;

/// The maximum number of parts of a schema used for validation, also for one value once references are
/// followed.
pub const SCHEMA_PARTS: usize = 10_000;

/// The maximum nesting of alternatives and references of a schema for one and the same value.
///
/// Real schemas have five. Multiplied by the deepest arguments it must still fit into a thread's stack.
pub const SCHEMA_LAYERS: usize = 16;

/// The maximum number of different patterns in a schema used for validation: compiling one can take a
/// millisecond.
pub const SCHEMA_PATTERNS: usize = 256;

/// The maximum size of a compiled pattern, in bytes; a larger one is not checked.
pub const PATTERN_BYTES: usize = 256 * 1024;

/// The maximum number of reported invalid values: enough to fix a call, not enough to fill a model's
/// context.
pub const MISFITS: usize = 5;

/// The maximum number of pages requested of one list: twice as many as the most items need in pages of a hundred.
pub const LIST_PAGES: usize = 400;

/// The maximum number of items of one list. Most servers have some tens of tools, those that stand for a whole
/// company some thousands.
pub const LIST_ITEMS: usize = 20_000;

/// The maximum size of all items of one list, in bytes: they stay in memory.
pub const LIST_BYTES: usize = 64 * 1024 * 1024;

/// The maximum number of progress reports of one request that wait for their reader. Then the newest one is replaced.
pub const PROGRESS_UPDATES: usize = 64;

/// The maximum size of a pagination cursor.
pub const CURSOR_BYTES: usize = 64 * 1024;

/// The timeout for one list with all its pages.
pub const LIST_TIME: Duration = Duration::from_secs(30);

/// The timeout for a server to fetch its roots before a call, and for roots that are not known yet when a
/// server requests them.
pub const ROOTS_TIME: Duration = Duration::from_secs(2);

/// The timeout for a server to confirm a log level before a call that wants it.
pub const LOG_LEVEL_TIME: Duration = Duration::from_secs(1);

/// The time a server gets to process its new roots before the first call. It has received them, but servers
/// check folders on the disk before they use them, and do not report when they are done.
pub const ROOTS_SETTLE_TIME: Duration = Duration::from_millis(100);

/// The timeout for connecting to a server (`MCP_TIMEOUT`).
pub const CONNECT_TIME: Duration = Duration::from_secs(30);

/// The default time that an agent waits for its required servers: as long as connecting may take.
pub const AGENT_TIME: Duration = Duration::from_secs(30);

/// The maximum number of local servers starting at the same time (`MCP_SERVER_CONNECTION_BATCH_SIZE`):
/// starting a process costs CPU time, waiting for one does not.
pub const LOCAL_CONNECTS: usize = 3;

/// The maximum number of concurrent connects to remote servers (`MCP_REMOTE_SERVER_CONNECTION_BATCH_SIZE`):
/// opening a socket costs almost nothing.
pub const REMOTE_CONNECTS: usize = 20;

/// The timeout of one tool call (`MCP_TOOL_TIMEOUT`): about 28 hours, since some tools wait for people.
pub const TOOL_TIME: Duration = Duration::from_secs(100_000);

/// The first pause before reconnecting to a lost server. Exponential backoff doubles it.
pub const RECONNECT_FIRST: Duration = Duration::from_secs(1);

/// The longest pause before reconnecting to a lost server.
pub const RECONNECT_LONGEST: Duration = Duration::from_secs(30);

/// The maximum number of attempts to reconnect to a lost server.
pub const RECONNECT_ATTEMPTS: u32 = 5;

/// The time after which a connection is considered healthy, and the attempt counter is reset.
pub const HEALTHY_AFTER: Duration = Duration::from_secs(60);

/// The maximum size of the cached lists of one server; larger ones are not written either.
pub const SURFACE_BYTES: u64 = 16 * 1024 * 1024;

/// The maximum number of servers with cached lists on disk; the least recently used ones are deleted first.
pub const SURFACES_KEPT: usize = 512;

/// The time for which cached lists are shown without asking the server: a list of the last day is good
/// enough.
pub const SURFACE_FRESH: Duration = Duration::from_secs(24 * 60 * 60);

/// The minimum age of cached lists before they are rewritten only to refresh their age.
pub const SURFACE_RENEWED: Duration = Duration::from_secs(60 * 60);

/// The debounce time of configuration files: an editor writes more than once.
pub const FILES_QUIET: Duration = Duration::from_millis(50);

/// The polling interval of configuration files where the system reports changes; some file systems never
/// report them.
pub const FILES_LOOKED_AT: Duration = Duration::from_secs(30);

/// The polling interval of configuration files where the system cannot report changes at all.
pub const FILES_LOOKED_AT_BLINDLY: Duration = Duration::from_secs(2);

/// The longest wait of a call for the next attempt to reach a lost server; otherwise the call fails
/// immediately.
pub const RECONNECT_PATIENCE: Duration = Duration::from_secs(3);

/// The pause after a failed connect before a call may try again, however many calls want the server.
pub const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// The number of consecutive broken connections after which a remote server is considered lost.
pub const CONNECTION_STRIKES: u32 = 3;

/// The debounce time for lists that a server reports as changed.
pub const REFRESH_QUIET: Duration = Duration::from_millis(100);

/// The longest debounce delay: changed lists are fetched then even if the server keeps reporting changes.
pub const REFRESH_LATEST: Duration = Duration::from_secs(1);

/// The number of log lines kept in memory for a server.
pub const LOG_LINES: usize = 500;

/// The maximum length of one log line in characters.
pub const LOG_LINE_CHARS: usize = 2000;

/// The maximum size of a server's log message that listeners get as it is; of a longer one they get the line of the
/// log. Some hundred messages wait for a slow listener.
pub const LOG_MESSAGE_BYTES: usize = 64 * 1024;

/// The delay of writing a line of a running server's log to disk: lines that come together are written at once.
pub const LOG_WRITE_DELAY: Duration = Duration::from_millis(300);

/// The size at which a server's log file is rotated.
pub const LOG_FILE_BYTES: u64 = 1024 * 1024;

/// The number of characters kept of a server's authentication challenge.
pub const CHALLENGE_CHARS: usize = 8 * 1024;
