//! Principals: the parties on whose behalf calls are made.

use std::sync::Arc;

/// The id of a principal, unique in the process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PrincipalId(Arc<str>);

impl PrincipalId {
    /// An id that its creator keeps unique, such as `stdio:3`.
    #[must_use]
    pub fn new(id: &str) -> Self {
        Self(Arc::from(id))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The party on whose behalf calls are made, such as one client of a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Principal {
    /// The id. A server request that may belong to calls of several principals is routed to none of them.
    pub id: PrincipalId,
}

impl Principal {
    /// A principal with this id.
    #[must_use]
    pub fn new(id: PrincipalId) -> Self {
        Self { id }
    }
}
