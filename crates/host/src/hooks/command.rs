//! Runs a hook command with a time limit and an output limit.

use mcparley_model::text::round_duration;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::{HOOK_OUTPUT_BYTES, HOOK_SAID_BYTES};
use mcparley_platform::process::{ProcessExit, ProgramLaunch, SpawnError};
use mcparley_wire::command::{self, GuardedCommandError};

/// The exit of a command, with its output.
#[derive(Debug)]
pub(crate) struct FinishedCommand {
    pub(crate) exit: ProcessExit,
    pub(crate) stdout: Vec<u8>,
    /// The end of its standard error.
    pub(crate) stderr: Vec<u8>,
}

/// The reason why a command did not run to its end.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum CommandRunError {
    #[error("it could not be started: {0}")]
    NotStarted(Arc<SpawnError>),
    #[error("its output could not be read: {0}")]
    Unreadable(Arc<std::io::Error>),
    #[error("it did not end within {:?}", round_duration(*after))]
    TimedOut { after: Duration },
    #[error("it printed more than {HOOK_OUTPUT_BYTES} bytes")]
    TooMuchOutput,
}

/// Runs a command with `input` on its standard input.
pub(crate) async fn run_with_limits(
    launch: &ProgramLaunch,
    input: &[u8],
    limit: Duration,
) -> Result<FinishedCommand, CommandRunError> {
    let (mut printed, mut errors) = (Vec::new(), Vec::new());
    let print = |bytes: &[u8]| {
        printed.extend_from_slice(bytes);
        if printed.len() > HOOK_OUTPUT_BYTES { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let say = |bytes: &[u8]| {
        errors.extend_from_slice(bytes);
        errors.drain(..errors.len().saturating_sub(HOOK_SAID_BYTES));
    };
    let running = tokio::time::timeout(limit, command::run_command(launch, input, print, say));
    let exit = running.await.map_err(|_| CommandRunError::TimedOut { after: limit })??;
    Ok(FinishedCommand { exit, stdout: printed, stderr: errors })
}

impl From<GuardedCommandError> for CommandRunError {
    fn from(unfinished: GuardedCommandError) -> Self {
        match unfinished {
            GuardedCommandError::NotStarted(error) => Self::NotStarted(Arc::new(error)),
            GuardedCommandError::StreamFailed(error) => Self::Unreadable(Arc::new(error)),
            GuardedCommandError::OutputTooLarge => Self::TooMuchOutput,
        }
    }
}
