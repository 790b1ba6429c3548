//! Every constant of the product that a user may meet, with its reason.
//!
//! The environment reference page is generated from [`VARIABLES`].

mod asks;
mod audit;
mod dialects;
mod gateway;
mod hooks;
mod offer;
mod offers;
mod results;
mod search;
mod starting;
mod trust;
mod variables;

use std::time::Duration;

pub use asks::*;
pub use audit::{AUDIT_FILE_BYTES, AUDIT_FILES, AUDIT_NAME_CHARS, AUDIT_QUEUE};
pub use dialects::{
    ARGUMENT_NAME_LIMIT, GEMINI_SCHEMA_DEPTH, MODEL_ALTERNATIVES, MODEL_CHOICES, MODEL_SCHEMA_DEPTH,
    MODEL_SCHEMA_PARTS, OPENAI_DESCRIPTION_CHARS, REMARK_CHARS, TOOLS_PER_REQUEST,
};
pub use gateway::*;
pub use hooks::{
    HOOK_NOTES, HOOK_OUTPUT_BYTES, HOOK_SAID_BYTES, HOOK_TEXT_CHARS, HOOK_TIME, HOOK_TIME_MOST, HOOKS,
    HOOKS_AT_ONCE, MATCHER_BYTES,
};
pub use offer::{OFFER_PERCENT, OFFER_TOKENS};
pub use offers::*;
pub use results::*;
pub use search::*;
pub use starting::*;
pub use trust::*;
pub use variables::{VARIABLES, Variable};

/// How many servers may have started one another before this process starts none any more.
///
/// A server that runs mcparley on purpose is one level; nobody has shown a use for more than two.
pub const ANCESTRY_LEVELS: usize = 3;

/// The most a configuration file may hold.
///
/// The largest seen in the wild is a `~/.claude.json` of a few megabytes; a hundred is a mistake or an attack.
pub const CONFIG_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// The most an expanded string may hold: beyond it no kernel starts a program and no server takes a header.
pub const EXPANDED_BYTES: usize = 1024 * 1024;

/// The longest public name, of a tool and of a server a person adds: the smallest limit among the model providers.
pub const PUBLIC_NAME_LIMIT: usize = 64;

/// The longest name in a permission rule, in bytes; a longer one could be taken apart in too many ways.
pub const RULE_NAME_LIMIT: usize = 512;

/// How many parent folders are searched for `.mcp.json`, so that a looping mount ends.
pub const WALK_UP_FOLDERS: usize = 256;

/// The most a file of an agent may hold; most of it is the prompt.
pub const AGENT_FILE_BYTES: u64 = 1024 * 1024;

/// How many files a folder of agents may hold.
pub const AGENT_FILES: usize = 256;

/// How deep lists and maps may stand inside each other in the front matter of a file; entries have three levels.
pub const FRONT_MATTER_DEPTH: usize = 32;

/// How many files `managed-settings.d` may hold.
pub const MANAGED_FILES: usize = 256;

/// The largest message on any transport, in bytes, after decompression.
///
/// The largest list seen in the wild has 2 MB; the SDKs' own limits are 8 to 16 MiB.
pub const MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// How deep arrays and objects of a result may stand inside each other: as deep as the JSON reader goes.
pub const JSON_DEPTH: usize = 128;

/// How many messages one batch may hold (2025-03-26 has batches); the smallest take two bytes, and a thousand times that
/// when they are read.
pub const BATCH_MESSAGES: usize = 10_000;

/// How many messages may wait to be sent to one server.
pub const QUEUE_MESSAGES: usize = 256;

/// How many bytes may wait to be sent to one server.
pub const QUEUE_BYTES: usize = 32 * 1024 * 1024;

/// How many fragments one message on a WebSocket may come in: the largest message in pieces of 168 bytes.
///
/// An empty fragment adds nothing to a message and never ends it, so the message's own limit would let them come for
/// ever.
pub const WEBSOCKET_FRAGMENTS: usize = 100_000;

/// How long nothing may come on a WebSocket before the server is asked whether it is there: shorter than the
/// minute after which many proxies drop a silent connection.
pub const PING_AFTER: Duration = Duration::from_secs(15);

