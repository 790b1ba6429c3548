//! Token request errors, and their classification.

use std::time::Duration;

use mcparley_model::explain::Explain;

use super::credentials::ClientAuthError;
use super::refusal::{OAuthErrorCode, TokenRefusal};
use super::response::TokenResponseError;
use crate::web::WebError;

/// The reason why a token request failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// Not sent: the client cannot authenticate.
    #[error("cannot authenticate to the authorization server")]
    Proof(#[source] ClientAuthError),
    /// The request failed, or no response arrived.
    #[error("the request to the authorization server failed")]
    Web(#[source] WebError),
    /// The server is unavailable.
    #[error("the authorization server is unavailable: status {status}")]
    Unavailable {
        /// The status of the response.
        status: u16,
        /// The time after which the server wants to be asked again.
        retry_after: Option<Duration>,
    },
    /// The server refused.
    #[error("the authorization server refused: {0}")]
    Refused(TokenRefusal),
    /// The response cannot be used.
    #[error("the authorization server's response cannot be used")]
    Malformed(#[source] TokenResponseError),
    /// The token is not bound to our key, and the protected server demands that.
    #[error("the authorization server returned a token that is not bound to our key")]
    NotBound,
    /// The token is bound to a key, and we sent none.
    #[error("the authorization server returned a token that is bound to a key we do not have")]
    UnexpectedlyBound,
}

impl TokenError {
    /// The error code of a refusal.
    #[must_use]
    pub fn code(&self) -> Option<&OAuthErrorCode> {
        match self {
            Self::Refused(refusal) => Some(&refusal.code),
            Self::Proof(_)
            | Self::Web(_)
            | Self::Unavailable { .. }
            | Self::Malformed(_)
            | Self::NotBound
            | Self::UnexpectedlyBound => None,
        }
    }

    /// Whether the grant that was sent is known to be invalid. Any other error may be temporary, and
    /// credentials that may still work are never discarded for it.
    #[must_use]
    pub fn is_grant_dead(&self) -> bool {
        matches!(self.code(), Some(OAuthErrorCode::InvalidGrant)) || self.is_unknown_client()
    }

    /// Whether the client is invalid: one that registered itself must register again.
    #[must_use]
    pub fn is_unknown_client(&self) -> bool {
        matches!(self.code(), Some(OAuthErrorCode::InvalidClient | OAuthErrorCode::UnauthorizedClient))
    }

    /// Whether client authentication failed. Some servers return `unauthorized_client` for it, or no code at
    /// all, with the status of RFC 6749, 5.2.
    pub(super) fn is_client_auth_failure(&self) -> bool {
        match self {
            Self::Refused(refusal) => match refusal.code {
                OAuthErrorCode::InvalidClient => true,
                OAuthErrorCode::UnauthorizedClient
                | OAuthErrorCode::InvalidRequest
                | OAuthErrorCode::Missing => refusal.status == 401,
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether the same request may succeed later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Web(error) => match error {
                WebError::Unreachable(_) | WebError::Broken { .. } | WebError::TimedOut { .. } => true,
                WebError::Scheme { .. }
                | WebError::UserInfo { .. }
                | WebError::Forbidden(_)
                | WebError::Moved { .. }
                | WebError::Redirects { .. }
                | WebError::TooLarge { .. } => false,
            },
            Self::Unavailable { .. } => true,
            Self::Proof(_)
            | Self::Refused(_)
            | Self::Malformed(_)
            | Self::NotBound
            | Self::UnexpectedlyBound => false,
        }
    }
}

impl From<TokenResponseError> for TokenError {
    fn from(error: TokenResponseError) -> Self {
        Self::Malformed(error)
    }
}

impl Explain for TokenError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Proof(error) => error.hint(),
            Self::Refused(refusal) => refusal.code.hint().map(str::to_owned),
            Self::Unavailable { retry_after: Some(after), .. } => {
                Some(format!("try again in {} s", after.as_secs()))
            }
            Self::Unavailable { retry_after: None, .. } => Some("try again later".to_owned()),
            Self::Web(error) => error.hint(),
            Self::Malformed(_) | Self::UnexpectedlyBound => None,
            Self::NotBound => Some("ask its operator to enable DPoP for this client".to_owned()),
        }
    }
}

impl OAuthErrorCode {
    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::InvalidClient => Some("check `oauth.clientId` and its secret or key, or sign in again"),
            Self::InvalidGrant | Self::ExpiredToken | Self::InteractionRequired => Some("sign in again"),
            Self::UnauthorizedClient | Self::UnsupportedGrant => {
                Some("this client may not use this grant; ask the operator, or set another `oauth.grant`")
            }
            Self::InvalidScope => Some("check `oauth.scopes`"),
            Self::InvalidRedirect => {
                Some("set `oauth.clientId`, and the `oauth.callbackPort` that is registered for it")
            }
            Self::InvalidMetadata => Some("set `oauth.clientId` to a client that is registered there"),
            Self::InvalidRequest
            | Self::InvalidTarget
            | Self::AccessDenied
            | Self::AuthorizationPending
            | Self::SlowDown
            | Self::UseDpopNonce
            | Self::InvalidDpopProof
            | Self::UnsupportedToken
            | Self::Other(_)
            | Self::Missing => None,
        }
    }
}
