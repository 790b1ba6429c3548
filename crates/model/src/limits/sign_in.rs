//! Limits of sign-in: OAuth requests, the vault, keychains, the callback listener and header helpers.

use std::time::Duration;

/// The maximum size of any response of an authorization server.
pub const OAUTH_BYTES: usize = 1024 * 1024;

/// The timeout of one request to an authorization server.
pub const OAUTH_TIME: Duration = Duration::from_secs(10);

/// The maximum size of a token: beyond it servers refuse the header that carries it.
pub const TOKEN_BYTES: usize = 64 * 1024;

/// The longest token lifetime that is believed; a larger number is a mistake, and adding it to a date would
/// overflow.
pub const TOKEN_LIFE: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// The number of characters kept of an authorization server's error description.
pub const REFUSAL_CHARS: usize = 300;

/// The lifetime of a client assertion. Servers allow five minutes, and clocks differ.
pub const CLIENT_ASSERTION_TIME: Duration = Duration::from_secs(4 * 60);

/// The maximum size of a DPoP nonce.
pub const DPOP_NONCE_BYTES: usize = 1024;

/// The number of nonces remembered per key: one for each server the key is used with, and there are two.
pub const DPOP_NONCES: usize = 8;

/// The maximum time for a sign-in on another device; a shorter limit named by the server applies.
pub const DEVICE_TIME: Duration = Duration::from_secs(30 * 60);

/// The polling interval of the device flow when the server does not name one (RFC 8628, 3.2).
pub const DEVICE_INTERVAL: Duration = Duration::from_secs(5);

/// The longest polling interval that is believed.
pub const DEVICE_INTERVAL_MOST: Duration = Duration::from_secs(60);

/// The increase of the polling interval after `slow_down` (RFC 8628, 3.5).
pub const DEVICE_SLOWER: Duration = Duration::from_secs(5);

/// The maximum number of redirects followed to a metadata document; each stays at its origin.
pub const OAUTH_REDIRECTS: usize = 5;

/// The maximum number of scopes, grants or other names read from one list in metadata or a challenge.
pub const OAUTH_NAMES: usize = 500;

/// The maximum size of a URL opened in a browser: some systems accept no longer command line.
pub const PAGE_ADDRESS_BYTES: usize = 32 * 1024;

/// The longest client secret read from a pipe; real ones have a hundred bytes.
pub const CLIENT_SECRET_BYTES: u64 = 16 * 1024;

/// The time the user may take to sign in before the callback listener is closed.
pub const SIGN_IN_TIME: Duration = Duration::from_secs(5 * 60);

/// The time a client of a gateway may take to sign in: the client may show the page to its user later.
pub const GATEWAY_SIGN_IN_TIME: Duration = Duration::from_secs(10 * 60);

/// The timeout of a token refresh in total; waiters in other processes give up then.
pub const RENEWAL_TIME: Duration = Duration::from_secs(45);

/// The time before its expiry at which a token is refreshed: clocks differ, and requests take their time.
pub const RENEWAL_AHEAD: Duration = Duration::from_secs(30);

/// The pause after a failed refresh while the token is still valid, so that not every request waits for an
/// authorization server in trouble.
pub const RENEWAL_PAUSE: Duration = Duration::from_secs(5);

/// The time during which a server that requires a sign-in is not asked again.
pub const NEEDS_AUTH_TIME: Duration = Duration::from_secs(15 * 60);

/// The timeout of a header helper command.
pub const HEADERS_HELPER_TIME: Duration = Duration::from_secs(10);

/// The maximum output of a header helper; every server would refuse requests with more.
pub const HEADERS_HELPER_BYTES: usize = 64 * 1024;

/// The number of bytes kept of a header helper's standard error: the end, which has the reason.
pub const HEADERS_HELPER_SAID_BYTES: usize = 2 * 1024;

/// The maximum size of the vault, the file with all sign-in secrets: thousands of entries.
pub const VAULT_BYTES: u64 = 16 * 1024 * 1024;

/// The maximum size of the vault's key file, which is one line.
pub const VAULT_KEY_BYTES: u64 = 4096;

/// The number of keys the vault remembers before it deletes those that no entry needs; a lost kernel
/// keyring leaves one behind.
pub const VAULT_KEYS: usize = 8;

/// The timeout of the system's keychain. A keychain that asks the user, or hangs, is skipped.
pub const KEYCHAIN_TIME: Duration = Duration::from_secs(3);

/// The maximum size of one keychain message; a key is 32 bytes, the rest is desktop protocol overhead.
pub const KEYCHAIN_MESSAGE_BYTES: usize = 64 * 1024;

/// The maximum number of unrelated messages skipped while waiting for a keychain's answer.
pub const KEYCHAIN_MESSAGES: usize = 256;

/// The interval at which a running program renews a key in the kernel's keyring, which expires after three
/// days.
pub const KEYRING_RENEWED: Duration = Duration::from_secs(60 * 60);

/// The maximum size of a callback request's head, and of the URL that the user pastes instead of it.
pub const CALLBACK_HEAD_BYTES: usize = 16 * 1024;

/// The timeout of one connection to the callback listener.
pub const CALLBACK_TIME: Duration = Duration::from_secs(10);

/// The maximum number of concurrent connections to the callback listener; the oldest is dropped for the
/// next. A browser opens two or three.
pub const CALLBACK_CONNECTIONS: usize = 64;

/// The accept backlog of the callback listener.
pub const CALLBACK_BACKLOG: u32 = 1024;

/// The time a completed sign-in waits for the browser to load the final page.
pub const CALLBACK_LAST_PAGE: Duration = Duration::from_secs(2);

/// The number of attempts to find a callback port that is free for both IPv4 and IPv6.
pub const CALLBACK_PORTS: usize = 16;

/// The time to watch the browser launcher for a failure; a launcher that still runs then has opened the
/// browser.
pub const BROWSER_TIME: Duration = Duration::from_secs(2);
/// The interval at which a host that waits for a sign-in checks whether another process has completed it.
pub const SIGN_IN_LOOKED_FOR: Duration = Duration::from_secs(2);

/// The maximum size of a file with a private key or an assertion.
pub const KEY_FILE_BYTES: u64 = 64 * 1024;

/// The maximum size of the file that caches which servers require a sign-in.
pub const NEEDS_AUTH_BYTES: u64 = 1024 * 1024;
