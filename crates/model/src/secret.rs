//! Values that must never be shown.

use std::fmt;

use serde::{Serialize, Serializer};

/// What stands in the place of a secret.
pub const MASK: &str = "***";

/// A value that prints as `***` wherever it is printed.
///
/// Reading it takes [`Secret::expose`], which is easy to search for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Hides `value`.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// The value itself. Every call is a place to review.
    pub fn expose(&self) -> &T {
        &self.0
    }

    /// The value itself, for one who will wipe it. Every call is a place to review.
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
