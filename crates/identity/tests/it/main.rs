//! Tests of access tokens against an issuer on loopback.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests start an issuer beside them, and fail loudly")]

mod fleet_issuer;
mod keys;
mod speed;
mod tokens;
