//! Errors of the command `daemon`.

use std::convert::Infallible;

use mcparley::call::DetachError;
use mcparley::model::explain::Explain;
use mcparley_daemon::DaemonError;
use mcparley_daemon::task_view::TaskViewError;
use mcparley_gateway::control::ControlError;
use mcparley_platform::file::{FileReadError, FileUpdateError, FileWriteError};

use crate::exit::{self, NamedExitCode};

/// The reason why the daemon did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DaemonCommandError {
    /// The choice cannot be recorded.
    #[error(transparent)]
    Choice(FileWriteError),
    /// The choice cannot be removed.
    #[error(transparent)]
    NoChoice(FileUpdateError<Infallible>),
    /// The log cannot be read.
    #[error(transparent)]
    Log(FileReadError),
    /// The daemon does not answer.
    #[error("the daemon does not answer: {0}")]
    Control(#[from] ControlError),
    /// The path of this program is not known.
    #[error("the path of this program is not known, so it cannot be started as a daemon")]
    NoProgram,
    /// The daemon cannot be started.
    #[error("the daemon cannot be started: {0}")]
    Start(String),
    /// The daemon was started and does not listen.
    #[error("the daemon was started, but does not listen")]
    Silent,
    /// The daemon does not end.
    #[error("the daemon does not end")]
    StillRunning,
    /// The daemon cannot run.
    #[error(transparent)]
    Run(DaemonError),
    /// A call cannot be detached.
    #[error(transparent)]
    Detach(DetachError),
    /// A detached call cannot be started, found or canceled.
    #[error(transparent)]
    Task(#[from] TaskViewError),
}

impl DaemonCommandError {
    pub(super) fn exit_code(&self) -> NamedExitCode {
        match self {
            Self::Choice(_) | Self::NoChoice(_) | Self::Log(_) | Self::Control(ControlError::Folder(_)) => {
                exit::FILE
            }
            Self::Run(DaemonError::Running) => exit::CONFLICT,
            Self::Detach(_) => exit::USAGE,
            Self::Task(error) if error.is_not_found() => exit::NOT_FOUND,
            Self::Task(error) if error.is_conflict() => exit::CONFLICT,
            Self::Control(_)
            | Self::NoProgram
            | Self::Start(_)
            | Self::Silent
            | Self::StillRunning
            | Self::Task(_)
            | Self::Run(_) => exit::UNREACHABLE,
        }
    }
}

impl Explain for DaemonCommandError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Choice(error) => error.hint(),
            Self::NoChoice(error) => error.hint(),
            Self::Log(error) => error.hint(),
            Self::Silent | Self::StillRunning | Self::Control(_) => Some(
                "run `mcparley daemon logs`, or `mcparley daemon run` to see it in the foreground".to_owned(),
            ),
            Self::Run(DaemonError::Running) => Some("run `mcparley daemon status`".to_owned()),
            Self::Detach(error) => error.hint(),
            Self::Task(error) => error.hint(),
            Self::NoProgram | Self::Start(_) | Self::Run(_) => None,
        }
    }
}