/// How long it then has to show that it is. After that the connection is over.
pub const PONG_WITHIN: Duration = Duration::from_secs(30);

/// How many requests of one server we answer at the same time; more are refused.
pub const INBOUND_REQUESTS: usize = 64;

/// How many things a server may want at once before it answers a call.
pub const INPUT_REQUESTS: usize = 16;

/// How often a call is made again because its server wants something first (H31), and how often because a person has to
/// visit a page.
pub const ROUNDS: u32 = 3;

/// How many requests of its own a server of the old era may make of a person during one call (B112).
pub const QUESTIONS_PER_CALL: u32 = 10;

/// How long a person may take to answer a question that could belong to several calls: others wait behind it.
pub const QUESTION_TIME: Duration = Duration::from_secs(5 * 60);

/// How long a call that waits for a visited page pauses before it is repeated for the second time; each further pause is
/// twice as long, up to [`PAGE_PAUSE_LONGEST`].
pub const PAGE_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause between two repetitions of a call that waits for a visited page.
pub const PAGE_PAUSE_LONGEST: Duration = Duration::from_secs(15);

/// How many fields a form of a server may have (B111); nobody fills in more for a tool.
pub const FORM_FIELDS: usize = 64;

/// How many choices one of them may offer.
pub const FORM_CHOICES: usize = 256;

/// How many characters of what a server asks are shown.
pub const QUESTION_CHARS: usize = 4096;

/// The longest address of a page that a person is asked to visit (B110): it is shown in full.
pub const PAGE_URL_BYTES: usize = 4096;

/// How long a call is repeated whose person has agreed to visit a page, while its server still asks for that page.
pub const PAGE_TIME: Duration = Duration::from_secs(5 * 60);

/// How many pages are remembered of which a server has told that a person is done there.
pub const PAGES_DONE: usize = 64;

/// How much of a server's standard error is kept.
pub const STDERR_BYTES: usize = 64 * 1024;

/// How long connecting and the headers of an answer may take over HTTP (T8); a running tool is not bound by it.
pub const REQUEST_LIMIT: Duration = Duration::from_secs(60);

/// After this much silence on a connection the system asks whether the other side is still there (F35). Neither streams
/// nor running tools have another limit that would notice.
pub const KEEP_ALIVE_AFTER: Duration = Duration::from_secs(30);

/// How often it asks when nothing comes back.
pub const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(10);

/// How often in all, before the connection counts as broken: a minute after the last word, so that changing from one
/// network to another does not end a call.
pub const KEEP_ALIVE_TRIES: u32 = 3;

/// How long what was sent may stay without a receipt, where the system can be told.
pub const UNACKNOWLEDGED: Duration = Duration::from_secs(60);

/// How often a greeting or a list is asked for when the server answers with a status that may pass (F53).
pub const REQUEST_TRIES: u32 = 3;

/// The pause before the second time, unless the server names a longer one; the next is twice as long.
pub const REQUEST_PAUSE: Duration = Duration::from_millis(500);

/// The longest `Retry-After` that is waited for (F52). A server that names a longer one gets no second request.
pub const RETRY_AFTER_LONGEST: Duration = Duration::from_secs(60);

/// How much of the body of an HTTP error is read. No sensible one says more.
pub const ERROR_BODY_BYTES: usize = 64 * 1024;

/// How much one page of the organisation's connectors may hold.
pub const CATALOGUE_BYTES: usize = 1024 * 1024;

/// How many pages of it are read.
pub const CATALOGUE_PAGES: usize = 16;

/// How many connectors are taken; whoever has more cannot mean them all for one person.
pub const CONNECTORS: usize = 1000;

/// How long fetching the connectors may take; nobody waits for it who starts.
pub const CATALOGUE_TIME: Duration = Duration::from_secs(10);

/// How long a command that shows servers and ends waits for the connectors.
pub const CATALOGUE_PATIENCE: Duration = Duration::from_secs(3);

/// How many characters of a connector's name are taken.
pub const CONNECTOR_NAME_CHARS: usize = 100;

/// The most a file with credentials may hold.
pub const CREDENTIALS_BYTES: u64 = 1024 * 1024;

