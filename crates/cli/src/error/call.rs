//! Exit codes and hints of failed calls.

use mcparley::CallError;
use mcparley::model::name::ServerName;
use mcparley::model::permission::DecisionReason;
use mcparley::pool::connection::Unavailable;
use mcparley_wire::Failure;

use crate::exit::{self, NamedExitCode};

pub(super) fn call_exit_code(error: &CallError) -> NamedExitCode {
    match error {
        CallError::UnknownTool { .. } | CallError::UnknownServer { .. } => exit::NOT_FOUND,
        CallError::Arguments { .. } => exit::USAGE,
        CallError::Denied { .. } => exit::DENIED,
        CallError::Unavailable { why, .. } => unavailable_code(why),
        CallError::Failed { failure, .. } => failure_code(failure),
        CallError::MissingScopes { .. } | CallError::SignInRequired { .. } => exit::NEEDS_AUTH,
        _ => exit::FAILED,
    }
}

/// The hint for a failed call.
pub(super) fn hint(error: &CallError) -> Option<String> {
    match error {
        CallError::Arguments { tool, .. } => {
            Some(format!("run `mcparley call {tool} --help` to see its arguments"))
        }
        // The user typed the call, which is consent, so only a deny rule or a hook can be the reason.
        CallError::Denied { decision, .. } if matches!(decision.why, DecisionReason::Hook { .. }) => {
            error.hint()
        }
        CallError::Denied { .. } => {
            Some("run `mcparley permissions test` to see the rule that decides".to_owned())
        }
        error => error.hint(),
    }
}

/// The server that the user has to sign in to, or sign in to with more scopes, before the call can succeed.
pub(super) fn server_needing_sign_in(error: &CallError) -> Option<&ServerName> {
    match error {
        CallError::Unavailable { server, why: Unavailable::NeedsAuth }
        | CallError::SignInRequired { server, .. }
        | CallError::MissingScopes { server, .. } => Some(server),
        _ => None,
    }
}

pub(super) fn unavailable_code(why: &Unavailable) -> NamedExitCode {
    match why {
        // An error response to the handshake is a server failure, not an error of the tool.
        Unavailable::Failed(error) | Unavailable::Waiting { error, .. }
            if matches!(error.failure, Failure::ErrorResponse(_)) =>
        {
            exit::UNREACHABLE
        }
        Unavailable::Failed(error) | Unavailable::Waiting { error, .. } => failure_code(&error.failure),
        Unavailable::NeedsAuth => exit::NEEDS_AUTH,
        Unavailable::TimedOut { .. } => exit::TIMED_OUT,
        _ => exit::UNREACHABLE,
    }
}

pub(super) fn failure_code(failure: &Failure) -> NamedExitCode {
    match failure {
        Failure::TimedOut { .. } => exit::TIMED_OUT,
        Failure::Unauthorized { .. } | Failure::Forbidden { .. } => exit::NEEDS_AUTH,
        Failure::ErrorResponse(_) => exit::TOOL_ERROR,
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
