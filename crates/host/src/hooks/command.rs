//! Decides how long a command may run and how much it may say.

use mcparley_model::text::rounded;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::{HOOK_OUTPUT_BYTES, HOOK_SAID_BYTES};
use mcparley_platform::process::{Exit, Launch, SpawnError};
use mcparley_wire::command::{self, Unfinished};

/// How a command ended, and what it said until then.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) exit: Exit,
    pub(crate) printed: Vec<u8>,
    /// The end of its standard error.
    pub(crate) said: Vec<u8>,
}

/// Why a command was not run to its end.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error("it could not be started: {0}")]
    NotStarted(Arc<SpawnError>),
    #[error("it could not be listened to: {0}")]
    Unheard(Arc<std::io::Error>),
    #[error("it did not end within {:?}", rounded(*after))]
    Late { after: Duration },
    #[error("it printed more than {HOOK_OUTPUT_BYTES} bytes")]
    TooMuch,
}

/// Runs it with `input` on its standard input.
pub(crate) async fn run(launch: &Launch, input: &[u8], limit: Duration) -> Result<Ran, RunError> {
    let (mut printed, mut said) = (Vec::new(), Vec::new());
    let print = |bytes: &[u8]| {
        printed.extend_from_slice(bytes);
        if printed.len() > HOOK_OUTPUT_BYTES { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let say = |bytes: &[u8]| {
        said.extend_from_slice(bytes);
        said.drain(..said.len().saturating_sub(HOOK_SAID_BYTES));
    };
    let running = tokio::time::timeout(limit, command::run(launch, input, print, say));
    let exit = running.await.map_err(|_| RunError::Late { after: limit })??;
    Ok(Ran { exit, printed, said })
}

impl From<Unfinished> for RunError {
    fn from(unfinished: Unfinished) -> Self {
        match unfinished {
            Unfinished::NotStarted(error) => Self::NotStarted(Arc::new(error)),
            Unfinished::Unheard(error) => Self::Unheard(Arc::new(error)),
            Unfinished::TooMuch => Self::TooMuch,
        }
    }
}
