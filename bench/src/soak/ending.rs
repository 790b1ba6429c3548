//! How a call can end, and which ends are none that a caller may see.

use mcparley::{CallError, Executed, Unavailable};
use mcparley_wire::Failure;

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With its own answer.
    Answered,
    /// The tool failed, as it was asked to.
    ToolFailed,
    /// The server cannot be reached.
    Unreachable,
    /// The server was lost and is tried again later.
    Waiting,
    /// The connection was lost, and nothing had been executed.
    Unsent,
    /// The connection was lost, and nobody knows what was executed.
    Unknown,
    /// Its limit passed.
    TimedOut,
    /// The tool is said not to exist.
    Missing,
    /// Another error: none that a killed server explains.
    Unexpected,
    /// With an answer that is not its own.
    Wrong,
    /// Not at all, or by a panic.
    Never,
}

impl Ending {
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

    /// Whether the server did what was asked.
    pub(crate) fn is_success(self) -> bool {
        matches!(self, Self::Answered | Self::ToolFailed)
    }

    /// Whether it tells the caller something that is not so.
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

impl From<&CallError> for Ending {
    fn from(error: &CallError) -> Self {
        match error {
            CallError::Unavailable { why: Unavailable::Failed(_), .. } => Self::Unreachable,
            CallError::Unavailable { why: Unavailable::Waiting { .. }, .. } => Self::Waiting,
            CallError::UnknownTool { .. } => Self::Missing,
            CallError::Unavailable { why: Unavailable::Late { .. }, .. }
            | CallError::Failed { failure: Failure::TimedOut { .. }, .. } => Self::TimedOut,
            CallError::Failed {
                failure: Failure::Closed { .. } | Failure::Refused { .. } | Failure::SessionExpired,
                executed,
                ..
            } => match executed {
                Executed::No => Self::Unsent,
                Executed::Unknown => Self::Unknown,
                Executed::Yes => Self::Unexpected,
            },
            // The library may get more errors; none of them is one that a killed server explains.
            _ => Self::Unexpected,
        }
    }
}
