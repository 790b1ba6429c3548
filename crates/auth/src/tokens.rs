//! What an authorization server gave us.

use std::time::SystemTime;

use mcparley_model::limits::RENEWAL_AHEAD;
use mcparley_model::secret::Secret;

/// Tokens for one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// What requests carry.
    pub access: Secret<String>,
    /// How they carry it.
    pub kind: Kind,
    /// What it is renewed with, if it can be.
    pub refresh: Option<Secret<String>>,
    /// When it was given, by the clock on the wall.
    pub given: SystemTime,
    /// When it ends by the same clock, if that is known.
    pub expires: Option<SystemTime>,
    /// What it is good for, as far as the authorization server said.
    pub scopes: Vec<String>,
}

/// How requests carry a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whoever has it may use it (RFC 6750).
    Bearer,
    /// Only with a proof that the sender has the key it was given for (RFC 9449).
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
    /// Whether it has ended.
    #[must_use]
    pub fn is_over(&self, now: SystemTime) -> bool {
        self.expires.is_some_and(|expires| now >= expires)
    }

    /// Whether it ends so soon that it is to be renewed: clocks differ, and requests take their time. One that lasts but
    /// a short while is used for half of it, or it would be renewed before every request.
    #[must_use]
    pub fn is_due(&self, now: SystemTime) -> bool {
        let Some(expires) = self.expires else { return false };
        let lasts = expires.duration_since(self.given).unwrap_or_default();
        let ahead = RENEWAL_AHEAD.min(lasts / 2);
        now.checked_add(ahead).is_none_or(|then| then >= expires)
    }
}

#[cfg(test)]
mod tests;
