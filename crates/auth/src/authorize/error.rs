//! Why an attempt brought no code.

use mcparley_model::explain::Explain;
use mcparley_model::text::Untrusted;

use super::Refusal;
use crate::page::PageError;

/// Why an attempt brought no code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthorizeError {
    /// There is no page to sign in on.
    #[error("the authorization server has no page to sign in on")]
    NoEndpoint,
    /// There is one that is not opened.
    #[error("the authorization server's sign-in page is not opened")]
    Endpoint(#[source] PageError),
    /// It does not protect codes.
    #[error("the authorization server does not offer PKCE with S256")]
    NoPkce,
    /// The system gives no random numbers.
    #[error("the system has no random numbers")]
    Random,
    /// The answer is one to another attempt, or to none.
    #[error("the answer does not belong to this sign-in")]
    Stranger,
    /// Somebody else has answered.
    #[error("the answer does not come from `{}`", expected.display())]
    WrongIssuer {
        /// Who was asked.
        expected: Untrusted,
    },
    /// The answer does not say who gives it, though it should.
    #[error("the answer does not say that it comes from `{}`", expected.display())]
    NoIssuer {
        /// Who was asked.
        expected: Untrusted,
    },
    /// The answer is no.
    #[error("the authorization server refused: {refusal}")]
    Refused {
        /// Why.
        refusal: Refusal,
    },
}

impl Explain for AuthorizeError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Stranger => Some("sign in again, and finish in the window that was opened last".to_owned()),
            Self::WrongIssuer { .. } | Self::NoIssuer { .. } => Some(
                "somebody may be trying to get at your account: sign in again only if you trust this server"
                    .to_owned(),
            ),
            Self::Refused { refusal } => refusal.hint(),
            Self::NoEndpoint | Self::Endpoint(_) | Self::NoPkce | Self::Random => None,
        }
    }
}
