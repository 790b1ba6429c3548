//! Who is asked about one call, when that is somebody else than the host asks (G3).
//!
//! A gateway makes calls for many clients, and each has a person of its own behind it.

use std::sync::Arc;

use super::question::Approver;
use crate::elicit::Elicitor;

/// Somebody who is asked about calls of their own.
#[derive(Clone)]
pub struct Person {
    /// Tells persons apart: calls with the same number are of the same one.
    pub number: u64,
    /// Asks for permissions.
    pub approver: Arc<dyn Approver>,
    /// Asks what servers want to know.
    pub elicitor: Arc<dyn Elicitor>,
}

impl std::fmt::Debug for Person {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Person").field("number", &self.number).finish_non_exhaustive()
    }
}
