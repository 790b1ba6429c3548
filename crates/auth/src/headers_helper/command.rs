//! Decides how long a command may run, what it may print, and what is told of it when it fails.

mod heard;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::HEADERS_HELPER_BYTES;
use mcparley_model::secret::Secret;
use mcparley_platform::process::Launch;
use mcparley_wire::command::{self, Unfinished};

use super::HelperError;
use heard::Heard;

/// What the command printed, if it ended well and in time.
pub(super) async fn run(
    launch: &Launch,
    limit: Duration,
    text: &Secret<String>,
) -> Result<Secret<Vec<u8>>, HelperError> {
    let heard = Heard::default();
    let print = |bytes: &[u8]| heard.print(bytes).map_or(ControlFlow::Break(()), ControlFlow::Continue);
    // It asks nobody anything: its input has ended.
    let running = command::run(launch, &[], print, |bytes| heard.say(bytes));
    match tokio::time::timeout(limit, running).await {
        Ok(Ok(exit)) if exit.is_success() => Ok(heard.printed()),
        Ok(Ok(exit)) => Err(HelperError::Failed { exit, said: heard.said(text) }),
        Ok(Err(unfinished)) => Err(unfinished.into()),
        Err(_) => Err(HelperError::Late { after: limit, said: heard.said(text) }),
    }
}

impl From<Unfinished> for HelperError {
    fn from(unfinished: Unfinished) -> Self {
        match unfinished {
            Unfinished::NotStarted(error) => Self::NotStarted(Arc::new(error)),
            Unfinished::Unheard(error) => Self::Unheard(Arc::new(error)),
            Unfinished::TooMuch => Self::TooMuch { limit: HEADERS_HELPER_BYTES },
        }
    }
}
