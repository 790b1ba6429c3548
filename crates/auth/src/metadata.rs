//! The metadata of protected servers and authorization servers (RFC 9728, RFC 8414, OpenID Connect
//! Discovery).
//!
//! Values only: `discover` finds them and decides which are trusted.

use url::Url;

use crate::client::ClientAuthMethod;

/// The metadata of a protected server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceMetadata {
    /// The server's name for itself, byte for byte.
    pub resource: String,
    /// The issuers of its authorization servers, in its order.
    pub authorization_servers: Vec<String>,
    /// The scopes it supports.
    pub scopes: Vec<String>,
    /// Whether it accepts only tokens bound to a key.
    pub dpop_required: bool,
}

/// The metadata of an authorization server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthServerMetadata {
    /// The issuer, byte for byte.
    pub issuer: String,
    /// The sign-in page.
    pub authorization_endpoint: Option<Url>,
    /// The endpoint that issues tokens.
    pub token_endpoint: Url,
    /// The endpoint at which clients register.
    pub registration_endpoint: Option<Url>,
    /// The endpoint that starts a sign-in on another device.
    pub device_endpoint: Option<Url>,
    /// The endpoint that revokes tokens.
    pub revocation_endpoint: Option<Url>,
    /// The place of the keys with which it signs tokens.
    pub key_set: Option<Url>,
    /// The scopes it supports.
    pub scopes: Vec<String>,
    /// The grants it supports; `None` when it lists none.
    pub grants: Option<Vec<String>>,
    /// The client authentication methods it supports; `None` when it lists none. Unknown ones are left out.
    pub proofs: Option<Vec<ClientAuthMethod>>,
    /// The algorithms for client assertions; `None` when it lists none.
    pub signing: Option<Vec<String>>,
    /// Whether it supports PKCE with S256.
    pub has_s256: bool,
    /// Whether authorization responses name their issuer (RFC 9207).
    pub names_issuer: bool,
    /// Whether the URL of a client metadata document is accepted as a client id.
    pub takes_documents: bool,
    /// The algorithms for proofs of possession; empty when it supports none (RFC 9449).
    pub dpop: Vec<String>,
    /// The source of this metadata.
    pub source: MetadataSource,
}

impl AuthServerMetadata {
    /// Metadata with only an issuer and a token endpoint.
    #[must_use]
    pub fn new(issuer: String, token_endpoint: Url) -> Self {
        Self {
            issuer,
            authorization_endpoint: None,
            token_endpoint,
            registration_endpoint: None,
            device_endpoint: None,
            revocation_endpoint: None,
            key_set: None,
            scopes: Vec::new(),
            grants: None,
            proofs: None,
            signing: None,
            has_s256: false,
            names_issuer: false,
            takes_documents: false,
            dpop: Vec::new(),
            source: MetadataSource::Published,
        }
    }

    /// The origin of the token endpoint, if it is not the issuer's own. Codes and secrets are sent there, so
    /// the user is told of it.
    #[must_use]
    pub fn foreign_token_origin(&self) -> Option<String> {
        let origin = self.token_endpoint.origin();
        let is_own = Url::parse(&self.issuer).is_ok_and(|issuer| issuer.origin() == origin);
        (!is_own).then(|| origin.ascii_serialization())
    }
}

/// The source of an authorization server's metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataSource {
    /// The server publishes it.
    Published,
    /// The server publishes none; the endpoints are the defaults of 2025-03-26.
    Assumed,
}

#[cfg(test)]
mod tests {
    use super::*;

    // B71
    #[test]
    fn token_endpoint_is_foreign_when_its_origin_is_not_the_issuers() {
        let foreign = |issuer: &str, endpoint: &str| {
            AuthServerMetadata::new(issuer.to_owned(), Url::parse(endpoint).unwrap()).foreign_token_origin()
        };
        for (issuer, endpoint, expected) in [
            ("https://a.example", "https://a.example/token", None),
            ("https://a.example/tenant", "https://a.example:443/token", None),
            ("https://A.example/", "https://a.example/token", None),
            ("https://a.example", "https://b.example/token?secret=1", Some("https://b.example")),
            ("https://a.example", "https://a.example:8443/token", Some("https://a.example:8443")),
            ("https://a.example", "https://login.a.example/token", Some("https://login.a.example")),
            ("no address", "https://a.example/token", Some("https://a.example")),
        ] {
            assert_eq!(foreign(issuer, endpoint).as_deref(), expected, "{issuer} {endpoint}");
        }
    }
}
