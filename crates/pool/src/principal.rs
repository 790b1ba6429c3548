//! Principals: the parties on whose behalf calls are made, with the identity that a gateway verified.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use crate::auth::{Accounts, PrincipalSignIn};
use mcparley_model::secret::Secret;

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

/// The party on whose behalf calls are made, such as one session of a gateway's client.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Principal {
    /// The id. A server request that may belong to calls of several principals is routed to none of them.
    pub id: PrincipalId,
    /// The verified identity of the client. Several sessions of a client are several principals with one
    /// account.
    pub identity: Arc<ClientIdentity>,
}

/// The identity of a client, as a gateway verified it for one request.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientIdentity {
    /// The account, the same for all sessions and after a restart: `token:NAME`, `jwt:HASH`, `unix:UID`, `open`,
    /// or `stdio:NUMBER`, which is good for one run only.
    pub account: Arc<str>,
    /// The name of the account for people. It is no address of a person and proves nothing.
    pub display_name: Arc<str>,
    /// The scopes of the client's token.
    pub scopes: Arc<[Box<str>]>,
    /// The claims of the client's token with text values, one pair for each value of a list.
    pub claims: Arc<[(Box<str>, Box<str>)]>,
    /// The token of an issuer that the client sent. It is for a token exchange only, and never sent to a server.
    pub subject_token: Option<Arc<SubjectToken>>,
}

/// An access token of an issuer, with which a gateway can request another one for its client (RFC 8693).
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubjectToken {
    /// The token.
    pub token: Secret<String>,
    /// The issuer, byte for byte.
    pub issuer: Arc<str>,
    /// The expiry of the token.
    pub expires: SystemTime,
}

impl Principal {
    /// A principal with this id, whose account is the id.
    #[must_use]
    pub fn new(id: PrincipalId) -> Self {
        let identity = Arc::new(ClientIdentity::new(id.as_str()));
        Self { id, identity }
    }

    /// A principal with a verified identity.
    #[must_use]
    pub fn with_identity(id: PrincipalId, identity: Arc<ClientIdentity>) -> Self {
        Self { id, identity }
    }
}

impl ClientIdentity {
    /// The identity of an account without a token of an issuer.
    #[must_use]
    pub fn new(account: &str) -> Self {
        let account: Arc<str> = Arc::from(account);
        Self {
            display_name: Arc::clone(&account),
            account,
            scopes: Arc::default(),
            claims: Arc::default(),
            subject_token: None,
        }
    }

    /// Sets the name for people.
    #[must_use]
    pub fn with_display_name(self, name: &str) -> Self {
        Self { display_name: Arc::from(name), ..self }
    }

    /// Sets the scopes and claims of the client's token.
    #[must_use]
    pub fn with_grants(
        self,
        scopes: impl IntoIterator<Item = Box<str>>,
        claims: impl IntoIterator<Item = (Box<str>, Box<str>)>,
    ) -> Self {
        Self { scopes: scopes.into_iter().collect(), claims: claims.into_iter().collect(), ..self }
    }

    /// Sets the token of an issuer.
    #[must_use]
    pub fn with_subject_token(self, token: SubjectToken) -> Self {
        Self { subject_token: Some(Arc::new(token)), ..self }
    }

    /// Whether the gateway tells this client apart from others, by its token.
    #[must_use]
    pub fn is_told_apart(&self) -> bool {
        ["token:", "jwt:"].iter().any(|kind| self.account.starts_with(kind))
    }

    /// The name for people, if it is another than the account.
    #[must_use]
    pub fn distinct_name(&self) -> Option<&str> {
        (self.display_name != self.account).then_some(&*self.display_name)
    }

    /// Whether the client's token has a scope.
    #[must_use]
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.iter().any(|known| &**known == scope)
    }
}

impl fmt::Debug for ClientIdentity {
    /// Leaves out the claims, which may say much about a person.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientIdentity").field("account", &self.account).finish_non_exhaustive()
    }
}

impl SubjectToken {
    /// A token of this issuer.
    #[must_use]
    pub fn new(token: Secret<String>, issuer: &Arc<str>, expires: SystemTime) -> Self {
        Self { token, issuer: Arc::clone(issuer), expires }
    }
}

/// Hash of the name of the principal that a connection signs in as.
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
    /// The credentials of the principal of this name, beside the `accounts` of the user.
    pub(crate) fn new(name: &str, accounts: &Accounts, sign_in: PrincipalSignIn) -> Self {
        let owner = PrincipalHash(hash_texts([name.as_ref()]));
        Self { owner, accounts: accounts.for_principal(name, sign_in) }
    }
}