/// The most an editor's lock file may hold; they have a few hundred bytes.
pub const LOCK_FILE_BYTES: u64 = 64 * 1024;

/// How many lock files are looked at.
pub const LOCK_FILES: usize = 256;

/// The most a file with certificates may hold: the whole list of a system has some hundred kilobytes.
pub const CERTIFICATE_BYTES: u64 = 4 * 1024 * 1024;

/// How many characters of a foreign page or error body are shown.
pub const EXCERPT_CHARS: usize = 200;

/// How many characters of a tool's description or a server's instructions a model gets to see (N6).
///
/// Generated servers have been seen with 15 to 60 kB of documentation per tool.
pub const DESCRIPTION_CHARS: usize = 2048;

/// The largest schema that arguments are checked against; a larger one is passed on unchecked.
///
/// The largest tool seen in the wild has 85 kB, almost all of it schema; reading this much takes a millisecond.
pub const SCHEMA_BYTES: usize = 256 * 1024;

/// How deep a schema may be nested to be checked against; the reader's stack is the reason.
pub const SCHEMA_DEPTH: usize = 64;

/// How many parts a schema may have to be checked against, also for one value once references are followed.
pub const SCHEMA_PARTS: usize = 10_000;

/// How many alternatives and references of a schema may stand within each other for one and the same value.
///
/// Real schemas have five. Times the deepest arguments it must still fit into a thread's stack.
pub const SCHEMA_LAYERS: usize = 16;

/// How many different patterns a schema may have to be checked against: compiling one can take a millisecond.
pub const SCHEMA_PATTERNS: usize = 256;

/// The largest compiled pattern, in bytes; a larger one is not checked.
pub const PATTERN_BYTES: usize = 256 * 1024;

/// How many values that do not fit are told at once: enough to mend a call, not enough to fill a model's window.
pub const MISFITS: usize = 5;

/// How many pages of one list are asked for.
pub const LIST_PAGES: usize = 128;

/// How many entries of one list are taken; the largest server seen has some hundreds of tools.
pub const LIST_ITEMS: usize = 4096;

/// The largest pointer to a next page.
pub const CURSOR_BYTES: usize = 64 * 1024;

/// How long one list may take with all its pages.
pub const LIST_TIME: Duration = Duration::from_secs(30);

/// How long a call waits for its server to read its roots, and a server's question for roots that are not known yet.
pub const ROOTS_TIME: Duration = Duration::from_secs(2);

/// How long a server gets to look at the folders it was just told of, before the first call: it has read the answer, but
/// servers check folders on the disk before they use them, and do not say when they have.
pub const ROOTS_SETTLE_TIME: Duration = Duration::from_millis(100);

/// How long connecting to a server may take (`MCP_TIMEOUT`).
pub const CONNECT_TIME: Duration = Duration::from_secs(30);

/// How long an agent waits for the servers it requires, unless it says otherwise: as long as connecting may take.
pub const AGENT_TIME: Duration = Duration::from_secs(30);

/// How many local servers may be busy starting at the same time (`MCP_SERVER_CONNECTION_BATCH_SIZE`): starting a process
/// costs processor time, waiting for one does not.
pub const LOCAL_CONNECTS: usize = 3;

/// How many remote servers are connected to at the same time (`MCP_REMOTE_SERVER_CONNECTION_BATCH_SIZE`):
/// opening a socket costs almost nothing.
pub const REMOTE_CONNECTS: usize = 20;

/// How long one tool call may take (`MCP_TOOL_TIMEOUT`): about 28 hours, since some tools wait for people.
pub const TOOL_TIME: Duration = Duration::from_secs(100_000);

/// The first pause before a lost server is tried again; each further one is twice as long (L6).
pub const RECONNECT_FIRST: Duration = Duration::from_secs(1);

/// The longest pause before a lost server is tried again.
pub const RECONNECT_LONGEST: Duration = Duration::from_secs(30);

/// How often a lost server is tried again.
pub const RECONNECT_ATTEMPTS: u32 = 5;

/// After this long a connection counts as healthy, and earlier attempts are forgotten.
pub const HEALTHY_AFTER: Duration = Duration::from_secs(60);

