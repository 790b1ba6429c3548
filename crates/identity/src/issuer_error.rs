//! Errors of fetching the keys of an issuer.

use mcparley_auth::discover::DiscoverError;
use mcparley_auth::web::WebError;
use mcparley_model::explain::Explain;

/// The reason why the keys of an issuer cannot be fetched.
#[derive(Debug, thiserror::Error)]
pub enum IssuerError {
    /// The issuer is no usable URL.
    #[error("`{0}` is not an `https` URL without query and fragment")]
    Url(String),
    /// The resource is no usable URL.
    #[error("`{0}` is not the URL of an endpoint")]
    Resource(String),
    /// The issuer's metadata cannot be used.
    #[error(transparent)]
    Discover(#[from] DiscoverError),
    /// The issuer's metadata names no place for its keys.
    #[error("the metadata of the issuer has no `jwks_uri`")]
    NoKeySet,
    /// The keys cannot be fetched.
    #[error("its keys cannot be fetched: {0}")]
    Web(#[from] WebError),
    /// The place of the keys answers with an error.
    #[error("its keys cannot be fetched: status {0}")]
    Status(u16),
    /// There is no usable key.
    #[error("the issuer has no key that can verify a signature")]
    NoKey,
}

impl Explain for IssuerError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Url(_) => Some("write the issuer as it stands in the `iss` of its tokens".to_owned()),
            Self::Resource(_) => Some(
                "write the URL by which clients reach the gateway, such as `https://mcp.example.com/mcp`"
                    .to_owned(),
            ),
            // The hints of discovery are for the servers of an entry.
            Self::Discover(_) | Self::NoKeySet | Self::Status(_) | Self::NoKey => None,
            Self::Web(error) => error.hint(),
        }
    }
}
