//! Errors that end a command, with their exit codes and hints.

mod add;
mod call;
mod daemon;
mod door;
mod file;
mod offer;
mod pending;
mod sign_in;
mod unavailable;
mod usage;

use std::sync::Arc;
use std::time::Duration;

use mcparley::CallError;
use mcparley::auth::SignInError;
use mcparley::config::change::ChangeError;
use mcparley::config::client_setup::SetupError;
use mcparley::config::json_editor::EditError;
use mcparley::config::plan::PlanStatus;
use mcparley::config::{ConfigProblem, Severity};
use mcparley::host::AgentError;
use mcparley::model::explain::Explain;
use mcparley::model::name::ServerName;
use mcparley::model::text::round_duration;
use mcparley::prompt::PromptError;
use mcparley::resource::ResourceError;
use mcparley::skill::SkillError;
use mcparley_console::arguments::ToolArgumentError;
use mcparley_conversation::{ModelChoiceError, ModelError, NO_MODEL_HINT};

use crate::exit::{self, NamedExitCode};
use crate::signal::Signal;
use mcparley_report::{PendingSignIn, SignInTarget};

pub(crate) use add::AddError;
pub(crate) use daemon::DaemonCommandError;
pub(crate) use door::DoorSetupError;
pub(crate) use file::FileError;
pub(crate) use pending::PendingError;
pub(crate) use sign_in::NoSignInReason;
pub(crate) use unavailable::UnavailableError;
pub(crate) use usage::UsageError;

