//! Why a call gave no result, in words a model or a person can act on.

use std::sync::Arc;

use mcparley_model::name::{PublicName, ServerName};
use mcparley_model::permission::{Decision, Why};
use mcparley_model::text::{Untrusted, display, shell_word};
use mcparley_wire::Failure;

use super::check::Misfit;
use crate::connection::Unavailable;
use crate::elicit::Unanswered;

/// Why a call gave no result.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// There is no such tool now.
    #[error("there is no tool `{}`{}", display(name), reason(because.as_deref()))]
    UnknownTool {
        /// The name that was asked for.
        name: String,
        /// Names that look like it.
        similar: Vec<String>,
        /// Why it is not there, if it is known.
        because: Option<String>,
    },
    /// There is no such server, or it may not run.
    #[error("there is no server `{}` to call{}", display(name), reason(because.as_deref()))]
    UnknownServer {
        /// The name that was asked for.
        name: String,
        /// Names that look like it.
        similar: Vec<String>,
        /// What the plan says about it.
        because: Option<String>,
    },
    /// The arguments do not fit the tool.
    #[error("the arguments do not fit `{tool}`: {}", listed(misfits))]
    Arguments {
        /// The tool.
        tool: PublicName,
        /// What does not fit, the most important first.
        misfits: Vec<Misfit>,
    },
    /// It was not permitted.
    #[error("permission to use `{tool}` was denied: {message}")]
    Denied {
        /// The tool.
        tool: PublicName,
        /// What decided it.
        decision: Box<Decision>,
        /// Why, for the model.
        message: String,
    },
    /// The server could not be used.
    #[error("server `{}` cannot be used: {why}", display(server.as_str()))]
    Unavailable {
        /// The server.
        server: ServerName,
        /// Why.
        #[source]
        why: Unavailable,
    },
    /// The call was made and failed.
    #[error("calling `{tool}` failed: {failure}{}", unknown(*executed))]
    Failed {
        /// The tool.
        tool: PublicName,
        /// Why.
        #[source]
        failure: Failure,
        /// What is known of its effects.
        executed: Executed,
    },
    /// The sign-in to its server is not good for it (K4). It has done nothing.
    #[error("`{tool}` needs more rights than the sign-in to `{}` has{}", display(server.as_str()), missing(scopes))]
    Rights {
        /// The tool.
        tool: PublicName,
        /// The server.
        server: ServerName,
        /// The scopes the server names.
        scopes: Vec<Untrusted>,
    },
    /// The server was stopped, switched off or replaced while the call ran.
    #[error("server `{}` was stopped while `{tool}` ran{}", display(server.as_str()), unknown(*executed))]
    Stopped {
        /// The tool.
        tool: PublicName,
        /// The server.
        server: ServerName,
        /// What is known of its effects.
        executed: Executed,
    },
    /// The server wanted something first, and could not have it.
    #[error("`{tool}` was not finished: {why}")]
    Unanswered {
        /// The tool.
        tool: PublicName,
        /// Why.
        #[source]
        why: Unanswered,
    },
    /// One of the host's own tools cannot do it.
    #[error("{message}")]
    Own {
        /// Why.
        message: Arc<str>,
    },
}

/// Whether a failed call may have done something (K6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executed {
    /// It has done nothing.
    No,
    /// The server answered, so it has done what it does.
    Yes,
    /// Nobody can know.
    Unknown,
}

impl CallError {
    /// Whether the tool may have done something without our knowing.
    #[must_use]
    pub fn is_outcome_unknown(&self) -> bool {
        let unknown = Executed::Unknown;
        matches!(self, Self::Failed { executed, .. } | Self::Stopped { executed, .. } if *executed == unknown)
    }

    /// Whether a limit passed.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(
            self,
            Self::Failed { failure: Failure::TimedOut { .. }, .. }
                | Self::Unavailable { why: Unavailable::Late { .. }, .. }
        )
    }

    /// What to do about it, when there is something to do.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownTool { similar, .. } | Self::UnknownServer { similar, .. } => {
                (!similar.is_empty()).then(|| format!("did you mean `{}`?", similar.join("`, `")))
            }
            Self::Denied { decision, .. } if matches!(decision.why, Why::Hook { .. }) => {
                Some("`mcparley hooks list` shows every hook, and where it stands".to_owned())
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
            Self::Rights { server, .. } => {
                Some(format!("`mcparley login {}` asks for them", shell_word(server.as_str())))
            }
            Self::Failed { failure: Failure::Refused { hint: Some(hint), .. }, .. } => Some(hint.to_string()),
            Self::Failed { executed: Executed::Unknown, .. }
            | Self::Stopped { executed: Executed::Unknown, .. } => {
                Some("look whether it took effect before calling it again".to_owned())
            }
            Self::Arguments { .. }
            | Self::Unavailable { .. }
            | Self::Failed { .. }
            | Self::Stopped { .. }
            | Self::Unanswered { .. }
            | Self::Own { .. } => None,
        }
    }
}

fn reason(because: Option<&str>) -> String {
    because.map(|because| format!(": {}", display(because))).unwrap_or_default()
}

fn missing(scopes: &[Untrusted]) -> String {
    let scopes: Vec<String> = scopes.iter().map(|scope| format!("`{}`", scope.display())).collect();
    if scopes.is_empty() { String::new() } else { format!(": {}", scopes.join(", ")) }
}

fn listed(misfits: &[Misfit]) -> String {
    let lines: Vec<String> = misfits.iter().map(ToString::to_string).collect();
    lines.join("; ")
}

fn unknown(executed: Executed) -> &'static str {
    match executed {
        Executed::Unknown => "; whether it took effect is unknown",
        Executed::No | Executed::Yes => "",
    }
}
