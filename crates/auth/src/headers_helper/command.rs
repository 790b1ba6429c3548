//! Runs the command with a timeout and an output limit.

mod output;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::HEADERS_HELPER_BYTES;
use mcparley_model::secret::Secret;
use mcparley_platform::process::ProgramLaunch;
use mcparley_wire::command::{self, GuardedCommandError};

use super::HelperError;
use output::CommandOutput;

/// Runs the command; returns its output if it succeeded in time.
pub(super) async fn run_command(
    launch: &ProgramLaunch,
    limit: Duration,
    text: &Secret<String>,
) -> Result<Secret<Vec<u8>>, HelperError> {
    let heard = CommandOutput::default();
    let print =
        |bytes: &[u8]| heard.append_stdout(bytes).map_or(ControlFlow::Break(()), ControlFlow::Continue);
    // It cannot prompt: its standard input is empty.
    let running = command::run_command(launch, &[], print, |bytes| heard.append_stderr(bytes));
    match tokio::time::timeout(limit, running).await {
        Ok(Ok(exit)) if exit.is_success() => Ok(heard.stdout()),
        Ok(Ok(exit)) => Err(HelperError::Failed { exit, said: heard.masked_stderr(text) }),
        Ok(Err(unfinished)) => Err(unfinished.into()),
        Err(_) => Err(HelperError::TimedOut { after: limit, said: heard.masked_stderr(text) }),
    }
}

impl From<GuardedCommandError> for HelperError {
    fn from(unfinished: GuardedCommandError) -> Self {
        match unfinished {
            GuardedCommandError::NotStarted(error) => Self::NotStarted(Arc::new(error)),
            GuardedCommandError::StreamFailed(error) => Self::OutputUnreadable(Arc::new(error)),
            GuardedCommandError::OutputTooLarge => Self::TooMuch { limit: HEADERS_HELPER_BYTES },
        }
    }
}
