//! Secret values, which print as `***`.

use std::fmt;

use serde::{Serialize, Serializer};

/// The mask that is printed instead of a secret.
pub const MASK: &str = "***";

/// A secret value, which prints as `***` in `Debug`, `Display` and `Serialize`.
///
/// Exposing it takes [`Secret::expose`], which is easy to search for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Wraps `value` as a secret.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// Exposes the value. Every call is a place to review.
    pub fn expose(&self) -> &T {
        &self.0
    }

    /// Exposes the value by move, for callers that will wipe it. Every call is a place to review.
    pub fn into_exposed(self) -> T {
        self.0
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl<T> fmt::Display for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl<T> Serialize for Secret<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(MASK)
    }
}
