//! Decides whether a failed call is retried, and after which step.
//!
//! Pure on purpose: retries are where double writes are born, so every rule here is a row of a table test.
//! Connections are opened by [`mcparley_pool::connection`].

use std::time::Duration;

use mcparley_model::limits::RETRY_AFTER_LONGEST;
use mcparley_model::text::Untrusted;
use mcparley_pool::auth::TokenChallenge;
use mcparley_wire::{Failure, FailurePhase, HEADER_MISMATCH, Obstacle};

use crate::call_error::ExecutionStatus;

/// The retries that this call has used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RetryBudget {
    /// The number of retries so far.
    pub(super) repeats: u32,
}

/// The step after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RetryStep {
    /// Retry on a connection newer than the one it failed on.
    Reopen,
    /// Retry on any live connection.
    Repeat,
    /// Retry after this pause.
    Wait(Duration),
    /// Fetch which arguments the tool wants in headers now, then retry.
    RefreshHeaders,
    /// Return an error: the server requires a sign-in.
    SignIn,
    /// Ask the user for more scopes (step-up authorization), then retry.
    RequestScopes,
    /// Return the failure to the caller.
    GiveUp,
}

/// The properties of a failed request that decide about its retry.
#[derive(Clone, Copy, Debug)]
pub(super) struct RetryConditions {
    /// Whether the request is idempotent: it only reads, or a second execution changes nothing more.
    pub(super) is_idempotent: bool,
    /// Whether headers mirror values of the body, as only the new era does.
    pub(super) mirrors_headers: bool,
    /// Whether the user can be asked to sign in, and for more scopes.
    pub(super) sign_in: SignInAvailability,
}

/// Whether the user can sign in to the server of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignInAvailability {
    /// Never: the credentials are in the server's entry.
    Never,
    /// Later, by a command.
    Later,
    /// Now, on a page that this program opens.
    Now,
}

/// Decides the step after `failure` of a request with these properties.
pub(super) fn next_step(failure: &Failure, spent: RetryBudget, conditions: RetryConditions) -> RetryStep {
    let RetryConditions { is_idempotent: harmless, mirrors_headers: has_headers, sign_in: person } =
        conditions;
    let first = spent.repeats == 0;
    match failure {
        // Another connection would require the same sign-in.
        Failure::Refused { obstacle: Obstacle::SignIn, .. } => RetryStep::GiveUp,
        // The server executed no part of the call: it did not know the session, or was never reached.
        Failure::SessionExpired | Failure::Refused { .. } if first => RetryStep::Reopen,
        Failure::Closed { sent: false, .. } if first => RetryStep::Reopen,
        // A call that may have been executed is retried only if it is idempotent.
        Failure::Closed { sent: true, .. } if first && harmless => RetryStep::Repeat,
        // The server says that it did not execute the call, and when it will. It may be mistaken, so the
        // call must be idempotent too.
        Failure::Status { code: 429 | 503, retry_after: Some(pause), .. }
            if first && harmless && *pause <= RETRY_AFTER_LONGEST =>
        {
            RetryStep::Wait(*pause)
        }
        // The server checks headers before it executes a call; the tool has other header parameters than we
        // know.
        Failure::ErrorResponse(error) if first && has_headers && error.code == HEADER_MISMATCH => {
            RetryStep::RefreshHeaders
        }
        Failure::Unauthorized { .. } if person != SignInAvailability::Never => RetryStep::SignIn,
        // The call was refused before it was executed, and more scopes would permit it.
        Failure::Forbidden { challenge }
            if first && person == SignInAvailability::Now && missing_scopes(challenge.as_ref()).is_some() =>
        {
            RetryStep::RequestScopes
        }
        Failure::SessionExpired
        | Failure::Refused { .. }
        | Failure::Closed { .. }
        | Failure::TimedOut { .. }
        | Failure::Damaged(_)
        | Failure::Protocol(_)
        | Failure::ErrorResponse(_)
        | Failure::TooLarge { .. }
        | Failure::Unauthorized { .. }
        | Failure::Forbidden { .. }
        | Failure::Status { .. }
        | Failure::QueueFull { .. } => RetryStep::GiveUp,
    }
}

/// The scopes that the server says are missing; `None` if more scopes would not help.
pub(super) fn missing_scopes(challenge: Option<&Untrusted>) -> Option<Vec<Untrusted>> {
    let asked = challenge
        .and_then(|words| TokenChallenge::parse(words.raw()))
        .filter(TokenChallenge::wants_more_scopes)?;
    Some(asked.scope.into_iter().map(Untrusted::new).collect())
}

/// Whether a call that failed like this was executed.
pub(super) fn execution_status(failure: &Failure) -> ExecutionStatus {
    match failure {
        Failure::SessionExpired
        | Failure::Refused { .. }
        | Failure::Unauthorized { .. }
        | Failure::Forbidden { .. }
        | Failure::QueueFull { .. }
        // Too many requests: rejected before the call was read.
        | Failure::Status { code: 429, .. }
        | Failure::TimedOut { phase: FailurePhase::Connecting, .. }
        | Failure::Closed { sent: false, .. } => ExecutionStatus::No,
        Failure::ErrorResponse(_) => ExecutionStatus::Yes,
        Failure::TooLarge { .. }
        | Failure::Closed { sent: true, .. }
        | Failure::TimedOut { phase: FailurePhase::Answering, .. }
        | Failure::Damaged(_)
        | Failure::Protocol(_)
        | Failure::Status { .. } => ExecutionStatus::Unknown,
    }
}

#[cfg(test)]
mod tests;
