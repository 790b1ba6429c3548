//! The field `credentials` of an entry: the sign-in that a gateway uses at a remote server.

use super::{ConfiguredGrant, RemoteConfig, ServerConfig, TransportConfig};

/// The sign-in that a gateway with several clients uses at a remote server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CredentialPolicy {
    /// The sign-in of each principal, where a user has to sign in and the gateway tells principals apart.
    #[default]
    Auto,
    /// The sign-in of the gateway itself, for all clients.
    Shared,
    /// The sign-in of each principal, also behind a gateway with a single token.
    Principal,
}

impl CredentialPolicy {
    /// All choices.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Shared, Self::Principal];

    /// The word used in configuration files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Shared => "shared",
            Self::Principal => "principal",
        }
    }
}

impl ServerConfig {
    /// Whether a gateway that tells principals apart signs in to the server once for each of them.
    ///
    /// Credentials of the entry itself are those of all clients: an `Authorization` header, a headers helper, and
    /// the client's own secret, key or assertion.
    #[must_use]
    pub fn has_principal_sign_in(&self) -> bool {
        let (TransportConfig::Sse(remote) | TransportConfig::Http(remote) | TransportConfig::Ws(remote)) =
            &self.transport
        else {
            return false;
        };
        if remote.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
            return false;
        }
        match self.credentials {
            CredentialPolicy::Shared => false,
            CredentialPolicy::Principal => true,
            CredentialPolicy::Auto => remote.headers_helper.is_none() && remote.is_user_sign_in(),
        }
    }
}

impl RemoteConfig {
    /// Whether the sign-in, if there is one, is that of a user, or of the client of a gateway.
    fn is_user_sign_in(&self) -> bool {
        match self.oauth.as_ref().map(|oauth| oauth.grant).unwrap_or_default() {
            ConfiguredGrant::Person | ConfiguredGrant::TokenExchange => true,
            ConfiguredGrant::ClientCredentials | ConfiguredGrant::JwtBearer => false,
        }
    }
}
