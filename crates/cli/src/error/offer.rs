//! Exit codes of failed requests for prompts, resources and skills.

use mcparley::call::RequestError;
use mcparley::model::name::ServerName;
use mcparley::pool::connection::Unavailable;
use mcparley::prompt::PromptError;
use mcparley::resource::ResourceError;
use mcparley::skill::SkillError;

use super::call;
use crate::exit::{self, NamedExitCode};

pub(super) fn request_exit_code(error: &RequestError) -> NamedExitCode {
    match error {
        RequestError::UnknownServer { .. } | RequestError::NotOffered { .. } => exit::NOT_FOUND,
        RequestError::Unavailable { why, .. } => call::unavailable_code(why),
        RequestError::Failed { failure, .. } => call::failure_code(failure),
        _ => exit::FAILED,
    }
}

pub(super) fn prompt_code(error: &PromptError) -> NamedExitCode {
    match error {
        PromptError::Unknown { .. } => exit::NOT_FOUND,
        PromptError::Damaged { .. } => exit::UNREACHABLE,
        PromptError::Request(error) => request_exit_code(error),
        error if error.is_usage() => exit::USAGE,
        _ => exit::FAILED,
    }
}

pub(super) fn resource_code(error: &ResourceError) -> NamedExitCode {
    match error {
        ResourceError::NotFound { .. } => exit::NOT_FOUND,
        ResourceError::TooLong { .. } => exit::USAGE,
        ResourceError::Damaged { .. } => exit::UNREACHABLE,
        ResourceError::Request(error) => request_exit_code(error),
        _ => exit::FAILED,
    }
}

pub(super) fn skill_code(error: &SkillError) -> NamedExitCode {
    match error {
        SkillError::Unknown { .. } | SkillError::Outside { .. } => exit::NOT_FOUND,
        SkillError::Changed { .. } | SkillError::Unreadable { .. } => exit::UNREACHABLE,
        SkillError::Resource(error) => resource_code(error),
        _ => exit::FAILED,
    }
}

/// The server that the user has to sign in to before the request can succeed.
pub(super) fn server_needing_sign_in(error: &RequestError) -> Option<&ServerName> {
    match error {
        RequestError::Unavailable { server, why: Unavailable::NeedsAuth } => Some(server),
        _ => None,
    }
}
