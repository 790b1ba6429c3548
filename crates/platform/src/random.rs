//! Random numbers and names, seeded by the hasher of the standard library. Not for secrets or nonces.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Returns a random number.
#[must_use]
pub fn random_number() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Returns a random name of 32 hexadecimal digits.
#[must_use]
pub fn random_id() -> String {
    format!("{:016x}{:016x}", random_number(), random_number())
}
