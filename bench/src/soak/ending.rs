//! The possible outcomes of a call, and those that a caller must never see.

use mcparley::CallError;
use mcparley::call::ExecutionStatus;
use mcparley::pool::connection::Unavailable;
use mcparley_wire::Failure;

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallEnding {
    /// The call got its own answer.
    Answered,
    /// The tool failed, as requested.
    ToolFailed,
    /// The server cannot be reached.
    Unreachable,
    /// The server was lost and is retried later.
    Waiting,
    /// The connection was lost before the call was executed.
    Unsent,
    /// The connection was lost, and it is unknown whether the call was executed.
    Unknown,
    /// The call timed out.
    TimedOut,
    /// The tool was reported not to exist.
    Missing,
    /// Another error that a killed server does not explain.
    Unexpected,
    /// The call got the answer of another call.
    Wrong,
    /// The call never ended, or panicked.
    Never,
}

impl CallEnding {
    pub(crate) const ALL: [Self; 11] = [
        Self::Answered,
        Self::ToolFailed,
        Self::Unreachable,
        Self::Waiting,
        Self::Unsent,
        Self::Unknown,
        Self::TimedOut,
        Self::Missing,
        Self::Unexpected,
        Self::Wrong,
        Self::Never,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::ToolFailed => "tool failed, as asked",
            Self::Unreachable => "server cannot be reached",
            Self::Waiting => "server is tried again later",
            Self::Unsent => "connection lost, nothing executed",
            Self::Unknown => "connection lost, outcome unknown",
            Self::TimedOut => "timed out",
            Self::Missing => "no such tool",
            Self::Unexpected => "another error",
            Self::Wrong => "wrong answer",
            Self::Never => "never ended",
        }
    }

    /// Whether the server executed the call as requested.
    pub(crate) fn is_success(self) -> bool {
        matches!(self, Self::Answered | Self::ToolFailed)
    }

    /// Whether the outcome misinforms the caller.
    pub(crate) fn is_untrue(self) -> bool {
        match self {
            Self::Missing | Self::Unexpected => true,
            Self::Answered
            | Self::ToolFailed
            | Self::Unreachable
            | Self::Waiting
            | Self::Unsent
            | Self::Unknown
            | Self::TimedOut
            | Self::Wrong
            | Self::Never => false,
        }
    }
}

impl From<&CallError> for CallEnding {
    fn from(error: &CallError) -> Self {
        match error {
            CallError::Unavailable { why: Unavailable::Failed(_), .. } => Self::Unreachable,
            CallError::Unavailable { why: Unavailable::Waiting { .. }, .. } => Self::Waiting,
            CallError::UnknownTool { .. } => Self::Missing,
            CallError::Unavailable { why: Unavailable::TimedOut { .. }, .. }
            | CallError::Failed { failure: Failure::TimedOut { .. }, .. } => Self::TimedOut,
            CallError::Failed {
                failure: Failure::Closed { .. } | Failure::Refused { .. } | Failure::SessionExpired,
                executed,
                ..
            } => match executed {
                ExecutionStatus::No => Self::Unsent,
                ExecutionStatus::Unknown => Self::Unknown,
                _ => Self::Unexpected,
            },
            // New errors of the library are not explained by a killed server.
            _ => Self::Unexpected,
        }
    }
}
