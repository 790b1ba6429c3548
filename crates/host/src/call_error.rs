//! Errors of calls, in words that a model or a user can act on.

use std::sync::Arc;

use mcparley_model::name::{PublicName, ServerName};
use mcparley_model::permission::{Decision, DecisionReason};
use mcparley_model::text::{Untrusted, display_line, shell_word};
use mcparley_wire::{Failure, RawJson};

use mcparley_catalog::ArgumentMismatch;
use mcparley_pool::connection::Unavailable;
use mcparley_pool::elicit::UnansweredRequest;

/// The reason why a call gave no result.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The tool does not exist now.
    #[error("there is no tool `{}`{}", display_line(name), reason_suffix(because.as_deref()))]
    UnknownTool {
        /// The requested name.
        name: String,
        /// Similar names.
        similar: Vec<String>,
        /// The reason why the tool is missing, if it is known.
        because: Option<String>,
    },
    /// The server does not exist, or may not run.
    #[error("there is no server `{}` to call{}", display_line(name), reason_suffix(because.as_deref()))]
    UnknownServer {
        /// The requested name.
        name: String,
        /// Similar names.
        similar: Vec<String>,
        /// The server's plan status.
        because: Option<String>,
    },
    /// The arguments do not match the tool's schema.
    #[error("the arguments do not fit `{tool}`: {}", join_misfits(misfits))]
    Arguments {
        /// The tool.
        tool: PublicName,
        /// The violations of the schema, the most important first.
        misfits: Vec<ArgumentMismatch>,
    },
    /// The call was not permitted.
    #[error("permission to use `{tool}` was denied: {message}")]
    Denied {
        /// The tool.
        tool: PublicName,
        /// The permission decision.
        decision: Box<Decision>,
        /// The reason, for the model.
        message: String,
    },
    /// The server cannot be used.
    #[error("{}", why.describe_for(server))]
    Unavailable {
        /// The server.
        server: ServerName,
        /// The reason why the server is unavailable.
        why: Unavailable,
    },
    /// The principal of a gateway has to sign in, and its client has not shown the page.
    #[error("`{server}` requires a sign-in: ask the user to open {page}")]
    SignInRequired {
        /// The server.
        server: ServerName,
        /// The address of the page. It is for the user of this client only.
        page: Arc<str>,
    },
    /// The call was sent and failed.
    #[error("calling `{tool}` failed: {failure}{}", unknown_effect_suffix(*executed))]
    Failed {
        /// The tool.
        tool: PublicName,
        /// The failure.
        #[source]
        failure: Failure,
        /// Whether the tool was executed.
        executed: ExecutionStatus,
    },
    /// The sign-in to the server lacks scopes that the tool needs. The tool was not executed.
    #[error("`{tool}` needs scopes that the sign-in to `{}` does not have{}", display_line(server.as_str()), scopes_suffix(scopes))]
    MissingScopes {
        /// The tool.
        tool: PublicName,
        /// The server.
        server: ServerName,
        /// The missing scopes that the server names.
        scopes: Vec<Untrusted>,
    },
    /// The server was stopped, disabled or replaced while the call ran.
    #[error("server `{}` was stopped while `{tool}` ran{}", display_line(server.as_str()), unknown_effect_suffix(*executed))]
    Stopped {
        /// The tool.
        tool: PublicName,
        /// The server.
        server: ServerName,
        /// Whether the tool was executed.
        executed: ExecutionStatus,
    },
    /// The server required input first, and could not be given it.
    #[error("`{tool}` was not finished: {why}")]
    Unanswered {
        /// The tool.
        tool: PublicName,
        /// The reason why the input could not be given.
        #[source]
        why: UnansweredRequest,
    },
    /// The call goes on at the client: its server requires input first, or has created a task. Only for calls
    /// whose context relays such results.
    #[error("`{tool}` has not finished: its client has to go on with it")]
    Unfinished {
        /// The tool.
        tool: PublicName,
        /// The server's result, as it was written.
        result: RawJson,
    },
    /// A built-in tool of the host failed.
    #[error("{message}")]
    BuiltInTool {
        /// The reason.
        message: Arc<str>,
    },
}

