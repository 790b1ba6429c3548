//! What a command could not do, with its exit code and its way out.

mod call;
mod offer;
mod sign_in;

use std::sync::Arc;
use std::time::Duration;

use mcparley::change::ChangeError;
use mcparley::model::edit::EditError;
use mcparley::model::explain::Explain;
use mcparley::model::name::ServerName;
use mcparley::model::plan::ServerStanding;
use mcparley::model::text::rounded;
use mcparley::{
    AgentError, CallError, Problem, PromptError, ResourceError, Severity, SignInError, SkillError,
};

use crate::exit::{self, Code};
use crate::live::Signal;
use crate::sign_in::{Pending, Who};

/// Why a command ended without its result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    /// The command line makes no sense.
    #[error("{message}")]
    Usage { message: String, hint: Option<String> },
    /// A change was not made.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// A source that the run depends on cannot be used.
    #[error("{0}")]
    Source(Problem),
    /// There is no such server.
    #[error("there is no server named `{name}`")]
    NotFound { name: String, similar: Vec<String> },
    /// The server is configured and may not run.
    #[error("server `{name}` may not be used: {}", why(.standing))]
    ServerStanding { name: ServerName, standing: Box<ServerStanding> },
    /// The server does not offer the tool.
    #[error("there is no tool `{tool}`{}", because.as_ref().map(|because| format!(": {because}")).unwrap_or_default())]
    NoTool { tool: String, because: Option<String>, similar: Vec<String> },
    /// A tool could not be called, or its server not be used.
    #[error(transparent)]
    Call(Box<CallError>),
    /// A prompt gave no messages.
    #[error(transparent)]
    Prompt(Box<PromptError>),
    /// A resource was not had.
    #[error(transparent)]
    Resource(Box<ResourceError>),
    /// A skill was not had.
    #[error(transparent)]
    Skill(Box<SkillError>),
    /// Nobody is signed in, or not as wanted.
    #[error("the sign-in to {who} did not succeed: {}", error.in_one_line())]
    SignIn { who: String, error: Arc<SignInError> },
    /// Nobody signed in in time.
    #[error("nobody signed in to {who} within {:?}", rounded(*after))]
    NobodyCame { who: String, after: Duration },
    /// There is nothing to sign in to.
    #[error("nobody signs in to server `{server}`: {why}")]
    NoSignIn { server: ServerName, why: String, hint: Option<String> },
    /// There is no such agent.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// A file, or what stands for one, cannot be read or written.
    #[error("{message}")]
    File { message: String, hint: Option<String> },
    /// Somebody wants the program to end.
    #[error("stopped by {}", .0.name())]
    Signalled(Signal),
    /// This machine or this run does not offer it.
    #[error("{message}")]
    Unavailable { message: String, hint: Option<String> },
}

impl From<CallError> for CommandError {
    fn from(error: CallError) -> Self {
        Self::Call(Box::new(error))
    }
}

impl From<PromptError> for CommandError {
    fn from(error: PromptError) -> Self {
        Self::Prompt(Box::new(error))
    }
}

impl From<ResourceError> for CommandError {
    fn from(error: ResourceError) -> Self {
        Self::Resource(Box::new(error))
    }
}

impl From<SkillError> for CommandError {
    fn from(error: SkillError) -> Self {
        match error {
            SkillError::Resource(error) => error.into(),
            error => Self::Skill(Box::new(error)),
        }
    }
}

impl CommandError {
    pub(crate) fn sign_in(who: Who<'_>, error: Arc<SignInError>) -> Self {
        Self::SignIn { who: who.to_string(), error }
    }

