//! Authorization errors: the reasons why an attempt yielded no code.

use mcparley_model::explain::Explain;
use mcparley_model::text::Untrusted;

use super::AuthorizationRefusal;
use crate::browser_page::PageError;

/// The reason why an authorization attempt yielded no code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorizeError {
    /// The authorization server has no sign-in page.
    #[error("the authorization server has no sign-in page")]
    NoEndpoint,
    /// The sign-in page must not be opened.
    #[error("cannot open the authorization server's sign-in page")]
    Endpoint(#[source] PageError),
    /// The authorization server does not support PKCE.
    #[error("the authorization server does not offer PKCE with S256")]
    NoPkce,
    /// The system has no random numbers.
    #[error("the system returned no random numbers")]
    Random,
    /// The response belongs to another attempt, or to none.
    #[error("the response does not belong to this sign-in")]
    StateMismatch,
    /// The response comes from another issuer.
    #[error("the response does not come from `{}`", expected.display_line())]
    WrongIssuer {
        /// The issuer that was asked.
        expected: Untrusted,
    },
    /// The response does not name its issuer, though the metadata promised it.
    #[error("the response does not name `{}` as its issuer", expected.display_line())]
    NoIssuer {
        /// The issuer that was asked.
        expected: Untrusted,
    },
    /// The authorization server refused.
    #[error("the authorization server refused: {refusal}")]
    Refused {
        /// The reason.
        refusal: AuthorizationRefusal,
    },
}

impl Explain for AuthorizeError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::StateMismatch => Some("sign in again, and finish in the window opened last".to_owned()),
            Self::WrongIssuer { .. } | Self::NoIssuer { .. } => Some(
                "this may be an attack on your account: sign in again only if you trust this server"
                    .to_owned(),
            ),
            Self::Refused { refusal } => refusal.hint(),
            Self::NoEndpoint | Self::Endpoint(_) | Self::NoPkce | Self::Random => None,
        }
    }
}
