//! Names: as their owners wrote them, and as a model sees them.

use std::sync::Arc;

use serde::Serialize;

/// A server's name as its owner wrote it.
///
/// Kept apart from a public name: two servers may differ here and still collide once normalised.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct ServerName(Arc<str>);

/// A tool's name as its server announced it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct ToolName(Arc<str>);

impl ServerName {
    /// Takes the name as it is written.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(Arc::from(name))
    }

    /// The name as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ToolName {
    /// Takes the name as the server announced it.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(Arc::from(name))
    }

    /// The name as the server announced it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