    /// The sign-in that would help.
    pub(crate) fn pending(&self) -> Option<Pending> {
        let server = match self {
            Self::Call(error) => call::wants_sign_in(error),
            Self::Prompt(error) => match error.as_ref() {
                PromptError::Request(error) => offer::wants_sign_in(error),
                _ => None,
            },
            Self::Resource(error) => match error.as_ref() {
                ResourceError::Request(error) => offer::wants_sign_in(error),
                _ => None,
            },
            _ => None,
        };
        server.map(|server| Pending::unbegun(Who::Server(server.as_str())))
    }

    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: Some(hint.into()) }
    }

    pub(crate) fn code(&self) -> Code {
        match self {
            Self::Usage { .. } => exit::USAGE,
            Self::Change(error) => change_code(error),
            Self::Source(problem) => match problem.severity {
                Severity::Managed => exit::BLOCKED,
                Severity::Found | Severity::Given => exit::CONFIG,
            },
            Self::NotFound { .. } | Self::NoTool { .. } | Self::Agent(_) => exit::NOT_FOUND,
            Self::ServerStanding { standing, .. } => standing_code(standing),
            Self::Call(error) => call::code(error),
            Self::Prompt(error) => offer::prompt_code(error),
            Self::Resource(error) => offer::resource_code(error),
            Self::Skill(error) => offer::skill_code(error),
            Self::SignIn { error, .. } => sign_in::code(error),
            Self::NobodyCame { .. } => exit::TIMED_OUT,
            Self::NoSignIn { .. } => exit::USAGE,
            Self::File { .. } => exit::FILE,
            Self::Signalled(signal) => signal.code(),
            Self::Unavailable { .. } => exit::FAILED,
        }
    }

    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Usage { hint, .. }
            | Self::File { hint, .. }
            | Self::Unavailable { hint, .. }
            | Self::NoSignIn { hint, .. } => hint.clone(),
            Self::SignIn { error, .. } => error.hint(),
            Self::NobodyCame { .. } => {
                Some("try again; `--timeout` gives the person more milliseconds".to_owned())
            }
            Self::Signalled(_) => None,
            Self::ServerStanding { name, standing } => standing.hint(name),
            Self::Call(error) => call::hint(error),
            Self::Prompt(error) => error.hint(),
            Self::Resource(error) => error.hint(),
            Self::Skill(error) => error.hint(),
            Self::Agent(error) => {
                error.hint().or_else(|| Some("`mcparley agents` shows every agent".to_owned()))
            }
            Self::NoTool { similar, .. } if similar.is_empty() => {
                Some("`mcparley tools` shows every tool".to_owned())
            }
            Self::NoTool { similar, .. } => Some(format!("did you mean `{}`?", similar.join("`, `"))),
            Self::Change(error) => error.hint(),
            Self::Source(problem) => problem.hint.clone(),
            Self::NotFound { similar, .. } if similar.is_empty() => {
                Some("`mcparley plan` shows every configured server".to_owned())
            }
            Self::NotFound { similar, .. } => Some(format!("did you mean `{}`?", similar.join("`, `"))),
        }
    }
}

fn change_code(error: &ChangeError) -> Code {
    match error {
        ChangeError::Name(_) | ChangeError::Rule(_) => exit::USAGE,
        // Somebody else was faster.
        ChangeError::Edit(EditError::Exists { .. }) => exit::CONFLICT,
        ChangeError::Config(_) | ChangeError::Edit(_) | ChangeError::Unusable { .. } => exit::CONFIG,
        ChangeError::Read(_) | ChangeError::Write(_) => exit::FILE,
        ChangeError::Blocked { .. } => exit::BLOCKED,
        ChangeError::NotFound { .. }
        | ChangeError::NotAProjectServer { .. }
        | ChangeError::NoSuchRule { .. }
        | ChangeError::NoSuchTool { .. } => exit::NOT_FOUND,
        ChangeError::Exists { .. }
        | ChangeError::StartsItself { .. }
        | ChangeError::Ambiguous { .. }
        | ChangeError::FromFolder { .. }
        | ChangeError::OtherDefinition { .. } => exit::CONFLICT,
        _ => exit::FAILED,
    }
}

/// Who has to do something about a server that may not run.
pub(crate) fn standing_code(standing: &ServerStanding) -> Code {
    match standing {
        ServerStanding::Blocked(_) => exit::BLOCKED,
        ServerStanding::Invalid(_) => exit::CONFIG,
        ServerStanding::NeedsApproval(_)
        | ServerStanding::Rejected { .. }
        | ServerStanding::Disabled { .. } => exit::DENIED,
        ServerStanding::Ready
        | ServerStanding::Shadowed { .. }
        | ServerStanding::Duplicate { .. }
        | ServerStanding::Skipped(_) => exit::CONFLICT,
    }
}

fn why(standing: &ServerStanding) -> String {
    standing.reason().unwrap_or_else(|| standing.as_str().to_owned())
}

/// The message and its causes, as far as they say something new.
pub(crate) fn with_sources(error: &dyn std::error::Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if !message.contains(&text) {
            message.push_str(": ");
            message.push_str(&text);
        }
        source = cause.source();
    }
    message
}