/// The most that is read of what is remembered of one server's offer; more is not written either.
pub const SURFACE_BYTES: u64 = 16 * 1024 * 1024;

/// How many servers' offers are remembered on disk; the ones not used for longest are forgotten first.
pub const SURFACES_KEPT: usize = 512;

/// For how long a remembered offer is shown without asking the server: as long as nobody minds yesterday's list.
pub const SURFACE_FRESH: Duration = Duration::from_secs(24 * 60 * 60);

/// A remembered offer younger than this is not written again only to make it younger.
pub const SURFACE_RENEWED: Duration = Duration::from_secs(60 * 60);

/// How long configuration files must be left alone before a change is read: an editor writes more than once.
pub const FILES_QUIET: Duration = Duration::from_millis(50);

/// How often configuration files are looked at although the system has told of no change; some file systems never tell.
pub const FILES_LOOKED_AT: Duration = Duration::from_secs(30);

/// How often they are looked at where the system cannot tell of changes at all.
pub const FILES_LOOKED_AT_BLINDLY: Duration = Duration::from_secs(2);

/// A call waits for the next attempt to reach a lost server if that is no farther away than this; else it fails at once.
pub const RECONNECT_PATIENCE: Duration = Duration::from_secs(3);

/// How long a server that could not be reached is left alone, however many calls want it.
pub const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// After how many broken connections in a row a server behind a URL counts as gone (L5).
pub const CONNECTION_STRIKES: u32 = 3;

/// How long a server must be quiet before lists it says have changed are fetched again (L10).
pub const REFRESH_QUIET: Duration = Duration::from_millis(100);

/// When they are fetched again though it is not quiet.
pub const REFRESH_LATEST: Duration = Duration::from_secs(1);

/// How many lines of a server's log are kept in memory.
pub const LOG_LINES: usize = 500;

/// How long one of them may be.
pub const LOG_LINE_CHARS: usize = 2000;

/// How large the file of a server's log may grow before it is put aside and begun anew.
pub const LOG_FILE_BYTES: u64 = 1024 * 1024;

/// How much of what a server asks for when it refuses is kept.
pub const CHALLENGE_CHARS: usize = 8 * 1024;

/// How large any answer of an authorization server may be (H15).
pub const OAUTH_BYTES: usize = 1024 * 1024;

/// How long one request to an authorization server may take.
pub const OAUTH_TIME: Duration = Duration::from_secs(10);

/// How long a token may be: beyond it no server takes the header that carries it (B77).
pub const TOKEN_BYTES: usize = 64 * 1024;

/// The longest life of a token that is believed; a larger number is a mistake, and adding it to a date would overflow.
pub const TOKEN_LIFE: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// How much is kept of what an authorization server says about a refusal.
pub const REFUSAL_CHARS: usize = 300;

/// How long what a client signs to prove who it is holds good. Servers allow five minutes, and clocks differ.
pub const CLIENT_ASSERTION_TIME: Duration = Duration::from_secs(4 * 60);

/// How long a nonce for proofs of possession may be.
pub const DPOP_NONCE_BYTES: usize = 1024;

/// How many nonces one key remembers: one for each server it is shown to, and it is shown to two.
pub const DPOP_NONCES: usize = 8;

/// How long a person may take to sign in on another device; servers that say less mean it.
pub const DEVICE_TIME: Duration = Duration::from_secs(30 * 60);

/// How often it is asked whether they have, when the server does not say (RFC 8628, 3.2).
pub const DEVICE_INTERVAL: Duration = Duration::from_secs(5);

/// The longest pause between two such questions that is believed.
pub const DEVICE_INTERVAL_MOST: Duration = Duration::from_secs(60);

/// How much longer the pause becomes when the server asks for it (RFC 8628, 3.5).
pub const DEVICE_SLOWER: Duration = Duration::from_secs(5);

/// How many redirects are followed to a description; each stays at its origin.
pub const OAUTH_REDIRECTS: usize = 5;

/// How many scopes, grants or other names are read from one list of a description or a challenge.
pub const OAUTH_NAMES: usize = 500;

