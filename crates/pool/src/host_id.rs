//! Host ids.

use std::sync::atomic::{AtomicU64, Ordering};

/// The id of a host, unique in the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HostId(u64);

impl HostId {
    /// A new id that no other host has.
    #[must_use]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Default for HostId {
    fn default() -> Self {
        Self::new()
    }
}
