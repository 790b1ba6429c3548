//! Errors of requests for prompts and resources, in words that a model or a user can act on.

use std::borrow::Cow;

use mcparley_model::name::ServerName;
use mcparley_model::text::{display_line, shell_word};
use mcparley_wire::Failure;

use mcparley_pool::connection::Unavailable;
use mcparley_pool::elicit::UnansweredRequest;

/// The reason why a server returned no prompt or no resource.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The server does not exist, or may not run.
    #[error("there is no server `{}` to ask{}", display_line(name), reason_suffix(because.as_deref()))]
    UnknownServer {
        /// The requested name.
        name: String,
        /// Similar names.
        similar: Vec<String>,
        /// The server's plan status.
        because: Option<String>,
    },
    /// The server does not offer items of this kind.
    #[error("server `{}` offers no {what}", display_line(server.as_str()))]
    NotOffered {
        /// The server.
        server: ServerName,
        /// The missing capability.
        what: &'static str,
    },
    /// The server cannot be used.
    #[error("{}", why.describe_for(server))]
    Unavailable {
        /// The server.
        server: ServerName,
        /// The reason why the server is unavailable.
        why: Unavailable,
    },
    /// The request failed.
    #[error("server `{}` failed the request (`{method}`): {failure}", display_line(server.as_str()))]
    Failed {
        /// The server.
        server: ServerName,
        /// The method of the request.
        method: Cow<'static, str>,
        /// The failure.
        #[source]
        failure: Failure,
    },
    /// The server required input first, and could not be given it.
    #[error("server `{}` did not answer (`{method}`): {why}", display_line(server.as_str()))]
    Unanswered {
        /// The server.
        server: ServerName,
        /// The method of the request.
        method: Cow<'static, str>,
        /// The reason why the input could not be given.
        #[source]
        why: UnansweredRequest,
    },
}

impl RequestError {
    /// Whether a time limit passed.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(
            self,
            Self::Failed { failure: Failure::TimedOut { .. }, .. }
                | Self::Unavailable { why: Unavailable::TimedOut { .. }, .. }
        )
    }

    /// The next action for the user, if there is one.
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

fn reason_suffix(because: Option<&str>) -> String {
    because.map(|because| format!(": {}", display_line(because))).unwrap_or_default()
}