/// How long the address of a page may be that a browser is sent to: some systems take no longer command line.
pub const PAGE_ADDRESS_BYTES: usize = 32 * 1024;

/// The longest secret of a client that is read from a pipe; real ones have a hundred bytes.
pub const CLIENT_SECRET_BYTES: u64 = 16 * 1024;

/// How long a person may take to sign in before the way back is closed (H17).
pub const SIGN_IN_TIME: Duration = Duration::from_secs(5 * 60);

/// How long a renewal of tokens may take in all; whoever waits for it in another process gives up then (F81).
pub const RENEWAL_TIME: Duration = Duration::from_secs(45);

/// How long before its end a token is renewed: clocks differ, and requests take their time (F86).
pub const RENEWAL_AHEAD: Duration = Duration::from_secs(30);

/// How long a renewal that failed is not tried again while the token still lasts: an authorization server in trouble is
/// not asked, and waited for, at every request (F81).
pub const RENEWAL_PAUSE: Duration = Duration::from_secs(5);

/// How long a server that wants a sign-in is not asked again (A4).
pub const NEEDS_AUTH_TIME: Duration = Duration::from_secs(15 * 60);

/// How long a command that makes headers may take (A7).
pub const HEADERS_HELPER_TIME: Duration = Duration::from_secs(10);

/// How much it may print; requests with more would be refused by every server.
pub const HEADERS_HELPER_BYTES: usize = 64 * 1024;

/// How much of what it says on its standard error is kept: the end, where the reason stands.
pub const HEADERS_HELPER_SAID_BYTES: usize = 2 * 1024;

/// The most the vault, the file with all secrets of sign-in, may hold: thousands of entries.
pub const VAULT_BYTES: u64 = 16 * 1024 * 1024;

/// The most the file with the vault's key may hold; it is one line.
pub const VAULT_KEY_BYTES: u64 = 4096;

/// How many keys the vault remembers before it forgets those no entry needs; a kernel keyring that was lost
/// leaves one behind.
pub const VAULT_KEYS: usize = 8;

/// How long a system's keychain may take to answer. One that asks a person, or hangs, is passed over.
pub const KEYCHAIN_TIME: Duration = Duration::from_secs(3);

/// The most a keychain may say in one message; a key is 32 bytes, the rest is a desktop's courtesies.
pub const KEYCHAIN_MESSAGE_BYTES: usize = 64 * 1024;

/// How many messages that concern others are passed over while a keychain's answer is awaited.
pub const KEYCHAIN_MESSAGES: usize = 256;

/// How often a running program looks after a key in the kernel's keyring, which forgets it after three days.
pub const KEYRING_RENEWED: Duration = Duration::from_secs(60 * 60);

/// How large the head of a request to the browser's way back may be, and what a person pastes instead of it (B79).
pub const CALLBACK_HEAD_BYTES: usize = 16 * 1024;

/// How long one connection to the browser's way back may take.
pub const CALLBACK_TIME: Duration = Duration::from_secs(10);

/// How many connections to the browser's way back are served at once; the oldest gives way to the next (B81). A browser
/// opens two or three.
pub const CALLBACK_CONNECTIONS: usize = 64;

/// How many connections to the browser's way back the system keeps until they are let in.
pub const CALLBACK_BACKLOG: u32 = 1024;

/// How long a sign-in that has ended waits for the browser to take the page that says so.
pub const CALLBACK_LAST_PAGE: Duration = Duration::from_secs(2);

/// How often a free port is looked for that is free for both kinds of address.
pub const CALLBACK_PORTS: usize = 16;

/// How long the program that opens a browser is watched for a refusal; one that still runs then has opened it.
pub const BROWSER_TIME: Duration = Duration::from_secs(2);
/// How often a host that waits for a sign-in looks whether another process has brought one.
pub const SIGN_IN_LOOKED_FOR: Duration = Duration::from_secs(2);

/// How large a file with a key or a signed statement may be.
pub const KEY_FILE_BYTES: u64 = 64 * 1024;

/// How large the file may be that says which servers want a sign-in.
pub const NEEDS_AUTH_BYTES: u64 = 1024 * 1024;
