//! A call in progress, with its questions and its progress.

use mcparley::call::ProgressStream;
use mcparley::{BoxedFuture, CallError, CallOutcome};
use tokio::sync::mpsc;

use crate::client_asker::ClientQuestion;

/// A call in progress.
pub(crate) struct RunningCall {
    pub(crate) call: BoxedFuture<'static, Result<CallOutcome, CallError>>,
    /// Questions that the client must come back with an answer to.
    pub(crate) questions: mpsc::Receiver<ClientQuestion>,
    pub(crate) progress: Option<ProgressStream>,
}

impl std::fmt::Debug for RunningCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunningCall").finish_non_exhaustive()
    }
}