/// Whether a failed call was executed, so that a retry would execute it twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExecutionStatus {
    /// The tool was not executed.
    No,
    /// The server answered, so the tool was executed.
    Yes,
    /// No valid answer came after the request was sent, so the tool may have been executed.
    Unknown,
}

impl CallError {
    /// Whether the tool may have been executed without a confirmation.
    #[must_use]
    pub fn is_outcome_unknown(&self) -> bool {
        let unknown = ExecutionStatus::Unknown;
        matches!(self, Self::Failed { executed, .. } | Self::Stopped { executed, .. } if *executed == unknown)
    }

    /// Whether a time limit passed.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(
            self,
            Self::Failed { failure: Failure::TimedOut { .. }, .. }
                | Self::Unavailable { why: Unavailable::TimedOut { .. }, .. }
        )
    }

    /// The short name of the error for the audit log and for spans. Never its text, which may be a server's.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::UnknownTool { .. } => "unknown-tool",
            Self::UnknownServer { .. } => "unknown-server",
            Self::Arguments { .. } => "arguments",
            Self::Denied { .. } => "denied",
            Self::Unavailable { .. } => "unavailable",
            Self::SignInRequired { .. } => "needs-auth",
            Self::Failed { failure, .. } => failure.kind(),
            Self::MissingScopes { .. } => "rights",
            Self::Stopped { .. } => "stopped",
            Self::Unanswered { .. } => "unanswered",
            Self::Unfinished { .. } => "unfinished",
            Self::BuiltInTool { .. } => "own",
        }
    }

    /// The next action for the user, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownTool { similar, .. } | Self::UnknownServer { similar, .. } => {
                (!similar.is_empty()).then(|| format!("did you mean `{}`?", similar.join("`, `")))
            }
            Self::Denied { decision, .. } if matches!(decision.why, DecisionReason::Hook { .. }) => {
                Some("run `mcparley hooks list` to see every hook and its file".to_owned())
            }
            Self::Denied { .. } => {
                Some("the user can allow it: ask them, and go on without it until then".to_owned())
            }
            Self::Unavailable {
                why: Unavailable::Failed(error) | Unavailable::Waiting { error, .. },
                ..
            } => error.hint(),
            Self::Unavailable { why: Unavailable::NeedsAuth, server } => {
                Some(format!("sign in with `mcparley login {}`", shell_word(server.as_str())))
            }
            Self::MissingScopes { server, .. } => {
                Some(format!("run `mcparley login {}` to grant them", shell_word(server.as_str())))
            }
            Self::Failed { failure: Failure::Refused { hint: Some(hint), .. }, .. } => Some(hint.to_string()),
            Self::Failed { executed: ExecutionStatus::Unknown, .. }
            | Self::Stopped { executed: ExecutionStatus::Unknown, .. } => {
                Some("check whether it took effect before calling it again".to_owned())
            }
            Self::SignInRequired { .. } => Some("call again after the sign-in".to_owned()),
            Self::Arguments { .. }
            | Self::Unavailable { .. }
            | Self::Failed { .. }
            | Self::Stopped { .. }
            | Self::Unanswered { .. }
            | Self::Unfinished { .. }
            | Self::BuiltInTool { .. } => None,
        }
    }
}

fn reason_suffix(because: Option<&str>) -> String {
    because.map(|because| format!(": {}", display_line(because))).unwrap_or_default()
}

fn scopes_suffix(scopes: &[Untrusted]) -> String {
    let scopes: Vec<String> = scopes.iter().map(|scope| format!("`{}`", scope.display_line())).collect();
    if scopes.is_empty() { String::new() } else { format!(": {}", scopes.join(", ")) }
}

fn join_misfits(misfits: &[ArgumentMismatch]) -> String {
    let lines: Vec<String> = misfits.iter().map(ToString::to_string).collect();
    lines.join("; ")
}

fn unknown_effect_suffix(executed: ExecutionStatus) -> &'static str {
    match executed {
        ExecutionStatus::Unknown => "; whether it took effect is unknown",
        ExecutionStatus::No | ExecutionStatus::Yes => "",
    }
}
