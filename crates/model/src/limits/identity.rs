//! Limits of access tokens that clients of a gateway send.

use std::time::Duration;

/// The maximum size of a client's access token. The header that carries it has at most 32 KiB.
pub const CLIENT_TOKEN_BYTES: usize = 16 * 1024;

/// The clock skew that is allowed between the issuer and this machine.
pub const CLOCK_SKEW: Duration = Duration::from_secs(30);

/// The shortest time for which an issuer's keys are kept, for any `Cache-Control`.
pub const KEYS_TIME_LEAST: Duration = Duration::from_secs(5 * 60);

/// The longest time for which an issuer's keys are kept, for any `Cache-Control`.
pub const KEYS_TIME_MOST: Duration = Duration::from_secs(24 * 60 * 60);

/// The time for which expired keys are used while the issuer is away.
pub const KEYS_STALE_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// The interval between two requests for an issuer's keys: tokens with unknown keys must not cause more.
pub const KEYS_INTERVAL: Duration = Duration::from_secs(30);

/// The interval between two requests for an issuer's keys as long as there are none.
pub const FIRST_KEYS_INTERVAL: Duration = Duration::from_secs(2);

/// The time that a request waits for newer keys where expired ones can be used instead.
pub const KEYS_WAIT: Duration = Duration::from_secs(2);

/// The maximum number of keys of an issuer. The largest issuers publish about ten.
pub const ISSUER_KEYS: usize = 64;

/// The number of verified tokens that are remembered, in each of two generations.
pub const VERIFIED_TOKENS: usize = 4096;

/// The maximum length of a client's name for people.
pub const CLIENT_NAME_CHARS: usize = 48;

/// The maximum number of scopes, and of claim values, that are kept of one token.
pub const TOKEN_GRANTS: usize = 128;
