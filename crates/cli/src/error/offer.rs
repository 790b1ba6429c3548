//! Which exit code a prompt or a resource that was not had ends with.

use mcparley::model::name::ServerName;
use mcparley::{PromptError, RequestError, ResourceError, SkillError, Unavailable};

use super::call;
use crate::exit::{self, Code};

pub(super) fn code(error: &RequestError) -> Code {
    match error {
        RequestError::UnknownServer { .. } | RequestError::NotOffered { .. } => exit::NOT_FOUND,
        RequestError::Unavailable { why, .. } => call::unavailable(why),
        RequestError::Failed { failure, .. } => call::failed(failure),
        _ => exit::FAILED,
    }
}

pub(super) fn prompt_code(error: &PromptError) -> Code {
    match error {
        PromptError::Unknown { .. } => exit::NOT_FOUND,
        PromptError::Damaged { .. } => exit::UNREACHABLE,
        PromptError::Request(error) => code(error),
        error if error.is_usage() => exit::USAGE,
        _ => exit::FAILED,
    }
}

pub(super) fn resource_code(error: &ResourceError) -> Code {
    match error {
        ResourceError::NotFound { .. } => exit::NOT_FOUND,
        ResourceError::TooLong { .. } => exit::USAGE,
        ResourceError::Damaged { .. } => exit::UNREACHABLE,
        ResourceError::Request(error) => code(error),
        _ => exit::FAILED,
    }
}

pub(super) fn skill_code(error: &SkillError) -> Code {
    match error {
        SkillError::Unknown { .. } | SkillError::Outside { .. } => exit::NOT_FOUND,
        SkillError::Changed { .. } | SkillError::Unreadable { .. } => exit::UNREACHABLE,
        SkillError::Resource(error) => resource_code(error),
        _ => exit::FAILED,
    }
}

/// The server that somebody has to sign in to first.
pub(super) fn wants_sign_in(error: &RequestError) -> Option<&ServerName> {
    match error {
        RequestError::Unavailable { server, why: Unavailable::NeedsAuth } => Some(server),
        _ => None,
    }
}
