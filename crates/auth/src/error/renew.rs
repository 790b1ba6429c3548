//! Renewal errors: the reasons why tokens could not be obtained without the user.

use std::sync::Arc;

use mcparley_model::explain::Explain;
use mcparley_wire::{Failure, Obstacle};

use super::{SignInError, join_sources};

/// The reason why there are no new tokens.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenewError {
    /// The sign-in has ended: the user has to sign in again.
    #[error("sign-in required")]
    SignInRequired,
    /// A temporary obstacle; no token is lost.
    #[error("{0}")]
    Unavailable(Failure),
}

impl RenewError {
    /// Short name of the error, for spans.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::SignInRequired => "sign-in-over",
            Self::Unavailable(failure) => failure.kind(),
        }
    }

    /// Builds a temporary obstacle from a sentence and its cause.
    pub(crate) fn from_cause(sentence: &str, why: &dyn std::error::Error, hint: Option<String>) -> Self {
        let reason = Arc::from(format!("{sentence}: {}", join_sources(why)));
        let hint = hint.map(Arc::from);
        Self::Unavailable(Failure::Refused { obstacle: Obstacle::SignIn, reason, hint })
    }

    /// The error for tokens that cannot be renewed now.
    pub(crate) fn renewal_failure(why: &impl Explain) -> Self {
        Self::from_cause("the sign-in cannot be renewed", why, why.hint())
    }
}

impl From<SignInError> for RenewError {
    fn from(error: SignInError) -> Self {
        if error.needs_user() {
            return Self::SignInRequired;
        }
        Self::from_cause("cannot sign in", &error, error.hint())
    }
}
