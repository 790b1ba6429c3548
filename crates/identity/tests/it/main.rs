//! Tests of access tokens against an issuer on loopback.

mod fleet_issuer;
mod keys;
mod speed;
mod tokens;
