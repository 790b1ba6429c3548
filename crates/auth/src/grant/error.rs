//! Why there are no tokens, and what follows from it.

use std::time::Duration;

use mcparley_model::explain::Explain;

use super::answer::AnswerError;
use super::credentials::ProofError;
use super::refusal::{ErrorCode, Refusal};
use crate::web::WebError;

/// Why there are no tokens.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TokenError {
    /// Nothing was sent: we cannot prove who we are.
    #[error("we cannot prove to the authorization server who we are")]
    Proof(#[source] ProofError),
    /// It could not be asked, or its answer never came.
    #[error("the authorization server cannot be asked")]
    Web(#[source] WebError),
    /// It is in trouble.
    #[error("the authorization server is in trouble: status {status}")]
    Unavailable {
        /// The status of its answer.
        status: u16,
        /// When it wants to be asked again.
        retry_after: Option<Duration>,
    },
    /// It said no.
    #[error("the authorization server says no: {0}")]
    Refused(Refusal),
    /// It said yes, but what it gave cannot be used.
    #[error("what the authorization server gave cannot be used")]
    Malformed(#[source] AnswerError),
    /// The token is not bound to our key, and the server it is for wants that.
    #[error("the authorization server gave a token that is not bound to our key")]
    NotBound,
    /// The token is bound to a key, and we have shown none.
    #[error("the authorization server gave a token that is bound to a key we do not have")]
    Bound,
}

impl TokenError {
    /// Why it said no, if it did.
    #[must_use]
    pub fn code(&self) -> Option<&ErrorCode> {
        match self {
            Self::Refused(refusal) => Some(&refusal.code),
            Self::Proof(_)
            | Self::Web(_)
            | Self::Unavailable { .. }
            | Self::Malformed(_)
            | Self::NotBound
            | Self::Bound => None,
        }
    }

    /// Whether what was shown is known to be of no use any more. Everything else may be trouble on the way, and
    /// credentials that may still work are never thrown away for it.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        matches!(self.code(), Some(ErrorCode::InvalidGrant)) || self.is_unknown_client()
    }

    /// Whether it is the client that is of no use: one that registered itself must do so again.
    #[must_use]
    pub fn is_unknown_client(&self) -> bool {
        matches!(self.code(), Some(ErrorCode::InvalidClient | ErrorCode::UnauthorizedClient))
    }

    /// Whether the client did not prove who it is. Some servers say `unauthorized_client` for it, or nothing at all, with
    /// the status of RFC 6749, 5.2.
    pub(super) fn is_client_authentication(&self) -> bool {
        match self {
            Self::Refused(refusal) => match refusal.code {
                ErrorCode::InvalidClient => true,
                ErrorCode::UnauthorizedClient | ErrorCode::InvalidRequest | ErrorCode::Unsaid => {
                    refusal.status == 401
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether the same request may succeed later.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Web(error) => match error {
                WebError::Unreachable(_) | WebError::Broken { .. } | WebError::Late { .. } => true,
                WebError::Scheme { .. }
                | WebError::Adorned { .. }
                | WebError::Forbidden(_)
                | WebError::Moved { .. }
                | WebError::Redirects { .. }
                | WebError::TooLarge { .. } => false,
            },
            Self::Unavailable { .. } => true,
            Self::Proof(_) | Self::Refused(_) | Self::Malformed(_) | Self::NotBound | Self::Bound => false,
        }
    }
}

impl From<AnswerError> for TokenError {
    fn from(error: AnswerError) -> Self {
        Self::Malformed(error)
    }
}

impl Explain for TokenError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Proof(error) => error.hint(),
            Self::Refused(refusal) => refusal.code.hint().map(str::to_owned),
            Self::Unavailable { retry_after: Some(after), .. } => {
                Some(format!("it asks to be left alone for {} s", after.as_secs()))
            }
            Self::Unavailable { retry_after: None, .. } => Some("try again later".to_owned()),
            Self::Web(error) => error.hint(),
            Self::Malformed(_) | Self::Bound => None,
            Self::NotBound => Some("its operator must switch on DPoP for this client".to_owned()),
        }
    }
}

impl ErrorCode {
    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::InvalidClient => Some("check `oauth.clientId` and its secret or key, or sign in again"),
            Self::InvalidGrant | Self::ExpiredToken | Self::PersonNeeded => Some("sign in again"),
            Self::UnauthorizedClient | Self::UnsupportedGrant => Some(
                "this client may not sign in this way; ask the operator, or choose another `oauth.grant`",
            ),
            Self::InvalidScope => Some("check `oauth.scopes`"),
            Self::InvalidRedirect => {
                Some("give `oauth.clientId`, and the `oauth.callbackPort` that is registered for it")
            }
            Self::InvalidMetadata => {
                Some("give the id of a client that is registered there: `oauth.clientId`")
            }
            Self::InvalidRequest
            | Self::InvalidTarget
            | Self::AccessDenied
            | Self::AuthorizationPending
            | Self::SlowDown
            | Self::UseDpopNonce
            | Self::InvalidDpopProof
            | Self::UnsupportedToken
            | Self::Other(_)
            | Self::Unsaid => None,
        }
    }
}
