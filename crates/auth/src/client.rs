//! Who we are to an authorization server.

use mcparley_model::secret::Secret;
use url::Url;

/// Who we are to one authorization server, and to no other (H33).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// The id it knows us by.
    pub id: String,
    /// The secret that goes with it.
    pub secret: Option<Secret<String>>,
    /// How we prove who we are.
    pub proof: Proof,
    /// Where browsers are sent back to; what was registered must be used.
    pub redirect: Option<Url>,
    /// Where the id comes from.
    pub origin: Origin,
    /// The scopes it was registered for, which are all that some servers ever give it. Empty for a client that did not
    /// register itself.
    pub scopes: Vec<String>,
}

/// How a client proves who it is at the token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Not at all: `none`.
    Nothing,
    /// `client_secret_basic`.
    Basic,
    /// `client_secret_post`.
    Post,
    /// `private_key_jwt`.
    Signature,
}

impl Proof {
    /// All of them.
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

    /// The one of this name, if it is known.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|proof| proof.as_str() == name)
    }
}

/// Where a client id comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The server's entry names it.
    Configured,
    /// It is the address of a document about us.
    Document,
    /// The authorization server gave it to us when we asked (RFC 7591).
    Registered,
}
