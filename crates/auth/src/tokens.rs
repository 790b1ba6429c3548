//! The tokens of an authorization server.

use std::time::SystemTime;

use mcparley_model::limits::RENEWAL_AHEAD;
use mcparley_model::secret::Secret;

/// The tokens for one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// The access token.
    pub access: Secret<String>,
    /// The token type.
    pub kind: Kind,
    /// The refresh token, if there is one.
    pub refresh: Option<Secret<String>>,
    /// The time of issue, by the wall clock.
    pub given: SystemTime,
    /// The expiry by the same clock, if it is known.
    pub expires: Option<SystemTime>,
    /// The granted scopes, as far as the authorization server listed them.
    pub scopes: Vec<String>,
}

/// The type of an access token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A bearer token (RFC 6750).
    Bearer,
    /// A token bound to a key, used with a proof of possession (RFC 9449).
    Dpop,
}

impl Kind {
    /// Its name in `token_type` and `Authorization`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bearer => "Bearer",
            Self::Dpop => "DPoP",
        }
    }
}

impl Tokens {
    /// Whether the access token has expired.
    #[must_use]
    pub fn is_expired(&self, now: SystemTime) -> bool {
        self.expires.is_some_and(|expires| now >= expires)
    }

    /// Whether the access token expires so soon that it should be renewed: clocks differ, and requests take
    /// time. A short-lived token is used for half of its lifetime, or it would be renewed before every
    /// request.
    #[must_use]
    pub fn is_renewal_due(&self, now: SystemTime) -> bool {
        let Some(expires) = self.expires else { return false };
        let lasts = expires.duration_since(self.given).unwrap_or_default();
        let ahead = RENEWAL_AHEAD.min(lasts / 2);
        now.checked_add(ahead).is_none_or(|then| then >= expires)
    }
}

#[cfg(test)]
mod tests;
