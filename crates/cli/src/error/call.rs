//! Which exit code a call that gave no result ends with, and what to do about it.

use mcparley::model::name::ServerName;
use mcparley::model::permission::Why;
use mcparley::{CallError, Unavailable};
use mcparley_wire::Failure;

use crate::exit::{self, Code};

pub(super) fn code(error: &CallError) -> Code {
    match error {
        CallError::UnknownTool { .. } | CallError::UnknownServer { .. } => exit::NOT_FOUND,
        CallError::Arguments { .. } => exit::USAGE,
        CallError::Denied { .. } => exit::DENIED,
        CallError::Unavailable { why, .. } => unavailable(why),
        CallError::Failed { failure, .. } => failed(failure),
        CallError::Rights { .. } => exit::NEEDS_AUTH,
        _ => exit::FAILED,
    }
}

/// What to do about it.
pub(super) fn hint(error: &CallError) -> Option<String> {
    match error {
        CallError::Arguments { .. } => Some("`--help` behind the tool shows what it takes".to_owned()),
        // The person's own word allows it already; only what denies is in the way.
        CallError::Denied { decision, .. } if matches!(decision.why, Why::Hook { .. }) => error.hint(),
        CallError::Denied { .. } => Some("`mcparley permissions test` shows which rule decides".to_owned()),
        error => error.hint(),
    }
}

/// The server of a call that somebody has to sign in to first, or with more rights.
pub(super) fn wants_sign_in(error: &CallError) -> Option<&ServerName> {
    match error {
        CallError::Unavailable { server, why: Unavailable::NeedsAuth } | CallError::Rights { server, .. } => {
            Some(server)
        }
        _ => None,
    }
}

pub(super) fn unavailable(why: &Unavailable) -> Code {
    match why {
        // An error that answers the greeting is no tool's.
        Unavailable::Failed(error) | Unavailable::Waiting { error, .. }
            if matches!(error.failure, Failure::Answered(_)) =>
        {
            exit::UNREACHABLE
        }
        Unavailable::Failed(error) | Unavailable::Waiting { error, .. } => failed(&error.failure),
        Unavailable::NeedsAuth => exit::NEEDS_AUTH,
        Unavailable::Late { .. } => exit::TIMED_OUT,
        _ => exit::UNREACHABLE,
    }
}

pub(super) fn failed(failure: &Failure) -> Code {
    match failure {
        Failure::TimedOut { .. } => exit::TIMED_OUT,
        Failure::Unauthorized { .. } | Failure::Forbidden { .. } => exit::NEEDS_AUTH,
        Failure::Answered(_) => exit::TOOL_ERROR,
        Failure::Refused { .. }
        | Failure::Closed { .. }
        | Failure::Damaged(_)
        | Failure::Protocol(_)
        | Failure::TooLarge { .. }
        | Failure::SessionExpired
        | Failure::Status { .. }
        | Failure::QueueFull { .. } => exit::UNREACHABLE,
    }
}
