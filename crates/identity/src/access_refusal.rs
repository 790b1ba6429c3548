//! The reasons why a token is refused.

/// The reason why a token is refused, for metrics and the audit log only. A client gets the same text for
/// every wrong token, so that a guess teaches it nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessRefusal {
    /// The token exceeds the size limit.
    #[error("the token is too large")]
    TooLarge,
    /// The token is not a signed JSON Web Token.
    #[error("the token is not a signed JSON Web Token")]
    Form,
    /// The token is of another type, or has header fields that must be understood.
    #[error("the token is of another type")]
    Type,
    /// The token's algorithm is not accepted.
    #[error("the algorithm of the token is not accepted")]
    Algorithm,
    /// The issuer has no key of the token's name.
    #[error("the issuer has no such key")]
    UnknownKey,
    /// No key of the token's name is known, and the issuer was asked too recently to be asked again.
    #[error("the key of the token is not known yet")]
    KeyPending,
    /// The key of the token's name is for another algorithm.
    #[error("the key is for another algorithm")]
    KeyType,
    /// The signature does not fit.
    #[error("the signature does not fit")]
    Signature,
    /// The token is of another issuer.
    #[error("the token is of another issuer")]
    Issuer,
    /// The token names no subject.
    #[error("the token names no subject")]
    Subject,
    /// The token has no expiry.
    #[error("the token has no expiry")]
    NoExpiry,
    /// The token has expired.
    #[error("the token has expired")]
    Expired,
    /// The token is not valid yet.
    #[error("the token is not valid yet")]
    NotYetValid,
    /// The token is bound to a key that its sender has to prove, which a bearer token does not.
    #[error("the token is bound to a key")]
    Bound,
    /// The token is for another resource.
    #[error("the token is for another resource")]
    Audience,
    /// The token lacks a scope.
    #[error("the token lacks a scope")]
    Scope,
    /// The issuer's keys cannot be fetched, and none are known.
    #[error("the keys of the issuer cannot be fetched")]
    IssuerAway,
}

impl AccessRefusal {
    /// The word for the reason, for metrics and the audit log.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TooLarge => "token_size",
            Self::Form => "token_form",
            Self::Type => "token_type",
            Self::Algorithm => "token_algorithm",
            Self::UnknownKey => "token_key",
            Self::KeyPending => "token_key_pending",
            Self::KeyType => "token_key_type",
            Self::Signature => "token_signature",
            Self::Issuer => "token_issuer",
            Self::Subject => "token_subject",
            Self::NoExpiry => "token_no_expiry",
            Self::Expired => "token_expired",
            Self::NotYetValid => "token_not_yet_valid",
            Self::Bound => "token_bound",
            Self::Audience => "token_audience",
            Self::Scope => "token_scope",
            Self::IssuerAway => "issuer_away",
        }
    }

    /// Whether the token may be a guess: its signature was not verified. A token with a verified one is only for
    /// another resource, or without a scope.
    #[must_use]
    pub fn may_be_guess(self) -> bool {
        match self {
            Self::TooLarge
            | Self::Form
            | Self::Type
            | Self::Algorithm
            | Self::UnknownKey
            | Self::KeyType
            | Self::Signature
            | Self::Issuer
            | Self::Subject
            | Self::NoExpiry
            | Self::Expired
            | Self::NotYetValid
            | Self::Bound => true,
            Self::KeyPending | Self::Audience | Self::Scope | Self::IssuerAway => false,
        }
    }
}
