//! Why a request gave no answer, in words a model or a person can act on.

use mcparley_model::name::ServerName;
use mcparley_model::text::{display, shell_word};
use mcparley_wire::Failure;

use crate::connection::Unavailable;
use crate::elicit::Unanswered;

/// Why a server gave no prompt or no resource.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// There is no such server, or it may not run.
    #[error("there is no server `{}` to ask{}", display(name), reason(because.as_deref()))]
    UnknownServer {
        /// The name that was asked for.
        name: String,
        /// Names that look like it.
        similar: Vec<String>,
        /// What the plan says about it.
        because: Option<String>,
    },
    /// The server has nothing of this kind.
    #[error("server `{}` offers no {what}", display(server.as_str()))]
    NotOffered {
        /// The server.
        server: ServerName,
        /// What it does not have.
        what: &'static str,
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
    /// The server was asked and gave nothing.
    #[error("server `{}` was asked in vain (`{method}`): {failure}", display(server.as_str()))]
    Failed {
        /// The server.
        server: ServerName,
        /// What it was asked with.
        method: &'static str,
        /// Why.
        #[source]
        failure: Failure,
    },
    /// The server wanted something first, and could not have it.
    #[error("server `{}` did not answer (`{method}`): {why}", display(server.as_str()))]
    Unanswered {
        /// The server.
        server: ServerName,
        /// What it was asked with.
        method: &'static str,
        /// Why.
        #[source]
        why: Unanswered,
    },
}

impl RequestError {
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
            Self::UnknownServer { similar, .. } => {
                (!similar.is_empty()).then(|| format!("did you mean `{}`?", similar.join("`, `")))
            }
            Self::Unavailable {
                why: Unavailable::Failed(error) | Unavailable::Waiting { error, .. },
                ..
            } => error.hint(),
            Self::Unavailable { why: Unavailable::NeedsAuth, server }
            | Self::Failed { failure: Failure::Unauthorized { .. }, server, .. } => {
                Some(format!("sign in with `mcparley login {}`", shell_word(server.as_str())))
            }
            Self::NotOffered { .. }
            | Self::Unavailable { .. }
            | Self::Failed { .. }
            | Self::Unanswered { .. } => None,
        }
    }
}

fn reason(because: Option<&str>) -> String {
    because.map(|because| format!(": {}", display(because))).unwrap_or_default()
}
