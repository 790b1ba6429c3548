//! The owner of a sign-in: the user of this program, or a principal of a gateway.

use std::sync::Arc;

use crate::callback::CallbackEndpoint;

/// The owner of a sign-in.
#[derive(Clone, Debug)]
pub(crate) enum AccountOwner {
    /// The user who runs this program.
    User,
    /// A principal of a gateway.
    Principal {
        /// The name of the principal, such as `token:alice`.
        name: Arc<str>,
        /// The redirect address of the gateway, if browsers reach it.
        callback: Option<CallbackEndpoint>,
    },
}

impl AccountOwner {
    /// The name of the principal; `None` for the user.
    pub(crate) fn principal(&self) -> Option<&str> {
        match self {
            Self::User => None,
            Self::Principal { name, .. } => Some(name),
        }
    }
}
