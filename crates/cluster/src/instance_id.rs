//! The number of a gateway.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of a gateway: one for each start. It is used again only if the store loses its data while the gateways
/// with greater numbers do not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct InstanceId(pub u32);

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
