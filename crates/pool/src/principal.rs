//! Principals: the parties on whose behalf calls are made.

use std::sync::Arc;

use mcparley_auth::{Accounts, CallbackEndpoint};

use crate::hash::hash_texts;

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

/// Hash of the name of a principal whose credentials a connection carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PrincipalHash([u8; 32]);

impl PrincipalHash {
    /// The hash as bytes.
    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// The credentials of one principal of a gateway: its sign-ins, apart from those of every other principal.
#[derive(Clone, Debug)]
pub(crate) struct PrincipalCredentials {
    pub(crate) owner: PrincipalHash,
    pub(crate) accounts: Accounts,
}

impl PrincipalCredentials {
    /// The credentials of the principal of this name, beside the `accounts` of the user. Browsers are sent back
    /// to `callback`.
    pub(crate) fn new(name: &str, accounts: &Accounts, callback: Option<CallbackEndpoint>) -> Self {
        let owner = PrincipalHash(hash_texts([name.as_ref()]));
        Self { owner, accounts: accounts.for_principal(name, callback) }
    }
}
