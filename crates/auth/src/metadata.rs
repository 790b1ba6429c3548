//! What protected servers and authorization servers say about themselves (RFC 9728, RFC 8414, OpenID Connect Discovery).
//!
//! Values only: how they are found and which are believed is decided in `discover`.

use url::Url;

use crate::client::Proof;

/// What a protected server says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Its own name for itself, byte for byte.
    pub resource: String,
    /// The issuers that may let us in, in its order.
    pub authorization_servers: Vec<String>,
    /// The scopes it knows.
    pub scopes: Vec<String>,
    /// Whether it takes only tokens bound to a key.
    pub dpop_required: bool,
}

/// What an authorization server says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its name, byte for byte.
    pub issuer: String,
    /// Where people are sent to consent.
    pub authorization_endpoint: Option<Url>,
    /// Where tokens are given.
    pub token_endpoint: Url,
    /// Where clients register themselves.
    pub registration_endpoint: Option<Url>,
    /// Where sign-in on another device begins.
    pub device_endpoint: Option<Url>,
    /// Where tokens are given back.
    pub revocation_endpoint: Option<Url>,
    /// The scopes it knows.
    pub scopes: Vec<String>,
    /// The grants it takes; `None` when it does not say.
    pub grants: Option<Vec<String>>,
    /// How clients may prove who they are; `None` when it does not say. Unknown ones are left out.
    pub proofs: Option<Vec<Proof>>,
    /// The algorithms clients may sign with; `None` when it does not say.
    pub signing: Option<Vec<String>>,
    /// Whether PKCE with S256 is offered.
    pub has_s256: bool,
    /// Whether answers name their issuer (RFC 9207).
    pub names_issuer: bool,
    /// Whether the address of a document is taken for a client id.
    pub takes_documents: bool,
    /// The algorithms proofs of possession may be signed with; empty when there are none (RFC 9449).
    pub dpop: Vec<String>,
    /// How it was found.
    pub found: Found,
}

impl Server {
    /// One of which nothing is known but its name and where it gives tokens.
    #[must_use]
    pub fn new(issuer: String, token_endpoint: Url) -> Self {
        Self {
            issuer,
            authorization_endpoint: None,
            token_endpoint,
            registration_endpoint: None,
            device_endpoint: None,
            revocation_endpoint: None,
            scopes: Vec::new(),
            grants: None,
            proofs: None,
            signing: None,
            has_s256: false,
            names_issuer: false,
            takes_documents: false,
            dpop: Vec::new(),
            found: Found::Described,
        }
    }

    /// The origin of the token endpoint, if it is not the issuer's own. Codes and secrets are sent there, so the person is
    /// told of it.
    #[must_use]
    pub fn foreign_token_origin(&self) -> Option<String> {
        let origin = self.token_endpoint.origin();
        let is_own = Url::parse(&self.issuer).is_ok_and(|issuer| issuer.origin() == origin);
        (!is_own).then(|| origin.ascii_serialization())
    }
}

/// How an authorization server's description was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It describes itself.
    Described,
    /// It says nothing; its endpoints are where servers of 2025-03-26 had them.
    Assumed,
}

#[cfg(test)]
mod tests {
    use super::*;

    // B71
    #[test]
    fn token_endpoint_is_foreign_when_its_origin_is_not_the_issuers() {
        let foreign = |issuer: &str, endpoint: &str| {
            Server::new(issuer.to_owned(), Url::parse(endpoint).unwrap()).foreign_token_origin()
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
