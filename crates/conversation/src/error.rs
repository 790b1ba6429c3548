//! Errors of a model's API, with their reason and a hint.

use std::time::Duration;

use mcparley_model::explain::Explain;
use mcparley_model::limits::conversation::{ANSWER_CALLS, ANSWER_SILENCE};
use mcparley_model::text::{Untrusted, display_line};
use mcparley_wire::Failure;

use crate::provider::Provider;

/// The reason why a model gave no answer.
#[derive(Debug, thiserror::Error)]
#[error("{}: {kind}", provider.title())]
pub struct ModelError {
    /// The provider.
    pub provider: Provider,
    /// The kind of error.
    pub kind: ModelErrorKind,
    /// Whether a part of the answer had been received.
    pub(crate) has_begun: bool,
}

/// The kinds of errors of a model's API.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The key is missing, wrong, or not allowed to use the model.
    #[error("the key was not accepted (status {status}){}", describe(message))]
    Unauthorized {
        /// The HTTP status.
        status: u16,
        /// The message of the API.
        message: Untrusted,
    },
    /// The rate limit or the quota is exhausted.
    #[error("too many requests{}{}", describe_pause(*retry_after), describe(message))]
    RateLimited {
        /// The pause that the API asks for.
        retry_after: Option<Duration>,
        /// The message of the API.
        message: Untrusted,
    },
    /// The API is overloaded or broken for now.
    #[error("the API is not available now (status {status}){}", describe(message))]
    Overloaded {
        /// The HTTP status; 200 if the error came inside of the answer.
        status: u16,
        /// The pause that the API asks for.
        retry_after: Option<Duration>,
        /// The message of the API.
        message: Untrusted,
    },
    /// The conversation is longer than the context of the model.
    #[error("the conversation is too long for the model{}", describe(message))]
    ContextTooLong {
        /// The message of the API.
        message: Untrusted,
    },
    /// The API does not know the model or the address.
    #[error("the model `{}` or the address was not found{}", display_line(model), describe(message))]
    NotFound {
        /// The model.
        model: String,
        /// The message of the API.
        message: Untrusted,
    },
    /// The API rejected the request.
    #[error("the request was rejected (status {status}){}", describe(message))]
    Rejected {
        /// The HTTP status; 200 if the error came inside of the answer.
        status: u16,
        /// The message of the API.
        message: Untrusted,
    },
    /// The API could not be reached.
    #[error("{}", describe_failure(failure))]
    Unreachable {
        /// The failure.
        failure: Failure,
    },
    /// The answer is not what the API documents, is too large, or broke off.
    #[error(transparent)]
    Stream(#[from] StreamProblem),
}

/// A problem of an answer stream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamProblem {
    /// The connection ended before the answer did.
    #[error("the answer broke off")]
    BrokeOff,
    /// The API was silent for too long.
    #[error("the API sent nothing for {} seconds", ANSWER_SILENCE.as_secs())]
    Silent,
    /// The answer is larger than allowed.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// The answer has more calls than allowed.
    #[error("the answer has more than {ANSWER_CALLS} tool calls")]
    TooManyCalls,
    /// The answer is not an event stream of the API.
    #[error("the answer is not the documented form: {0}")]
    Malformed(&'static str),
}

impl ModelError {
    /// Whether a time limit passed.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        match &self.kind {
            ModelErrorKind::Unreachable { failure } => matches!(failure, Failure::TimedOut { .. }),
            ModelErrorKind::Stream(problem) => *problem == StreamProblem::Silent,
            _ => false,
        }
    }

    /// Whether the key was not accepted.
    #[must_use]
    pub fn needs_key(&self) -> bool {
        matches!(self.kind, ModelErrorKind::Unauthorized { .. })
    }

    /// Whether the API could not be reached, or is not available now.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        matches!(
            self.kind,
            ModelErrorKind::Unreachable { .. }
                | ModelErrorKind::Overloaded { .. }
                | ModelErrorKind::RateLimited { .. }
                | ModelErrorKind::Stream(StreamProblem::BrokeOff)
        )
    }
}

impl Explain for ModelError {
    fn hint(&self) -> Option<String> {
        let variables = self.provider.variables();
        match &self.kind {
            ModelErrorKind::Unauthorized { .. } => {
                Some(format!("check `{}`", variables.keys.join("` or `")))
            }
            ModelErrorKind::RateLimited { .. } => {
                Some("wait and ask again, or choose another model with `--model`".to_owned())
            }
            ModelErrorKind::Overloaded { .. } => Some("ask again in a few minutes".to_owned()),
            ModelErrorKind::ContextTooLong { .. } => Some(
                "start over (`/clear` in the console), or lower `MAX_MCP_OUTPUT_TOKENS` so that results are stored"
                    .to_owned(),
            ),
            ModelErrorKind::NotFound { .. } => Some(format!(
                "name another model with `--model {}:MODEL` or `{}`, and check `{}`",
                self.provider, variables.model, variables.base_url
            )),
            ModelErrorKind::Rejected { .. } => None,
            ModelErrorKind::Unreachable { failure: Failure::Refused { hint: Some(hint), .. } } => {
                Some(hint.to_string())
            }
            ModelErrorKind::Unreachable { .. } => {
                Some(format!("check your network, and `{}` if it is set", variables.base_url))
            }
            ModelErrorKind::Stream(problem) => match problem {
                StreamProblem::BrokeOff | StreamProblem::Silent => Some("ask again".to_owned()),
                StreamProblem::Malformed(_) => {
                    Some(format!("check that `{}` is the address of this API", variables.base_url))
                }
                StreamProblem::TooLarge { .. } | StreamProblem::TooManyCalls => None,
            },
        }
    }
}

fn describe(message: &Untrusted) -> String {
    match message.display_line() {
        text if text.trim().is_empty() => String::new(),
        text => format!(": {text}"),
    }
}

fn describe_pause(retry_after: Option<Duration>) -> String {
    retry_after.map(|pause| format!(" (wait {} s)", pause.as_secs())).unwrap_or_default()
}

/// The failure in words about an API; those of the wire are about an MCP server.
fn describe_failure(failure: &Failure) -> String {
    match failure {
        Failure::Refused { reason, .. } => format!("cannot reach the API: {}", display_line(reason)),
        Failure::Closed { .. } => "the API closed the connection".to_owned(),
        other => other.to_string(),
    }
}