/// The error that ended a command without its result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    /// The command line is invalid.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// The words of `add` do not describe a server.
    #[error(transparent)]
    Add(#[from] AddError),
    /// The words after a tool do not form its arguments.
    #[error(transparent)]
    ToolArgument(#[from] ToolArgumentError),
    /// A configuration file was not changed.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// A configuration source named on the command line cannot be used.
    #[error("{0}")]
    Source(ConfigProblem),
    /// No server has the name.
    #[error("there is no server named `{name}`")]
    NotFound { name: String, similar: Vec<String> },
    /// The server is configured but may not run.
    #[error("cannot use `{name}`: {}", plan_reason(.standing))]
    ServerUnusable { name: ServerName, standing: Box<PlanStatus> },
    /// The server does not offer the tool.
    #[error("there is no tool `{tool}`{}", because.as_ref().map(|because| format!(": {because}")).unwrap_or_default())]
    NoTool { tool: String, because: Option<String>, similar: Vec<String> },
    /// A tool call failed, or its server is not available.
    #[error(transparent)]
    Call(Box<CallError>),
    /// A prompt could not be fetched.
    #[error(transparent)]
    Prompt(Box<PromptError>),
    /// A resource could not be read.
    #[error(transparent)]
    Resource(Box<ResourceError>),
    /// A skill could not be read.
    #[error(transparent)]
    Skill(Box<SkillError>),
    /// A sign-in failed.
    #[error("cannot sign in to {who}: {}", error.to_single_line())]
    SignIn { who: String, error: Arc<SignInError> },
    /// The user did not sign in before the timeout.
    #[error("no sign-in to {who} within {:?}", round_duration(*after))]
    SignInTimedOut { who: String, after: Duration },
    /// The server has no sign-in.
    #[error("server `{server}` has no sign-in: {why}")]
    NoSignIn { server: ServerName, why: NoSignInReason },
    /// No agent has the name.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// A file or standard stream cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// `serve` cannot listen.
    #[error(transparent)]
    Door(#[from] DoorSetupError),
    /// A question of a gateway was not answered.
    #[error(transparent)]
    Pending(#[from] PendingError),
    /// The daemon did not do what it was asked for.
    #[error(transparent)]
    Daemon(#[from] DaemonCommandError),
    /// No model is configured.
    #[error("no model is configured")]
    NoModel,
    /// The configuration of the model is incomplete or invalid.
    #[error(transparent)]
    ModelChoice(#[from] ModelChoiceError),
    /// The model gave no answer.
    #[error(transparent)]
    Model(Box<ModelError>),
    /// A signal canceled the work.
    #[error("stopped by {}", .0.name())]
    Signalled(Signal),
    /// A service of this machine, or a part of a server, is missing.
    #[error(transparent)]
    Unavailable(#[from] UnavailableError),
}

impl From<CallError> for CommandError {
    fn from(error: CallError) -> Self {
        Self::Call(Box::new(error))
    }
}

impl From<ModelError> for CommandError {
    fn from(error: ModelError) -> Self {
        Self::Model(Box::new(error))
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
    pub(crate) fn sign_in_failure(who: SignInTarget<'_>, error: Arc<SignInError>) -> Self {
        Self::SignIn { who: who.to_string(), error }
    }

    /// The sign-in that would fix this error.
    pub(crate) fn pending_sign_in(&self) -> Option<PendingSignIn> {
        let server = match self {
            Self::Call(error) => call::server_needing_sign_in(error),
            Self::Prompt(error) => match error.as_ref() {
                PromptError::Request(error) => offer::server_needing_sign_in(error),
                _ => None,
            },
            Self::Resource(error) => match error.as_ref() {
                ResourceError::Request(error) => offer::server_needing_sign_in(error),
                _ => None,
            },
            _ => None,
        };
        server.map(|server| PendingSignIn::without_page(SignInTarget::Server(server.as_str())))
    }

    pub(crate) fn exit_code(&self) -> NamedExitCode {
        match self {
            Self::ToolArgument(error) if error.is_file_error() => exit::FILE,
            Self::Usage(_) | Self::Add(_) | Self::ToolArgument(_) | Self::NoSignIn { .. } => exit::USAGE,
            Self::Change(error) => change_code(error),
            Self::Source(problem) => match problem.severity {
                Severity::Managed => exit::BLOCKED,
                Severity::Found | Severity::Given => exit::CONFIG,
            },
            Self::NotFound { .. } | Self::NoTool { .. } | Self::Agent(_) => exit::NOT_FOUND,
            Self::ServerUnusable { standing, .. } => plan_status_code(standing),
            Self::Call(error) => call::call_exit_code(error),
            Self::Prompt(error) => offer::prompt_code(error),
            Self::Resource(error) => offer::resource_code(error),
            Self::Skill(error) => offer::skill_code(error),
            Self::SignIn { error, .. } => sign_in::sign_in_exit_code(error),
            Self::SignInTimedOut { .. } => exit::TIMED_OUT,
            Self::File(_) => exit::FILE,
            Self::NoModel | Self::ModelChoice(_) => exit::MODEL,
            Self::Model(error) => model_code(error),
            Self::Signalled(signal) => signal.exit_code(),
            Self::Pending(error) => error.exit_code(),
            Self::Daemon(error) => error.exit_code(),
            Self::Unavailable(_) | Self::Door(_) => exit::FAILED,
        }
    }

    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Usage(error) => error.hint(),
            Self::Add(error) => error.hint(),
            Self::ToolArgument(error) => error.hint(),
            Self::File(error) => error.hint(),
            Self::Unavailable(error) => error.hint(),
            Self::Door(error) => error.hint(),
            Self::Pending(error) => error.hint(),
            Self::Daemon(error) => error.hint(),
            Self::NoSignIn { server, why } => why.hint(server),
            Self::SignIn { error, .. } => error.hint(),
            Self::SignInTimedOut { .. } => Some("try again, with a longer `--timeout`".to_owned()),
            Self::NoModel => Some(NO_MODEL_HINT.to_owned()),
            Self::ModelChoice(error) => error.hint(),
            Self::Model(error) => error.hint(),
            Self::Signalled(_) => None,
            Self::ServerUnusable { name, standing } => standing.hint(name),
            Self::Call(error) => call::hint(error),
            Self::Prompt(error) => error.hint(),
            Self::Resource(error) => error.hint(),
            Self::Skill(error) => error.hint(),
            Self::Agent(error) => {
                error.hint().or_else(|| Some("run `mcparley agents` to list agents".to_owned()))
            }
            Self::NoTool { similar, .. } if similar.is_empty() => {
                Some("run `mcparley tools` to list tools".to_owned())
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

fn model_code(error: &ModelError) -> NamedExitCode {
    match () {
        () if error.needs_key() => exit::NEEDS_AUTH,
        () if error.is_timeout() => exit::TIMED_OUT,
        () if error.is_unavailable() => exit::UNREACHABLE,
        () => exit::MODEL,
    }
}

fn change_code(error: &ChangeError) -> NamedExitCode {
    match error {
        ChangeError::Name(_) | ChangeError::Rule(_) => exit::USAGE,
        // Another process added the entry first.
        ChangeError::Edit(EditError::Exists { .. }) => exit::CONFLICT,
        ChangeError::Config(_) | ChangeError::Edit(_) | ChangeError::Unusable { .. } => exit::CONFIG,
        ChangeError::Read(_) | ChangeError::Write(_) => exit::FILE,
        ChangeError::Blocked { .. } => exit::BLOCKED,
        ChangeError::Setup(error) => setup_code(error),
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

fn setup_code(error: &SetupError) -> NamedExitCode {
    match error {
        SetupError::NoProjectFile { .. } => exit::USAGE,
        SetupError::TakeOverFromFolder
        | SetupError::GatewayNameTaken { .. }
        | SetupError::ChangedMeanwhile { .. } => exit::CONFLICT,
        SetupError::NotConnected { .. } => exit::NOT_FOUND,
        _ => exit::FILE,
    }
}

/// The exit code for the plan status of a server that may not run.
pub(crate) fn plan_status_code(standing: &PlanStatus) -> NamedExitCode {
    match standing {
        PlanStatus::Blocked(_) => exit::BLOCKED,
        PlanStatus::Invalid(_) => exit::CONFIG,
        PlanStatus::NeedsApproval(_) | PlanStatus::Rejected { .. } | PlanStatus::Disabled { .. } => {
            exit::DENIED
        }
        PlanStatus::Ready
        | PlanStatus::Shadowed { .. }
        | PlanStatus::Duplicate { .. }
        | PlanStatus::Skipped(_) => exit::CONFLICT,
    }
}

fn plan_reason(standing: &PlanStatus) -> String {
    standing.reason().unwrap_or_else(|| standing.as_str().to_owned())
}

/// The message of an error and of its sources, without texts that are already included.
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
