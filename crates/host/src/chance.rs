//! A number that nobody can foresee, to spread in time what would else happen at once. Not for secrets.

#[cfg(not(test))]
pub(crate) fn number() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
pub(crate) use crate::explore::executor::number;
