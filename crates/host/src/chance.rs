//! A number that nobody can foresee, to spread in time what would else happen at once. Not for secrets.

#[cfg(not(test))]
pub(crate) fn number() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
pub(crate) use crate::explore::executor::number;

/// A name that nobody else has, for what is told apart by it. Not for secrets.
pub(crate) fn id() -> String {
    format!("{:016x}{:016x}", number(), number())
}
