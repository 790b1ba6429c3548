//! Errors of answering the open questions of gateways.

use mcparley::model::explain::Explain;
use mcparley_gateway::control::ControlError;

use crate::exit::{self, NamedExitCode};

/// The reason why a question was not answered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PendingError {
    /// There is no such question, or no longer.
    #[error("there is no open question `{id}`; it may have been answered")]
    NoQuestion { id: String },
    /// Two gateways have a question with this id.
    #[error("two gateways have a question `{id}`")]
    Ambiguous { id: String },
    /// The content of `--accept` is not JSON.
    #[error("the value of `--accept` is not valid JSON: {0}")]
    Content(serde_json::Error),
    /// The gateway did not take the answer.
    #[error(transparent)]
    Gateway(ControlError),
}

impl PendingError {
    pub(super) fn exit_code(&self) -> NamedExitCode {
        match self {
            Self::NoQuestion { .. } => exit::NOT_FOUND,
            Self::Ambiguous { .. } => exit::CONFLICT,
            Self::Content(_) | Self::Gateway(ControlError::Refused(_)) => exit::USAGE,
            Self::Gateway(ControlError::Folder(_)) => exit::FILE,
            Self::Gateway(_) => exit::UNREACHABLE,
        }
    }
}

impl Explain for PendingError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::NoQuestion { .. } => Some("run `mcparley pending` to list open questions".to_owned()),
            Self::Gateway(ControlError::Refused(_)) => {
                Some("run `mcparley pending --show` to see the question".to_owned())
            }
            Self::Ambiguous { .. } => Some("answer it in the client".to_owned()),
            Self::Content(_) | Self::Gateway(_) => None,
        }
    }
}
