//! What can go wrong with the organisation's connectors.

use mcparley_model::explain::Explain;
use mcparley_model::limits::{CATALOGUE_PAGES, CONNECTORS};
use mcparley_model::text::display;
use mcparley_wire::Failure;

/// Why the connectors, or one of them, cannot be had.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectorError {
    /// For an embedding program with a catalogue of its own.
    #[error("the connectors could not be fetched: {reason}")]
    Unavailable {
        /// Why.
        reason: String,
    },
    /// The catalogue did not answer as it should.
    #[error("the connectors could not be fetched: {0}")]
    Failed(Failure),
    /// The configured address is none.
    #[error("the address of the connectors is no URL")]
    NotAUrl,
    /// The configured address is none that a token may be sent to.
    #[error("the address of the connectors is not `https`, or has a login or a query in it")]
    Unsafe,
    /// Nobody has a token.
    #[error("there is no token for the connectors{}", because(why.as_deref()))]
    NoToken {
        /// Why, where that is known.
        why: Option<String>,
    },
    /// The token is not accepted, and there is no newer one.
    #[error("the connectors could not be fetched: the token is refused")]
    Refused,
    /// The answer is not in the format.
    #[error("the answer of the catalogue cannot be understood: {0}")]
    Format(&'static str),
    /// There are more pages or entries than are taken.
    #[error(
        "the catalogue has more than {CATALOGUE_PAGES} pages or {CONNECTORS} connectors; the rest is left out"
    )]
    TooMany,
    /// One entry cannot be used.
    #[error("connector {} is left out: {why}", display(name))]
    Entry {
        /// What it calls itself, or its place.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A connector stands where the token may not go.
    #[error("the token for the connectors is sent to the origin of their catalogue only")]
    Elsewhere,
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
            Self::Entry { .. } | Self::Elsewhere => return None,
        })
    }
}

fn because(why: Option<&str>) -> String {
    why.map(|why| format!(": {why}")).unwrap_or_default()
}
