//! What an authorization server gave us.

use std::time::{Duration, SystemTime};

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
    /// When it ends by the clock on the wall, if that is known.
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
    /// Whether it will have ended at `now` plus `ahead`.
    #[must_use]
    pub fn is_over(&self, now: SystemTime, ahead: Duration) -> bool {
        self.expires.is_some_and(|expires| now.checked_add(ahead).is_none_or(|then| then >= expires))
    }
}
