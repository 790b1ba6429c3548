//! Our client at an authorization server.

use mcparley_model::secret::Secret;
use url::Url;

/// Our client at one authorization server. Its secret is sent to no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OAuthClient {
    /// The client id.
    pub id: String,
    /// The client secret.
    pub secret: Option<Secret<String>>,
    /// The client authentication method.
    pub proof: ClientAuthMethod,
    /// The redirect address; the registered one must be used.
    pub redirect: Option<Url>,
    /// The origin of the client id.
    pub origin: ClientIdOrigin,
    /// The scopes it was registered for; some servers never grant others. Empty for a client that did not
    /// register itself.
    pub scopes: Vec<String>,
}

/// A client authentication method at the token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientAuthMethod {
    /// `none`.
    Nothing,
    /// `client_secret_basic`.
    Basic,
    /// `client_secret_post`.
    Post,
    /// `private_key_jwt`.
    Signature,
}

impl ClientAuthMethod {
    /// All methods.
    pub const ALL: [Self; 4] = [Self::Nothing, Self::Basic, Self::Post, Self::Signature];

    /// Its name in metadata and registrations (RFC 7591).
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
            Self::Signature => "private_key_jwt",
        }
    }

    /// The method of this name, if it is known.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|proof| proof.as_str() == name)
    }
}

/// The origin of a client id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientIdOrigin {
    /// The server's entry contains it.
    Configured,
    /// The URL of a client metadata document.
    Document,
    /// The authorization server assigned it at registration (RFC 7591).
    Registered,
}
