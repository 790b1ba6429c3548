//! The owner of a sign-in: the user of this program, or a principal of a gateway.

use std::sync::Arc;

use super::subject_token::SubjectTokenSource;
use crate::callback::CallbackEndpoint;

/// The owner of a sign-in.
#[derive(Clone, Debug)]
pub(crate) enum AccountOwner {
    /// The user of this program.
    User,
    /// A principal of a gateway.
    Principal {
        /// The name of the principal, such as `token:alice`.
        name: Arc<str>,
        /// The means of its sign-ins.
        sign_in: PrincipalSignIn,
    },
}

/// The means by which a principal of a gateway signs in to servers.
#[derive(Clone, Debug, Default)]
pub struct PrincipalSignIn {
    /// The redirect address of the gateway, if browsers reach it.
    pub callback: Option<CallbackEndpoint>,
    /// The newest token of an issuer that the principal's clients sent, for a token exchange.
    pub subject: SubjectTokenSource,
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
