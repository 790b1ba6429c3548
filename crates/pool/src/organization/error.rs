//! Errors of the organization's connectors.

use mcparley_model::explain::Explain;
use mcparley_model::limits::{CATALOG_PAGES, CONNECTORS};
use mcparley_model::text::display_line;
use mcparley_wire::Failure;

/// Error of the connector catalog, or of one connector.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectorError {
    /// The catalog of an embedding program is not available.
    #[error("the connectors could not be fetched: {reason}")]
    Unavailable {
        /// The reason.
        reason: String,
    },
    /// The request for the catalog failed.
    #[error("the connectors could not be fetched: {0}")]
    Failed(Failure),
    /// The configured URL is not valid.
    #[error("the connectors URL is not valid")]
    NotAUrl,
    /// The configured URL is not one that a token may be sent to.
    #[error("the connectors URL is not `https`, or contains credentials or a query")]
    Unsafe,
    /// There is no token.
    #[error("there is no token for the connectors{}", format_reason(why.as_deref()))]
    NoToken {
        /// The reason, if it is known.
        why: Option<String>,
    },
    /// The token was refused, and there is no newer one.
    #[error("the connectors could not be fetched: the token is refused")]
    Refused,
    /// The answer does not have the expected format.
    #[error("the connector catalog is malformed: {0}")]
    Format(&'static str),
    /// The catalog has more pages or entries than the limit.
    #[error(
        "the catalog has more than {CATALOG_PAGES} pages or {CONNECTORS} connectors; the rest is left out"
    )]
    TooMany,
    /// One entry cannot be used.
    #[error("connector {} is left out: {why}", display_line(name))]
    Entry {
        /// The name of the entry, or its number.
        name: String,
        /// The problem.
        why: &'static str,
    },
    /// A connector is not of the catalog's origin, so the token must not be sent to it.
    #[error("the connector token is only sent to the origin of the catalog")]
    OtherOrigin,
}

impl From<Failure> for ConnectorError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Unauthorized { .. } => Self::Refused,
            failure => Self::Failed(failure),
        }
    }
}

impl Explain for ConnectorError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NotAUrl | Self::Unsafe => {
                "write `connectors.url` or `MCPARLEY_CONNECTORS_URL` like `https://connectors.example`"
                    .to_owned()
            }
            Self::NoToken { .. } | Self::Refused => {
                "sign in again with the program that has the token, or set `MCPARLEY_CONNECTORS_TOKEN`"
                    .to_owned()
            }
            Self::Unavailable { .. } | Self::Failed(_) | Self::Format(_) | Self::TooMany => {
                "your own servers are not affected".to_owned()
            }
            Self::Entry { .. } | Self::OtherOrigin => return None,
        })
    }
}

fn format_reason(why: Option<&str>) -> String {
    why.map(|why| format!(": {why}")).unwrap_or_default()
}
