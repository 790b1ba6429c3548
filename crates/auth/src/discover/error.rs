//! Discovery errors: the reasons why no sign-in metadata was found, with all places that were tried.

use std::fmt;

use mcparley_model::explain::Explain;
use mcparley_model::text::{Untrusted, display_line};
use url::Url;

use super::document::DocumentError;
use crate::web::WebError;

/// The reason why discovery failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiscoverError {
    /// No metadata was found.
    #[error("no sign-in metadata found{}", list_attempts(tried))]
    NotFound {
        /// The failed attempts, in order.
        tried: Vec<DiscoveryAttempt>,
    },
    /// Metadata was found that must not be used.
    #[error("cannot use the metadata at {lie}")]
    Rejected {
        /// The rejected metadata, with the reason.
        lie: Box<DiscoveryAttempt>,
        /// The other attempts, in order.
        tried: Vec<DiscoveryAttempt>,
    },
}

/// A place without usable metadata.
#[derive(Clone, Debug)]
pub struct DiscoveryAttempt {
    /// The URL of the place.
    pub url: Url,
    /// The reason.
    pub failure: DiscoveryFailure,
}

/// The reason why a place had no usable metadata.
#[derive(Clone, Debug, thiserror::Error)]
pub enum DiscoveryFailure {
    /// The response has an error status.
    #[error("status {0}")]
    Status(u16),
    /// The response is not JSON.
    #[error("the response is not JSON but {}", describe_content_type(kind.as_ref()))]
    Type {
        /// Its content type.
        kind: Option<Untrusted>,
    },
    /// The request failed.
    #[error(transparent)]
    Web(#[from] WebError),
    /// Not requested: the server named a place at another origin.
    #[error("it is not at the server's own origin")]
    Foreign,
    /// Not requested: the server named a text that is no usable URL.
    #[error("`{}` is not a usable URL", said.display_line())]
    NoUrl {
        /// The text.
        said: Untrusted,
    },
    /// The document cannot be parsed.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The metadata describes another server.
    #[error("it describes another server, `{}`", said.display_line())]
    Resource {
        /// The server it names.
        said: Untrusted,
    },
    /// The metadata describes another authorization server.
    #[error("it describes another issuer, `{}`, instead of `{}`", said.display_line(), display_line(wanted))]
    Issuer {
        /// The issuer it names.
        said: Untrusted,
        /// The issuer that was requested.
        wanted: String,
    },
    /// The metadata does not offer PKCE, without which codes can be stolen.
    #[error("it does not offer PKCE with `S256`")]
    NoPkce,
    /// The token endpoint is at another origin, and the metadata came over an insecure connection.
    #[error("its `token_endpoint` is at another origin, `{}`, and the metadata did not come over `https`", said.display_line())]
    TokenOrigin {
        /// The origin of the endpoint.
        said: Untrusted,
    },
    /// The metadata names an endpoint that must not be used.
    #[error("its `{field}` must not be used: {why}")]
    Endpoint {
        /// The endpoint.
        field: &'static str,
        /// The reason.
        why: WebError,
    },
}

impl DiscoveryFailure {
    /// Whether there is no metadata at this place, rather than a failure to fetch it.
    pub(super) fn is_absent(&self) -> bool {
        self.is_denied() || matches!(self, Self::Type { .. })
    }

    /// Whether the server answered that there is none.
    pub(super) fn is_denied(&self) -> bool {
        // These three statuses only ask to try later.
        matches!(self, Self::Status(status) if (400..500).contains(status) && ![408, 425, 429].contains(status))
    }

    /// Whether there was metadata that must not be used.
    pub(super) fn is_untrusted(&self) -> bool {
        match self {
            Self::Document(_)
            | Self::Resource { .. }
            | Self::Issuer { .. }
            | Self::NoPkce
            | Self::TokenOrigin { .. }
            | Self::Endpoint { .. } => true,
            Self::Status(_) | Self::Type { .. } | Self::Web(_) | Self::Foreign | Self::NoUrl { .. } => false,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Web(error) | Self::Endpoint { why: error, .. } => error.hint(),
            Self::Issuer { said, wanted }
                if said.raw().trim_end_matches('/') == wanted.trim_end_matches('/') =>
            {
                Some(format!(
                    "they differ only in the final slash: ask the server's operator to correct the \
                     issuer, or set its metadata URL in `{WISH}`"
                ))
            }
            Self::Foreign | Self::Issuer { .. } => {
                Some(format!("if you trust its authorization server, set its metadata URL in `{WISH}`"))
            }
            Self::Status(_)
            | Self::Type { .. }
            | Self::NoUrl { .. }
            | Self::Document(_)
            | Self::Resource { .. }
            | Self::TokenOrigin { .. }
            | Self::NoPkce => None,
        }
    }
}

/// The field of an entry that sets the metadata URL.
const WISH: &str = "oauth.authServerMetadataUrl";

impl DiscoverError {
    /// Builds the error from the failed attempts. Metadata that must not be used says more than all places
    /// without any.
    pub(super) fn from_attempts(mut tried: Vec<DiscoveryAttempt>) -> Self {
        match tried.iter().position(|tried| tried.failure.is_untrusted()) {
            Some(index) => Self::Rejected { lie: Box::new(tried.remove(index)), tried },
            None => Self::NotFound { tried },
        }
    }

    /// The attempts besides the rejected one, in order.
    #[must_use]
    pub fn attempts(&self) -> &[DiscoveryAttempt] {
        match self {
            Self::NotFound { tried } | Self::Rejected { tried, .. } => tried,
        }
    }
}

impl Explain for DiscoverError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Rejected { lie, .. } => lie.failure.hint(),
            Self::NotFound { tried } => tried.iter().find_map(|tried| tried.failure.hint()).or_else(|| {
                Some(format!(
                    "if the server needs an API key, set it in `headers`; if you know the metadata \
                     URL of its authorization server, set it in `{WISH}`"
                ))
            }),
        }
    }
}

impl fmt::Display for DiscoveryAttempt {
    /// Omits the query, which may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = self.url.origin().ascii_serialization();
        write!(f, "`{}{}`: {}", display_line(&origin), display_line(self.url.path()), self.failure)
    }
}

fn list_attempts(tried: &[DiscoveryAttempt]) -> String {
    tried.iter().enumerate().fold(String::new(), |text, (index, tried)| {
        let mark = if index == 0 { ": " } else { "; " };
        format!("{text}{mark}{tried}")
    })
}

fn describe_content_type(kind: Option<&Untrusted>) -> String {
    kind.map_or_else(|| "content without a type".to_owned(), |kind| format!("`{}`", kind.display_line()))
}
